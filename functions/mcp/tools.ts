import type { Tool } from '@modelcontextprotocol/server';
import { addNote } from '../../core/memory/add-note.ts';
import { listFiles } from '../../core/memory/list-files.ts';
import { openPinned } from '../../core/memory/pinned-version.ts';
import { RankIndexes } from '../../core/memory/rank-index.ts';
import { readFile } from '../../core/memory/read-file.ts';
import { type ReadSummaryRequest, readSummary } from '../../core/memory/read-summary.ts';
import { recordCitation } from '../../core/memory/record-citation.ts';
import { searchFiles } from '../../core/memory/search-files.ts';
import { parseListArguments, parseReadArguments, parseSearchArguments } from '../../core/memory/tool-arguments.ts';
import type { MemoryToolDeps } from './deps.ts';
import { parseCiteArguments, parseNoteArguments, parseSummaryArguments } from './tool-arguments.ts';
import { TOOL_DEFINITIONS } from './tool-definitions.ts';

/** A tool: how it is offered, and the use case behind it. The answer is text as it is, or an object that is shown as JSON. */
export interface MemoryTool {
  readonly definition: Tool;
  call(deps: MemoryToolDeps, userKey: string, given: unknown): Promise<string | object>;
}

type Call = MemoryTool['call'];

/** A server is made for each request; what a version is ranked by outlives it. Its keys name the user. */
const INDEXES = new RankIndexes();

const callSummary: Call = (deps, userKey, given) => showSummary(deps, userKey, parseSummaryArguments(given));

const callList: Call = async (deps, userKey, given) => {
  const { version, ...request } = parseListArguments(given);
  const files = await openPinned(deps, userKey, version);
  return { ...(await listFiles(files, request)), version: files.version };
};

const callRead: Call = async (deps, userKey, given) => {
  const { version, ...request } = parseReadArguments(given);
  const files = await openPinned(deps, userKey, version);
  return { ...(await readFile(files, request)), version: files.version };
};

const callSearch: Call = async (deps, userKey, given) => {
  const { version, ...request } = parseSearchArguments(given);
  const files = await openPinned(deps, userKey, version);
  return { ...(await searchFiles(files, request, INDEXES)), version: files.version };
};

const callAddNote: Call = (deps, userKey, given) => addNote(deps, userKey, parseNoteArguments(given));

const callCite: Call = (deps, userKey, given) => recordCitation(deps, userKey, parseCiteArguments(given));

/** All tools, in the order in which they are offered. */
export const MEMORY_TOOLS: readonly MemoryTool[] = [
  { definition: TOOL_DEFINITIONS.memory_summary, call: callSummary },
  { definition: TOOL_DEFINITIONS.memory_list, call: callList },
  { definition: TOOL_DEFINITIONS.memory_read, call: callRead },
  { definition: TOOL_DEFINITIONS.memory_search, call: callSearch },
  { definition: TOOL_DEFINITIONS.memory_add_note, call: callAddNote },
  { definition: TOOL_DEFINITIONS.memory_cite, call: callCite },
];

/** The read-path prompt with the summary inside, or why there is none. Head and settings are asked for together. */
export async function showSummary(deps: MemoryToolDeps, userKey: string, request: ReadSummaryRequest): Promise<string> {
  const [{ useMemories }, head] = await Promise.all([deps.settings(userKey), deps.heads.read(userKey)]);
  if (!useMemories) return 'The person has switched the use of memories off.';
  const stores = { ...deps, heads: { read: async () => head } };
  const { instructions } = await readSummary(stores, userKey, { ...request, useMemories });
  return instructions ?? 'There is no memory yet.';
}
