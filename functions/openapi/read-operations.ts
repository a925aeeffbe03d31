import * as z from 'zod/mini';
import { noteAnswer, noteBody } from '../http/schema-notes.ts';
import { citationAnswer, citationBody, citationQuery, idempotencyKey } from '../read/schema-citations.ts';
import {
  fileAnswer,
  fileQuery,
  listAnswer,
  listQuery,
  searchAnswer,
  searchBody,
  searchQuery,
} from '../read/schema-files.ts';
import { memoryAnswer, memoryQuery } from '../read/schema-memory.ts';
import { healthAnswer, statusAnswer } from '../read/schema-status.ts';
import type { Operation } from './operation.ts';

/** api.md, "Reading". */
export const READ_OPERATIONS: readonly Operation[] = [
  {
    method: 'GET',
    path: '/healthz',
    tag: 'Settings and status',
    id: 'getHealth',
    summary: 'Whether the function answers',
    description: 'Touches no store and asks for no token.',
    open: true,
    answers: { 200: { description: 'It answers.', json: { name: 'Health', schema: healthAnswer } } },
  },
  {
    method: 'GET',
    path: '/v1/memory',
    tag: 'Reading',
    id: 'getMemory',
    summary: 'The summary that an agent starts a session with',
    description:
      'With a `cwd` or `repository` of a known project: what holds everywhere and the topics of that project. Never more than ' +
      '`max_tokens` (one token counts as 4 bytes of UTF-8); the oldest topics are left out first, and a last line says so.',
    parameters: [
      {
        in: 'header',
        name: 'If-None-Match',
        description: 'The `ETag` of an earlier answer: 304 where nothing changed.',
        required: false,
        schema: z.string(),
      },
    ],
    query: memoryQuery.schema,
    answers: {
      200: {
        description: 'The summary, and `instructions` to be sent as a developer message.',
        json: { name: 'Memory', schema: memoryAnswer },
        headers: { ETag: 'Changes with the version and the parameters, and with nothing else.' },
      },
      304: { description: 'Nothing changed since the answer that `If-None-Match` names.' },
    },
    problems: [404, 410],
  },
  {
    method: 'GET',
    path: '/v1/memory/files',
    tag: 'Reading',
    id: 'listFiles',
    summary: 'The files and folders below a folder of the memory',
    query: listQuery.schema,
    answers: { 200: { description: 'One page.', json: { name: 'FileList', schema: listAnswer } } },
    problems: [404, 410],
  },
  {
    method: 'GET',
    path: '/v1/memory/files/{path}',
    tag: 'Reading',
    id: 'readFile',
    summary: 'Lines of one file',
    description: 'With `Accept: text/markdown` the whole file as it is; a large one is answered with where it lies.',
    parameters: [
      {
        in: 'path',
        name: 'path',
        description: 'From the root of the memory, such as `skills/release/SKILL.md`.',
        required: true,
        schema: z.string().check(z.minLength(1)),
      },
    ],
    query: fileQuery.schema,
    answers: {
      200: {
        description: 'The lines asked for.',
        json: { name: 'FileText', schema: fileAnswer },
        types: ['text/markdown', 'application/octet-stream'],
        headers: { ETag: 'Of a whole file: the version, for the `If-Match` of an edit.' },
      },
      307: {
        description: 'A large file lies at `Location`, for a few minutes.',
        headers: { Location: 'Its address.' },
      },
    },
    problems: [404, 410],
  },
  {
    method: 'POST',
    path: '/v1/memory/search',
    tag: 'Reading',
    id: 'searchFiles',
    summary: 'Lines that hold what is looked for',
    query: searchQuery.schema,
    body: { kind: 'json', name: 'SearchRequest', schema: searchBody },
    answers: { 200: { description: 'One page of matches.', json: { name: 'SearchResult', schema: searchAnswer } } },
    problems: [404, 410],
  },
  {
    method: 'POST',
    path: '/v1/memory/notes',
    tag: 'Reading',
    id: 'addNote',
    summary: 'Writes a note to be remembered',
    description: 'It is shown by the next read, and worked into the memory by the next consolidation.',
    body: { kind: 'json', name: 'NoteRequest', schema: noteBody },
    answers: {
      201: {
        description: 'The note was written.',
        json: { name: 'Note', schema: noteAnswer },
        headers: { Location: 'Where the note can be read.' },
      },
    },
    problems: [409],
  },
  {
    method: 'POST',
    path: '/v1/citations',
    tag: 'Reading',
    id: 'recordCitation',
    summary: 'Records what an answer rested on',
    description:
      'Either the whole answer of the assistant as `text`, or a `citation` that was taken out of it. What is cited is kept ' +
      'longer. The same key again: the same answer, and nothing is counted twice.',
    parameters: [
      {
        in: 'header',
        name: 'Idempotency-Key',
        description: 'Names this request for 24 hours; instead of the parameter `idempotency_key`.',
        required: false,
        schema: idempotencyKey,
      },
    ],
    query: citationQuery.schema,
    body: { kind: 'json', name: 'CitationRequest', schema: citationBody },
    answers: {
      200: { description: 'What was counted.', json: { name: 'RecordedCitation', schema: citationAnswer } },
    },
    problems: [409],
  },
  {
    method: 'GET',
    path: '/v1/status',
    tag: 'Settings and status',
    id: 'getStatus',
    summary: 'What is waiting, what failed, what it cost, and how fresh the memory is',
    answers: { 200: { description: 'The state.', json: { name: 'Status', schema: statusAnswer } } },
  },
];
