import type { Session } from '../session.ts';
import type { CodexPen } from './codex-calls.ts';
import { localTime, MadeUp } from './made-up.ts';

const BASE_INSTRUCTIONS =
  'You are a coding agent that shares a workspace with the user. Read before you write, run the checks of the ' +
  'project, say what you did and what you could not verify.';

/** The first record of a file: who recorded what, where. The keys grow with the version. */
export function sessionMeta(pen: CodexPen, threadId: string): Record<string, unknown> {
  const { session, format, minor } = pen;
  const { project } = session;
  return {
    ...(minor >= 144 ? { session_id: session.parent ? rootId(session.parent.session) : threadId } : {}),
    id: threadId,
    ...(minor >= 144 && session.parent ? { parent_thread_id: rootId(session.parent.session) } : {}),
    timestamp: session.startedAt,
    cwd: project.cwd,
    originator: format.originator,
    cli_version: format.version,
    source: sourceOf(session),
    ...(minor >= 144 ? { thread_source: session.parent ? 'subagent' : 'user' } : {}),
    ...(session.parent ? { agent_path: session.parent.agentPath, agent_nickname: session.parent.nickname } : {}),
    model_provider: 'openai',
    base_instructions: { text: BASE_INSTRUCTIONS },
    ...(minor >= 144
      ? { history_mode: 'legacy', context_window: { window_id: pen.madeUp.timeUuid(pen.clock.ms) } }
      : {}),
    ...(project.repository === null
      ? {}
      : { git: { commit_hash: project.commit, branch: project.branch, repository_url: project.repository } }),
  };
}

function sourceOf(session: Session): unknown {
  if (!session.parent) return 'cli';
  return {
    subagent: {
      thread_spawn: {
        parent_thread_id: rootId(session.parent.session),
        depth: 1,
        agent_path: session.parent.agentPath,
        agent_nickname: session.parent.nickname,
        agent_role: null,
      },
    },
  };
}

/** Equal to `codexThreadId` of the parent; here to keep the two files free of a cycle. */
function rootId(parent: Session): string {
  return new MadeUp(`${parent.key}/id`).timeUuid(Date.parse(parent.startedAt));
}

/** What holds for a turn. Up to 0.104 it is written again before every request. */
export function turnContext(pen: CodexPen): Record<string, unknown> {
  const { minor, session, format } = pen;
  const { cwd, timezone } = session.project;
  return {
    turn_id: pen.turnId,
    cwd,
    ...(minor >= 144 ? { workspace_roots: [cwd] } : {}),
    ...(minor >= 107
      ? { current_date: localTime(pen.clock.ms, timezone).slice(0, 10), timezone: session.project.timezone }
      : {}),
    approval_policy: 'on-request',
    sandbox_policy: {
      type: 'workspace-write',
      network_access: false,
      exclude_tmpdir_env_var: false,
      exclude_slash_tmp: false,
    },
    model: format.model,
    personality: 'pragmatic',
    collaboration_mode: {
      mode: 'default',
      settings: { model: format.model, reasoning_effort: 'medium', developer_instructions: null },
    },
    ...(minor >= 110 ? { realtime_active: false } : {}),
    effort: 'medium',
    summary: 'none',
    truncation_policy: { mode: 'tokens', limit: 10_000 },
  };
}

/** State sections that 0.145 and later write beside the conversation. */
export function worldState(pen: CodexPen): Record<string, unknown> {
  const { cwd, timezone } = pen.session.project;
  return {
    full: true,
    state: {
      agents_md: {},
      collaboration_mode: 'default',
      environments: {
        environments: { local: { cwd, status: 'available', shell: 'bash' } },
        current_date: localTime(pen.clock.ms, timezone).slice(0, 10),
        timezone,
      },
      model: pen.format.model,
      realtime: null,
    },
  };
}
