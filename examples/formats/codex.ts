import type { AgentFormat, Session, Step } from '../session.ts';
import { type CodexPen, callRecords } from './codex-calls.ts';
import { sessionMeta, turnContext, worldState } from './codex-context.ts';
import { localTime, MadeUp, RecordClock } from './made-up.ts';

/** The id of a Codex session: a time-ordered UUID of its start. */
export function codexThreadId(session: Session): string {
  return new MadeUp(`${session.key}/id`).timeUuid(Date.parse(session.startedAt));
}

/** Path below the agent's sessions folder: the time in the name is local, the folder is the day of the start. */
export function codexPath(session: Session, threadId: string): string {
  const local = localTime(Date.parse(session.startedAt), session.project.timezone);
  return `${local.slice(0, 10).replaceAll('-', '/')}/rollout-${local.replaceAll(':', '-')}-${threadId}.jsonl`;
}

/** A session as Codex 0.104 to 0.146 records it: one envelope a line. */
export function renderCodex(session: Session, format: Extract<AgentFormat, { agent: 'codex' }>): string {
  const madeUp = new MadeUp(session.key);
  const clock = new RecordClock(session.startedAt, madeUp);
  const lines: string[] = [];
  const pen: CodexPen = {
    session,
    format,
    minor: Number(format.version.split('.')[1]),
    madeUp,
    clock,
    turnId: '',
    tokens: { input: 0, output: 0 },
    write: (type, payload) => {
      clock.pass(1, 40);
      lines.push(JSON.stringify({ timestamp: clock.stamp(), type, payload }));
    },
  };
  clock.pass(2_000, 9_000);
  pen.write('session_meta', sessionMeta(pen, codexThreadId(session)));
  writePreamble(pen);
  for (const step of session.steps) writeStep(pen, step);
  return `${lines.join('\n')}\n`;
}

function writePreamble(pen: CodexPen): void {
  const { project } = pen.session;
  pen.write('response_item', message(pen, 'developer', [permissionsText(pen)]));
  const parts = [environmentText(pen)];
  if (project.rules !== '')
    parts.unshift(
      `# AGENTS.md instructions for ${project.cwd}\n\n<INSTRUCTIONS>\n${project.rules.trim()}\n</INSTRUCTIONS>`,
    );
  pen.write('response_item', message(pen, 'user', parts));
  if (pen.minor >= 145) pen.write('world_state', worldState(pen));
}

function writeStep(pen: CodexPen, step: Step): void {
  switch (step.kind) {
    case 'user':
      writeUserTurn(pen, step.text);
      break;
    case 'say':
      writeReasoning(pen);
      writeAgentText(pen, step.text, 'commentary');
      break;
    case 'answer':
      writeAnswer(pen, step.text);
      break;
    case 'wait':
      pen.clock.pass(step.minutes * 60_000, step.minutes * 60_000 + 30_000);
      break;
    default:
      if (pen.minor === 104) pen.write('turn_context', turnContext(pen));
      callRecords(pen, step);
  }
}

function writeUserTurn(pen: CodexPen, text: string): void {
  pen.clock.pass(1_000, 60_000);
  pen.turnId = pen.madeUp.timeUuid(pen.clock.ms);
  pen.write('event_msg', {
    type: 'task_started',
    turn_id: pen.turnId,
    ...(pen.minor >= 144 ? { started_at: Math.floor(pen.clock.ms / 1000) } : {}),
    model_context_window: 258_400,
    collaboration_mode_kind: 'default',
  });
  if (pen.minor !== 104) pen.write('turn_context', turnContext(pen));
  pen.write('response_item', message(pen, 'user', [text]));
  pen.write('event_msg', {
    type: 'user_message',
    ...(pen.minor >= 145 ? { client_id: pen.madeUp.uuid() } : {}),
    message: text,
    images: [],
    local_images: [],
    ...(pen.minor >= 145 ? { audio: [], local_audio: [] } : {}),
    text_elements: [],
  });
  if (pen.minor === 104) pen.write('turn_context', turnContext(pen));
}

function writeReasoning(pen: CodexPen): void {
  pen.clock.pass(1_500, 9_000);
  pen.write('response_item', {
    type: 'reasoning',
    ...(pen.minor >= 144 ? { id: `rs_${pen.madeUp.hex(50)}` } : {}),
    summary: [],
    ...(pen.minor <= 110 ? { content: null } : {}),
    encrypted_content: pen.madeUp.sealed(),
  });
}

function writeAgentText(pen: CodexPen, text: string, phase: 'commentary' | 'final_answer'): void {
  pen.clock.pass(800, 4_000);
  pen.write('event_msg', {
    type: 'agent_message',
    message: text,
    phase,
    ...(pen.minor >= 144 ? { memory_citation: null } : {}),
  });
  pen.write('response_item', {
    type: 'message',
    ...(pen.minor >= 144 ? { id: `msg_${pen.madeUp.hex(50)}` } : {}),
    role: 'assistant',
    content: [{ type: 'output_text', text }],
    phase,
    ...(pen.minor >= 144 ? { internal_chat_message_metadata_passthrough: { turn_id: pen.turnId } } : {}),
  });
}

function writeAnswer(pen: CodexPen, text: string): void {
  writeReasoning(pen);
  writeAgentText(pen, text, 'final_answer');
  const completedAt = Math.floor(pen.clock.ms / 1000);
  pen.write('event_msg', {
    type: 'task_complete',
    turn_id: pen.turnId,
    last_agent_message: text,
    ...(pen.minor >= 144 ? { completed_at: completedAt, duration_ms: pen.madeUp.between(20_000, 400_000) } : {}),
  });
}

function message(pen: CodexPen, role: 'user' | 'developer', texts: readonly string[]): Record<string, unknown> {
  return {
    type: 'message',
    ...(pen.minor >= 144 ? { id: `msg_${pen.madeUp.timeUuid(pen.clock.ms)}` } : {}),
    role,
    content: texts.map((text) => ({ type: 'input_text', text })),
    ...(pen.minor >= 144 && pen.turnId !== ''
      ? { internal_chat_message_metadata_passthrough: { turn_id: pen.turnId } }
      : {}),
  };
}

function permissionsText(pen: CodexPen): string {
  return [
    '<permissions instructions>',
    'The sandbox lets you write below the working directory and keeps you off the network.',
    `Working directory: ${pen.session.project.cwd}. Ask before you leave it.`,
    '</permissions instructions>',
  ].join('\n');
}

function environmentText(pen: CodexPen): string {
  const { cwd, timezone } = pen.session.project;
  const day = localTime(pen.clock.ms, timezone).slice(0, 10);
  const dated = pen.minor >= 107 ? `\n  <current_date>${day}</current_date>\n  <timezone>${timezone}</timezone>` : '';
  return `<environment_context>\n  <cwd>${cwd}</cwd>\n  <shell>bash</shell>${dated}\n</environment_context>`;
}
