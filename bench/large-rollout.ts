import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/**
 * Writes one session of about `bytes` bytes in the shape of recent Codex rollouts: of each turn about half is tool output, a
 * third bookkeeping (token counts, reasoning, contexts), the rest conversation. Repeatable: the text depends on the turn only.
 * @returns bytes written
 */
export async function writeLargeRollout(path: string, bytes: number): Promise<number> {
  const file = createWriteStream(path);
  let written = 0;
  const write = async (lines: readonly string[]): Promise<void> => {
    const text = `${lines.join('\n')}\n`;
    written += Buffer.byteLength(text);
    if (!file.write(text)) await once(file, 'drain');
  };
  await write([
    record(0, 'session_meta', {
      id: '019aa000-0000-7000-8000-000000000001',
      timestamp: timeAt(0),
      cwd: '/work/large',
      originator: 'codex_cli_rs',
      cli_version: '0.110.0',
      source: 'cli',
      base_instructions: { text: prose(400, 1) },
    }),
  ]);
  for (let turn = 1; written < bytes; turn++) await write(turnRecords(turn));
  file.end();
  await once(file, 'finish');
  return written;
}

function turnRecords(turn: number): string[] {
  const call = `call_${turn}`;
  const item = (payload: object): string => record(turn, 'response_item', payload);
  const event = (payload: object): string => record(turn, 'event_msg', payload);
  const ask = `Please look at part ${turn}: ${prose(25, turn)}`;
  const answer = `Part ${turn} is done. ${prose(60, turn + 7)}`;
  return [
    item({ type: 'message', role: 'user', content: [{ type: 'input_text', text: ask }] }),
    event({ type: 'user_message', message: ask }),
    record(turn, 'turn_context', {
      cwd: '/work/large',
      approval_policy: 'never',
      model: 'm',
      summary: 'auto',
      user_instructions: prose(250, 3),
    }),
    item({ type: 'reasoning', summary: [], encrypted_content: opaque(2_500, turn) }),
    item({
      type: 'function_call',
      name: 'exec_command',
      arguments: JSON.stringify({ cmd: `cat part-${turn}.txt` }),
      call_id: call,
    }),
    event({
      type: 'token_count',
      info: { total_token_usage: { input_tokens: turn * 100, output_tokens: turn } },
      rate_limits: null,
    }),
    item({
      type: 'function_call_output',
      call_id: call,
      output: `Chunk ID: ${turn}\nProcess exited with code 0\nOutput:\n${prose(900, turn + 3)}`,
    }),
    event({ type: 'agent_message', message: answer }),
    item({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: answer }],
      phase: 'final_answer',
    }),
    event({ type: 'task_complete', turn_id: String(turn), last_agent_message: answer }),
  ];
}

function record(turn: number, type: string, payload: object): string {
  return JSON.stringify({ timestamp: timeAt(turn), type, payload });
}

function timeAt(turn: number): string {
  return new Date(Date.UTC(2026, 9, 1) + turn * 1000).toISOString();
}

const WORDS =
  'the build reads every file twice when a cache entry was written by an older version of the worker, so we check its hash first "quoted" path/to/module.ts → done'.split(
    ' ',
  );

function prose(words: number, seed: number): string {
  return Array.from({ length: words }, (_, at) => WORDS[(at * 7 + seed * 13 + (at >> 3)) % WORDS.length]).join(' ');
}

function opaque(length: number, seed: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return `gAAAA${Array.from({ length }, (_, at) => alphabet[(at * 31 + seed * 17 + ((at * at) >> 5)) % 64]).join('')}`;
}
