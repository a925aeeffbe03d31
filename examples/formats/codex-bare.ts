import type { Session, Step } from '../session.ts';
import { MadeUp } from './made-up.ts';

/** The id of a session of the bare era: a random UUID. */
export function bareThreadId(session: Session): string {
  return new MadeUp(`${session.key}/id`).uuid();
}

/** A session as the first public builds recorded it: a header, then bare items without times, and state markers. */
export function renderCodexBare(session: Session): string {
  const madeUp = new MadeUp(session.key);
  const { project } = session;
  const records: unknown[] = [
    {
      id: bareThreadId(session),
      timestamp: session.startedAt,
      instructions: project.rules === '' ? null : project.rules,
      git: { commit_hash: project.commit, branch: project.branch, repository_url: project.repository },
    },
    { record_type: 'state' },
  ];
  const say = (role: 'user' | 'assistant', text: string): void => {
    const type = role === 'user' ? 'input_text' : 'output_text';
    records.push({ type: 'message', id: null, role, content: [{ type, text }] }, { record_type: 'state' });
  };
  if (project.rules !== '') say('user', `<user_instructions>\n\n${project.rules.trim()}\n\n</user_instructions>`);
  say(
    'user',
    `<environment_context>\n  <cwd>${project.cwd}</cwd>\n  <approval_policy>on-request</approval_policy>\n` +
      '  <sandbox_mode>workspace-write</sandbox_mode>\n  <network_access>restricted</network_access>\n' +
      '  <shell>bash</shell>\n</environment_context>',
  );
  for (const step of session.steps) {
    if (step.kind === 'user') say('user', step.text);
    else if (step.kind === 'say' || step.kind === 'answer') say('assistant', step.text);
    else if (step.kind !== 'wait' && step.kind !== 'spawn') records.push(...bareCall(step, madeUp));
  }
  return `${records.map((record) => JSON.stringify(record)).join('\n')}\n`;
}

function bareCall(step: Extract<Step, { kind: 'run' | 'edit' | 'create' }>, madeUp: MadeUp): unknown[] {
  const callId = `call_${madeUp.word(24)}`;
  const command = step.kind === 'run' ? ['bash', '-lc', step.command] : ['apply_patch', barePatch(step)];
  const output = step.kind === 'run' ? step.output : 'Success. Updated the following files.\n';
  return [
    { type: 'reasoning', id: `rs_${madeUp.hex(50)}`, summary: [], encrypted_content: madeUp.sealed() },
    {
      type: 'function_call',
      id: `fc_${madeUp.hex(50)}`,
      name: 'shell',
      arguments: JSON.stringify({ command, timeout_ms: 120_000 }),
      call_id: callId,
    },
    { record_type: 'state' },
    {
      type: 'function_call_output',
      call_id: callId,
      output: JSON.stringify({
        output,
        metadata: { exit_code: step.kind === 'run' ? step.exitCode : 0, duration_seconds: madeUp.between(1, 90) / 10 },
      }),
    },
    { record_type: 'state' },
  ];
}

function barePatch(step: Extract<Step, { kind: 'edit' | 'create' }>): string {
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
  return ['*** Begin Patch', ...body, '*** End Patch'].join('\n');
}
