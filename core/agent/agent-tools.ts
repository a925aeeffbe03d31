import * as z from 'zod';
import { listFiles } from '../memory/list-files.ts';
import { treeFiles } from '../memory/memory-files.ts';
import { readFile } from '../memory/read-file.ts';
import { searchFiles } from '../memory/search-files.ts';
import type { ToolDefinition } from '../ports/model-client.ts';
import { LIMITS } from '../settings.ts';
import type { AgentWorkspace } from './agent-workspace.ts';

/** What a tool gives back: an object for the model, and a report when the call ends the run. */
export interface ToolAnswer {
  readonly answer: object;
  readonly report?: string;
}

/** A tool, its argument types erased: `prepare` checks raw arguments and gives the call to make. */
export interface AgentTool {
  readonly definition: ToolDefinition;
  prepare(raw: unknown): PreparedCall;
}

export type PreparedCall =
  | { readonly kind: 'ready'; execute(workspace: AgentWorkspace): Promise<ToolAnswer> }
  | { readonly kind: 'invalid'; readonly message: string };

const PATH = z.string().describe('Relative to the workspace root, with / between names.');
const DEFAULT_SEARCH_RESULTS = 50;

const list = defineTool(
  'list',
  'Lists one folder of the workspace, not its sub-folders. A page holds at most 2,000 entries; pass next_cursor as cursor for the next one.',
  z.strictObject({
    path: z.string().nullable().describe('Folder to list. null: the root.'),
    cursor: z.string().nullable().describe('next_cursor of the page before. null: the first page.'),
    max_results: z.int().nullable().describe('Entries wanted. null: 2,000.'),
  }),
  async (workspace, args) => ({
    answer: await listFiles(treeFiles(workspace.files), {
      path: args.path,
      cursor: args.cursor,
      maxResults: args.max_results,
    }),
  }),
);

const read = defineTool(
  'read',
  'Reads lines of a text file. Over 20,000 tokens the middle is cut out and truncated is true: read on with line_offset and max_lines.',
  z.strictObject({
    path: PATH,
    line_offset: z.int().nullable().describe('First line wanted, from 1. null: 1.'),
    max_lines: z.int().nullable().describe('Lines wanted. null: all.'),
  }),
  async (workspace, args) => ({
    answer: await readFile(treeFiles(workspace.files), {
      path: args.path,
      lineOffset: args.line_offset,
      maxLines: args.max_lines,
    }),
  }),
);

const search = defineTool(
  'search',
  'Finds lines that hold any of the given texts (plain texts, no patterns), in all files below a path. Answers path and line numbers.',
  z.strictObject({
    queries: z.array(z.string()).describe('Texts to find, at least one.'),
    path: z.string().nullable().describe('Folder or file to search. null: the whole workspace.'),
    context_lines: z.int().nullable().describe('Lines shown before and after each match. null: 0.'),
    case_sensitive: z.boolean().nullable().describe('Whether upper and lower case differ. null: they do.'),
  }),
  async (workspace, args) => ({
    answer: await searchFiles(treeFiles(workspace.files), {
      queries: args.queries,
      path: args.path,
      contextLines: args.context_lines,
      caseSensitive: args.case_sensitive,
      maxResults: DEFAULT_SEARCH_RESULTS,
    }),
  }),
);

const write = defineTool(
  'write',
  `Creates a file, or replaces it as a whole. Only MEMORY.md (at most ${LIMITS.memoryFileBytes} bytes), memory_summary.md (${LIMITS.summaryFileBytes}) and files below skills/ (${LIMITS.skillFileBytes} each) can be written. For a change to an existing file use edit.`,
  z.strictObject({ path: PATH, content: z.string().describe('The whole new content.') }),
  async (workspace, args) => ({ answer: workspace.write(args.path, args.content) }),
);

const edit = defineTool(
  'edit',
  'Replaces one text in a file that can be written. old_text must occur exactly once, copied exactly, line ends included.',
  z.strictObject({
    path: PATH,
    old_text: z.string().describe('The text to replace, with enough of its surroundings to be unique.'),
    new_text: z.string().describe('What stands there instead. Empty: the text is removed.'),
  }),
  async (workspace, args) => ({ answer: workspace.edit(args.path, args.old_text, args.new_text) }),
);

const remove = defineTool(
  'delete',
  'Removes a file that can be written.',
  z.strictObject({ path: PATH }),
  async (workspace, args) => ({ answer: workspace.delete(args.path) }),
);

const finish = defineTool(
  'finish',
  'Ends the run. Call it once, by itself, when every listed change is worked in. The files are then checked.',
  z.strictObject({ report: z.string().describe('What was taken in, changed and forgotten, in a few sentences.') }),
  async (_workspace, args) => ({ answer: { finished: true }, report: args.report }),
);

/** The tools of the consolidation agent by name (DV-23): no shell, no network. */
export const AGENT_TOOLS: ReadonlyMap<string, AgentTool> = new Map(
  [list, read, search, write, edit, remove, finish].map((tool) => [tool.definition.name, tool]),
);

/** The same tools as a model request wants them. */
export const AGENT_TOOL_DEFINITIONS: readonly ToolDefinition[] = [...AGENT_TOOLS.values()].map(
  (tool) => tool.definition,
);

function defineTool<T>(
  name: string,
  description: string,
  shape: z.ZodType<T>,
  execute: (workspace: AgentWorkspace, args: T) => Promise<ToolAnswer>,
): AgentTool {
  const { $schema, ...parameters } = z.toJSONSchema(shape);
  return {
    definition: { name, description, parameters },
    prepare: (raw) => {
      const parsed = shape.safeParse(raw);
      if (!parsed.success) return { kind: 'invalid', message: z.prettifyError(parsed.error) };
      return { kind: 'ready', execute: (workspace) => execute(workspace, parsed.data) };
    },
  };
}
