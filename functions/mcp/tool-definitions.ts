import type { JSONObject, Tool } from '@modelcontextprotocol/server';

/**
 * The tools as clients and their models see them. The schemas are written by hand, in the plain part of JSON Schema that every
 * client understands, with the words a model needs; what is accepted is decided where arguments are parsed, which takes exactly
 * these properties.
 */

function text(description: string): JSONObject {
  return { type: 'string', description };
}

function whole(description: string): JSONObject {
  return { type: 'integer', description };
}

function flag(description: string): JSONObject {
  return { type: 'boolean', description };
}

function texts(description: string): JSONObject {
  return { type: 'array', items: { type: 'string' }, description };
}

function takes(properties: Readonly<Record<string, JSONObject>>, required: readonly string[] = []) {
  return {
    type: 'object' as const,
    properties: { ...properties },
    required: [...required],
    additionalProperties: false,
  };
}

const READS = { readOnlyHint: true, openWorldHint: false };
const CURSOR = text('next_cursor of the page before. Absent: the first page.');

const VERSION = whole('A former version, such as the one that an earlier answer told of. Absent: the present one.');

const MATCH_MODE = {
  type: 'object',
  description:
    'How the queries must meet: {"type":"any"} (default), {"type":"all_on_same_line"}, or {"type":"all_within_lines","line_count":N}.',
  properties: {
    type: { type: 'string', enum: ['any', 'all_on_same_line', 'all_within_lines'] },
    line_count: whole('With all_within_lines: the number of lines, 1 or more.'),
  },
  required: ['type'],
};

export const TOOL_DEFINITIONS = {
  memory_summary: {
    name: 'memory_summary',
    title: 'Memory summary',
    description:
      'The summary of what is remembered, with how to use it. Call it once at the start of a task, with the working directory.',
    inputSchema: takes({
      cwd: text('Working directory: shows its project only, besides what holds everywhere.'),
      repository: text('Git remote, in place of the directory.'),
      scope: { ...text('auto (default): what cwd or repository name.'), enum: ['auto', 'global', 'all'] },
      version: VERSION,
      max_tokens: whole('1 to 2,500, which is the default.'),
    }),
    annotations: READS,
  },
  memory_list: {
    name: 'memory_list',
    title: 'List memory files',
    description: 'Lists one folder of the memory, not its sub-folders.',
    inputSchema: takes({
      path: text('Folder, relative to the root of the memory. Absent: the root.'),
      cursor: CURSOR,
      max_results: whole('1 to 2,000, which is the default.'),
      version: VERSION,
    }),
    annotations: READS,
  },
  memory_read: {
    name: 'memory_read',
    title: 'Read a memory file',
    description:
      'Reads lines of a file of the memory, such as MEMORY.md. Over 20,000 tokens the middle is cut out and truncated is true: read on with line_offset and max_lines.',
    inputSchema: takes(
      {
        path: text('File, relative to the root of the memory.'),
        line_offset: whole('First line wanted, from 1, which is the default.'),
        max_lines: whole('Lines wanted. Absent: all.'),
        version: VERSION,
      },
      ['path'],
    ),
    annotations: READS,
  },
  memory_search: {
    name: 'memory_search',
    title: 'Search the memory',
    description:
      'Finds lines of the memory that hold the given words, literally, sorted by path and line; with rank the best answer first.',
    inputSchema: takes(
      {
        queries: texts('Words or phrases, at least one, none blank.'),
        match_mode: MATCH_MODE,
        path: text('File or folder to search in. Absent: all.'),
        cursor: CURSOR,
        context_lines: whole('Lines shown around a match. Default 0.'),
        case_sensitive: flag('Default true.'),
        normalized: flag('True: only letters and digits count. Default false.'),
        max_results: whole('1 to 200, which is the default.'),
        rank: flag(
          'True: the most relevant first, and where no line matches literally, sections that share words. Default false.',
        ),
        cwd: text('Working directory: finds in its project only, besides what holds everywhere.'),
        repository: text('Git remote, in place of the directory.'),
        version: VERSION,
      },
      ['queries'],
    ),
    annotations: READS,
  },
  memory_add_note: {
    name: 'memory_add_note',
    title: 'Remember, change or forget something',
    description:
      'Writes a short note that says what to remember, change or forget. It counts from the next read on and is worked into the files later. Use it when the person asks for it.',
    inputSchema: takes(
      {
        note: text('The note, Markdown.'),
        filename: text('<YYYY-MM-DDTHH-MM-SS>-<short-name>.md. Absent: a name is made.'),
      },
      ['note'],
    ),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
  memory_cite: {
    name: 'memory_cite',
    title: 'Tell what was used',
    description:
      'Tells which remembered sessions an answer used, so that they are kept. Give either the text of the whole answer with its citation block, or the thread ids.',
    inputSchema: takes({
      text: text('The whole answer, with its <oai-mem-citation> block.'),
      rollout_ids: texts('Thread ids of the sessions that were used, in place of the text.'),
      idempotency_key: text('The same key again counts nothing twice.'),
    }),
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  },
} satisfies Record<string, Tool>;
