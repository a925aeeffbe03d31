import type { AgentFormat, Session, Step } from '../session.ts';
import type { MadeUp, RecordClock } from './made-up.ts';

/** What writes one Codex file: the session, its version, and where the records go. */
export interface CodexPen {
  readonly session: Session;
  readonly format: Extract<AgentFormat, { agent: 'codex' }>;
  /** 104 for cli 0.104.0. */
  readonly minor: number;
  readonly madeUp: MadeUp;
  readonly clock: RecordClock;
  turnId: string;
  readonly tokens: { input: number; output: number };
  readonly write: (type: string, payload: Record<string, unknown>) => void;
}

type Call = Extract<Step, { kind: 'run' | 'edit' | 'create' | 'spawn' }>;

/** A tool call, the token count of its request, and its output. */
export function callRecords(pen: CodexPen, step: Call): void {
  const callId = `call_${pen.madeUp.word(24)}`;
  pen.clock.pass(700, 5_000);
  switch (step.kind) {
    case 'run':
      if (pen.minor >= 146) writeScript(pen, step, callId);
      else writeCommand(pen, step, callId);
      break;
    case 'spawn':
      writeSpawn(pen, step, callId);
      break;
    default:
      writePatch(pen, step, callId);
  }
}

function writeCommand(pen: CodexPen, step: Extract<Step, { kind: 'run' }>, callId: string): void {
  pen.write('response_item', {
    type: 'function_call',
    ...itemId(pen, 'fc'),
    name: 'exec_command',
    arguments: JSON.stringify({ cmd: step.command, workdir: pen.session.project.cwd, yield_time_ms: 10_000 }),
    call_id: callId,
    ...passthrough(pen),
  });
  writeTokenCount(pen);
  pen.clock.pass(200, 20_000);
  const tokens = Math.ceil(step.output.length / 4);
  const head =
    `Chunk ID: ${pen.madeUp.hex(6)}\nWall time: ${(pen.madeUp.between(500, 90_000) / 10_000).toFixed(4)} seconds\n` +
    `Process exited with code ${step.exitCode}\nOriginal token count: ${tokens}\nOutput:\n`;
  pen.write('response_item', {
    type: 'function_call_output',
    ...outputId(pen, 'fco'),
    call_id: callId,
    output: `${head}${step.output}`,
    ...passthrough(pen),
  });
}

/** From 0.146 on commands run in code mode: the call is a small program, the output a list of parts. */
function writeScript(pen: CodexPen, step: Extract<Step, { kind: 'run' }>, callId: string): void {
  const args = JSON.stringify({ cmd: step.command, workdir: pen.session.project.cwd });
  pen.write('response_item', {
    type: 'custom_tool_call',
    ...itemId(pen, 'ctc'),
    status: 'completed',
    call_id: callId,
    name: 'exec',
    input: `const r = await tools.exec_command(${args});\ntext(r.output);\ntext(\`exit_code: \${r.exit_code}\`);\n`,
    ...passthrough(pen),
  });
  writeTokenCount(pen);
  pen.clock.pass(200, 20_000);
  const wall = (pen.madeUp.between(1, 90) / 10).toFixed(1);
  pen.write('response_item', {
    type: 'custom_tool_call_output',
    ...outputId(pen, 'ctco'),
    call_id: callId,
    output: [`Script completed\nWall time ${wall} seconds\nOutput:\n`, step.output, `exit_code: ${step.exitCode}`].map(
      (text) => ({ type: 'input_text', text }),
    ),
    ...passthrough(pen),
  });
}

