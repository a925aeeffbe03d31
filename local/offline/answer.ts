import { ONCE_OUTPUT } from '../../core/agent/once-editor.ts';
import { nextCalls } from './consolidation-agent.ts';
import { answerOnce } from './once-answer.ts';
import { answerStageOne } from './stage-one.ts';
import type { Answer, OfflineRequest } from './wire.ts';

/**
 * What the rules answer to a request: a Phase 1 answer where a JSON schema is wanted, or the edits of Phase 2 where that is its
 * name; the next tool calls of Phase 2 where tools are offered. @returns undefined for any other request
 */
export async function answerRequest(request: OfflineRequest): Promise<Answer | undefined> {
  if (request.schemaName === ONCE_OUTPUT)
    return { kind: 'text', text: JSON.stringify(await answerOnce(request.turns)) };
  if (request.schemaName !== null) {
    const message = request.turns
      .map((turn) => (turn.kind === 'message' && turn.role === 'user' ? turn.text : ''))
      .join('');
    return { kind: 'text', text: JSON.stringify(answerStageOne(message)) };
  }
  if (request.toolNames.includes('finish')) return { kind: 'calls', calls: nextCalls(request.turns) };
  return undefined;
}
