import type { AgentFormat, Session, Step } from '../session.ts';
import { MadeUp, RecordClock } from './made-up.ts';

type Format = Extract<AgentFormat, { agent: 'claude' }>;
type Call = Extract<Step, { kind: 'run' | 'edit' | 'create' }>;

/** The id of a Claude Code session: a random UUID, also the name of its file. */
export function claudeSessionId(session: Session): string {
  return new MadeUp(`${session.key}/id`).uuid();
}

/** Path below the agent's projects folder: the working directory with every `/` as `-`. */
export function claudePath(session: Session): string {
  return `${session.project.cwd.replaceAll('/', '-')}/${claudeSessionId(session)}.jsonl`;
}

/** A session as Claude Code 2.1 records it: a tree of user and assistant lines, with bookkeeping between. */
export function renderClaude(session: Session, format: Format): string {
  const pen = new ClaudePen(session, format);
  pen.keep({ type: 'mode', mode: 'normal' });
  pen.keep({ type: 'permission-mode', permissionMode: 'default' });
  for (const step of session.steps) writeStep(pen, step, format);
  pen.keep({ type: 'ai-title', aiTitle: format.title });
  return pen.text();
}

function writeStep(pen: ClaudePen, step: Step, format: Format): void {
  switch (step.kind) {
    case 'user':
      pen.userText(step.text);
      break;
    case 'say':
      pen.assistant({ type: 'text', text: step.text }, format.model);
      break;
    case 'answer':
      pen.assistant({ type: 'text', text: step.text }, format.model);
      pen.turnEnd();
      break;
    case 'wait':
      pen.clock.pass(step.minutes * 60_000, step.minutes * 60_000 + 30_000);
      break;
    case 'spawn':
      break;
    default:
      writeCall(pen, step, format);
  }
}

function writeCall(pen: ClaudePen, step: Call, format: Format): void {
  const id = `toolu_${pen.madeUp.word(24)}`;
  pen.assistant({ type: 'tool_use', id, ...toolUse(pen, step), caller: { type: 'direct' } }, format.model);
  pen.clock.pass(200, 15_000);
  if (step.kind !== 'run') {
    const path = `${pen.session.project.cwd}/${step.path}`;
    const verb = step.kind === 'edit' ? 'has been updated successfully' : 'has been created successfully';
    pen.toolResult(id, { content: `The file ${path} ${verb}.`, failed: false, result: { filePath: path } });
    return;
  }
  const failed = step.exitCode !== 0;
  pen.toolResult(id, {
    content: failed ? `Exit code ${step.exitCode}\n${step.output}` : step.output,
    failed,
    result: failed
      ? `Error: Exit code ${step.exitCode}\n${step.output}`
      : { stdout: step.output, stderr: '', interrupted: false, isImage: false, noOutputExpected: false },
  });
}

function toolUse(pen: ClaudePen, step: Call): { name: string; input: Record<string, unknown> } {
  if (step.kind === 'run') return { name: 'Bash', input: { command: step.command } };
  const path = `${pen.session.project.cwd}/${step.path}`;
  if (step.kind === 'create') return { name: 'Write', input: { file_path: path, content: step.content } };
  const side = (drop: string): string =>
    step.hunk
      .filter((line) => !line.startsWith(drop))
      .map((line) => line.slice(1))
      .join('\n');
  return {
    name: 'Edit',
    input: { replace_all: false, file_path: path, old_string: side('+'), new_string: side('-') },
  };
}

class ClaudePen {
  readonly session: Session;
  readonly madeUp: MadeUp;
  readonly clock: RecordClock;
  readonly #version: string;
  readonly #sessionId: string;
  readonly #lines: string[] = [];
  #parent: string | null = null;
  #promptId = '';

  constructor(session: Session, format: Format) {
    this.session = session;
    this.madeUp = new MadeUp(session.key);
    this.clock = new RecordClock(session.startedAt, this.madeUp);
    this.#version = format.version;
    this.#sessionId = claudeSessionId(session);
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  /** A bookkeeping line, outside the tree. */
  keep(record: Record<string, unknown>): void {
    this.#lines.push(JSON.stringify({ ...record, sessionId: this.#sessionId }));
  }

  userText(text: string): void {
    this.clock.pass(1_000, 60_000);
    this.#promptId = this.madeUp.uuid();
    this.#node(
      { promptId: this.#promptId, type: 'user', message: { role: 'user', content: text } },
      {
        permissionMode: 'default',
        promptSource: 'typed',
      },
    );
  }

  assistant(block: { readonly type: string; readonly [key: string]: unknown }, model: string): void {
    this.clock.pass(900, 7_000);
    const output = this.madeUp.between(40, 600);
    const message = {
      model,
      id: `msg_${this.madeUp.word(24)}`,
      type: 'message',
      role: 'assistant',
      content: [block],
      stop_reason: block.type === 'tool_use' ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: {
        input_tokens: this.madeUp.between(1, 9),
        cache_creation_input_tokens: this.madeUp.between(200, 4_000),
        cache_read_input_tokens: this.madeUp.between(12_000, 40_000),
        output_tokens: output,
        service_tier: 'standard',
      },
    };
    this.#node({ message, requestId: `req_${this.madeUp.word(24)}`, type: 'assistant' }, {});
  }

  toolResult(id: string, of: { content: string; failed: boolean; result: unknown }): void {
    const block = { type: 'tool_result', content: of.content, is_error: of.failed, tool_use_id: id };
    this.#node(
      { promptId: this.#promptId, type: 'user', message: { role: 'user', content: [block] } },
      { toolUseResult: of.result, sourceToolAssistantUUID: this.#parent },
    );
  }

  turnEnd(): void {
    this.#node(
      { type: 'system', subtype: 'turn_duration', durationMs: this.madeUp.between(20_000, 300_000) },
      {
        isMeta: false,
      },
    );
  }

  #node(head: Record<string, unknown>, tail: Record<string, unknown>): void {
    this.clock.pass(5, 200);
    const uuid = this.madeUp.uuid();
    const { project } = this.session;
    this.#lines.push(
      JSON.stringify({
        parentUuid: this.#parent,
        isSidechain: false,
        ...head,
        uuid,
        timestamp: this.clock.stamp(),
        ...tail,
        userType: 'external',
        entrypoint: 'cli',
        cwd: project.cwd,
        sessionId: this.#sessionId,
        version: this.#version,
        gitBranch: project.branch,
      }),
    );
    this.#parent = uuid;
  }
}