function writePatch(pen: CodexPen, step: Extract<Step, { kind: 'edit' | 'create' }>, callId: string): void {
  const letter = step.kind === 'edit' ? 'M' : 'A';
  pen.write('response_item', {
    type: 'custom_tool_call',
    ...itemId(pen, 'ctc'),
    status: 'completed',
    call_id: callId,
    name: 'apply_patch',
    input: patchText(step),
    ...passthrough(pen),
  });
  writeTokenCount(pen);
  pen.clock.pass(50, 400);
  if (pen.minor >= 144) writePatchEnd(pen, step, callId);
  const done = `Success. Updated the following files:\n${letter} ${step.path}\n`;
  pen.write('response_item', {
    type: 'custom_tool_call_output',
    ...outputId(pen, 'ctco'),
    call_id: callId,
    output:
      pen.minor >= 144
        ? `Exit code: 0\nWall time: 0.1 seconds\nOutput:\n${done}`
        : JSON.stringify({ output: done, metadata: { exit_code: 0, duration_seconds: 0.1 } }),
    ...passthrough(pen),
  });
}

function writePatchEnd(pen: CodexPen, step: Extract<Step, { kind: 'edit' | 'create' }>, callId: string): void {
  const change =
    step.kind === 'edit'
      ? { type: 'update', unified_diff: `@@ -1 +1 @@\n${step.hunk.join('\n')}\n`, move_path: null }
      : { type: 'add', content: step.content };
  pen.write('event_msg', {
    type: 'patch_apply_end',
    call_id: callId,
    turn_id: pen.turnId,
    stdout: 'Success.',
    stderr: '',
    success: true,
    changes: { [`${pen.session.project.cwd}/${step.path}`]: change },
    status: 'completed',
  });
}

function writeSpawn(pen: CodexPen, step: Extract<Step, { kind: 'spawn' }>, callId: string): void {
  pen.write('response_item', {
    type: 'function_call',
    ...itemId(pen, 'fc'),
    name: 'spawn_agent',
    namespace: 'collaboration',
    arguments: JSON.stringify({ task_name: step.task, fork_turns: 'none', message: pen.madeUp.sealed() }),
    call_id: callId,
    ...passthrough(pen),
  });
  writeTokenCount(pen);
  pen.clock.pass(30_000, 90_000);
  pen.write('response_item', {
    type: 'function_call_output',
    ...outputId(pen, 'fco'),
    call_id: callId,
    output: JSON.stringify({ task_name: step.task, status: 'completed', message: step.reply }),
    ...passthrough(pen),
  });
}

function patchText(step: Extract<Step, { kind: 'edit' | 'create' }>): string {
  const body =
    step.kind === 'edit'
      ? [`*** Update File: ${step.path}`, '@@', ...step.hunk]
      : [
          `*** Add File: ${step.path}`,
          ...step.content
            .trimEnd()
            .split('\n')
            .map((line) => `+${line}`),
        ];
  return ['*** Begin Patch', ...body, '*** End Patch', ''].join('\n');
}

function writeTokenCount(pen: CodexPen): void {
  const input = pen.madeUp.between(9_000, 16_000);
  const output = pen.madeUp.between(60, 700);
  pen.tokens.input += input;
  pen.tokens.output += output;
  const usage = (inputTokens: number, outputTokens: number): Record<string, number> => ({
    input_tokens: inputTokens,
    cached_input_tokens: Math.floor(inputTokens / 2),
    output_tokens: outputTokens,
    reasoning_output_tokens: Math.floor(outputTokens / 3),
    total_tokens: inputTokens + outputTokens,
  });
  pen.write('event_msg', {
    type: 'token_count',
    info: {
      total_token_usage: usage(pen.tokens.input, pen.tokens.output),
      last_token_usage: usage(input, output),
      model_context_window: 258_400,
    },
    rate_limits: null,
  });
}

function itemId(pen: CodexPen, prefix: string): Record<string, string> {
  return pen.minor >= 144 ? { id: `${prefix}_${pen.madeUp.hex(50)}` } : {};
}

function outputId(pen: CodexPen, prefix: string): Record<string, string> {
  return pen.minor >= 145 ? { id: `${prefix}_${pen.madeUp.timeUuid(pen.clock.ms)}` } : {};
}

function passthrough(pen: CodexPen): Record<string, unknown> {
  return pen.minor >= 144 ? { internal_chat_message_metadata_passthrough: { turn_id: pen.turnId } } : {};
}
