import * as z from 'zod/mini';
import { eraseAnswer, eraseBody, resetAnswer } from '../control/schema-end.ts';
import { settingsAnswer, settingsBody } from '../control/schema-settings.ts';
import {
  extractAnswer,
  forgetQuery,
  forgottenAnswer,
  modeBody,
  redriveAnswer,
  threadAnswer,
  threadsAnswer,
  threadsQuery,
} from '../control/schema-threads.ts';
import { offerAnswer, receivedAnswer, unchangedAnswer, uploadBody, uploadQuery } from '../control/schema-uploads.ts';
import {
  consolidationAnswer,
  diffQuery,
  editAnswer,
  manifestAnswer,
  replayAnswer,
  restoredAnswer,
  startedAnswer,
  versionsAnswer,
  versionsQuery,
} from '../control/schema-versions.ts';
import type { Operation, Parameter } from './operation.ts';

const thread = (name: string): Parameter => ({
  in: 'path',
  name,
  description: 'The id that the agent gave its session.',
  required: true,
  schema: z.string().check(z.regex(/^[A-Za-z0-9._-]{1,128}$/)),
});

const versionNumber: Parameter = {
  in: 'path',
  name: 'n',
  description: 'Number of a version.',
  required: true,
  schema: z.int().check(z.minimum(1)),
};

const filePath: Parameter = {
  in: 'path',
  name: 'path',
  description: '`MEMORY.md`, `memory_summary.md`, or a file below `skills/` or `extensions/`.',
  required: true,
  schema: z.string().check(z.minLength(1), z.maxLength(512)),
};

const ifMatch: Parameter = {
  in: 'header',
  name: 'If-Match',
  description:
    'The version that was read, in quotes: `"7"`. Left out: 428. Another one is the present one by now: 412.',
  required: true,
  schema: z.string().check(z.regex(/^"(0|[1-9][0-9]{0,9})"$/)),
};

/** api.md, "Controlling". */
export const CONTROL_OPERATIONS: readonly Operation[] = [
  {
    method: 'POST',
    path: '/v1/rollouts',
    tag: 'Rollouts and threads',
    id: 'offerRollout',
    summary: 'Where to upload a rollout of any size',
    description:
      'With the `sha256` of what was uploaded before, nothing is to be uploaded. A local server has no such place.',
    body: { kind: 'json', name: 'RolloutOffer', schema: uploadBody },
    answers: {
      200: { description: 'It is there already.', json: { name: 'UnchangedRollout', schema: unchangedAnswer } },
      201: {
        description: 'PUT the bytes to `upload.url` with exactly these headers.',
        json: { name: 'UploadTarget', schema: offerAnswer },
      },
    },
    problems: [404, 409, 413],
  },
  {
    method: 'PUT',
    path: '/v1/rollouts/{thread_id}',
    tag: 'Rollouts and threads',
    id: 'putRollout',
    summary: 'A rollout in the request itself, up to 5 MB',
    parameters: [thread('thread_id')],
    query: uploadQuery.schema,
    body: {
      kind: 'bytes',
      description: 'The transcript as the agent wrote it; plain, gzip or zstd, told by its first bytes.',
      types: ['application/octet-stream', 'application/x-ndjson', 'application/json'],
    },
    answers: { 202: { description: 'It was taken in.', json: { name: 'ReceivedRollout', schema: receivedAnswer } } },
    problems: [409, 413],
  },
  {
    method: 'GET',
    path: '/v1/threads',
    tag: 'Rollouts and threads',
    id: 'listThreads',
    summary: 'What was taken in, and what became of it',
    query: threadsQuery.schema,
    answers: { 200: { description: 'One page.', json: { name: 'ThreadList', schema: threadsAnswer } } },
  },
  {
    method: 'GET',
    path: '/v1/threads/{id}',
    tag: 'Rollouts and threads',
    id: 'getThread',
    summary: 'One thread: its outcome and the reason, what was learned from it, where it is used',
    parameters: [thread('id')],
    answers: { 200: { description: 'The thread.', json: { name: 'Thread', schema: threadAnswer } } },
    problems: [404],
  },
  {
    method: 'PATCH',
    path: '/v1/threads/{id}',
    tag: 'Rollouts and threads',
    id: 'changeThread',
    summary: 'Whether anything may be learned from a thread',
    parameters: [thread('id')],
    body: { kind: 'json', name: 'ThreadChange', schema: modeBody },
    answers: { 200: { description: 'The thread as it is now.', json: { name: 'Thread', schema: threadAnswer } } },
    problems: [404, 409],
  },
  {
    method: 'DELETE',
    path: '/v1/threads/{id}',
    tag: 'Rollouts and threads',
    id: 'forgetThread',
    summary: 'Forgets a thread and what was learned from it, for good',
    description:
      'It is gone from every read at once, and a later upload of the same thread does not bring it back. Versions that rested on it are withheld; with `history=purge` the contents of all older versions are deleted at once.',
    parameters: [thread('id')],
    query: forgetQuery.schema,
    answers: { 200: { description: 'It is forgotten.', json: { name: 'ForgottenThread', schema: forgottenAnswer } } },
    problems: [404, 409],
  },
  {
    method: 'POST',
    path: '/v1/threads/{id}/extract',
    tag: 'Rollouts and threads',
    id: 'extractThread',
    summary: 'Extracts a thread now, without waiting until it is idle',
    parameters: [thread('id')],
    answers: { 202: { description: 'It is queued.', json: { name: 'QueuedThread', schema: extractAnswer } } },
    problems: [404, 409],
  },
  {
    method: 'POST',
    path: '/v1/redrive',
    tag: 'Rollouts and threads',
    id: 'redrive',
    summary: 'Makes failed and exhausted extractions due again',
    answers: { 200: { description: 'How many.', json: { name: 'Redriven', schema: redriveAnswer } } },
  },
  {
    method: 'GET',
    path: '/v1/settings',
    tag: 'Settings and status',
    id: 'getSettings',
    summary: 'All settings',
    answers: { 200: { description: 'The settings.', json: { name: 'Settings', schema: settingsAnswer } } },
  },
  {
    method: 'PATCH',
    path: '/v1/settings',
    tag: 'Settings and status',
    id: 'changeSettings',
    summary: 'Changes the settings that are named',
    description: 'Numbers outside of their range are put to its nearest end. An unknown name is refused.',
    body: { kind: 'json', name: 'SettingsChange', schema: settingsBody },
    answers: { 200: { description: 'All settings.', json: { name: 'Settings', schema: settingsAnswer } } },
  },
  {
    method: 'POST',
    path: '/v1/consolidations',
    tag: 'Versions',
    id: 'startConsolidation',
    summary: 'Consolidates now, without the cooldown',
    description: 'Two requests within some seconds are one run.',
    answers: {
      202: {
        description: 'It is asked for.',
        json: { name: 'StartedConsolidation', schema: startedAnswer },
        headers: { Location: 'Where its state can be read.' },
      },
    },
    problems: [404, 409],
  },
  {
    method: 'GET',
    path: '/v1/consolidations/{id}',
    tag: 'Versions',
    id: 'getConsolidation',
    summary: 'What became of a consolidation that was asked for',
    parameters: [
      {
        in: 'path',
        name: 'id',
        description: 'From the answer that started it.',
        required: true,
        schema: z.string().check(z.minLength(1)),
      },
    ],
    answers: { 200: { description: 'Its state.', json: { name: 'Consolidation', schema: consolidationAnswer } } },
    problems: [404],
  },
  {
    method: 'GET',
    path: '/v1/memory/versions',
    tag: 'Versions',
    id: 'listVersions',
    summary: 'The versions of the memory, the newest first',
    query: versionsQuery.schema,
    answers: {
      200: {
        description: 'One page.',
        json: { name: 'VersionList', schema: versionsAnswer },
        headers: { Link: 'The next page, where there is one.' },
      },
    },
  },
  {
    method: 'GET',
    path: '/v1/memory/versions/{n}',
    tag: 'Versions',
    id: 'getVersion',
    summary: 'The manifest of a version',
    parameters: [versionNumber],
    answers: { 200: { description: 'The manifest.', json: { name: 'Manifest', schema: manifestAnswer } } },
    problems: [404, 410],
  },
  {
    method: 'GET',
    path: '/v1/memory/versions/{n}/diff',
    tag: 'Versions',
    id: 'diffVersion',
    summary: 'What a version changed, or how it differs from another one',
    description: 'A unified diff as git writes it. A text that would be too long is cut, and its last line says so.',
    parameters: [versionNumber],
    query: diffQuery.schema,
    answers: { 200: { description: 'The difference; empty where there is none.', types: ['text/plain'] } },
    problems: [404, 410],
  },
  {
    method: 'GET',
    path: '/v1/memory/versions/{n}/replay',
    tag: 'Versions',
    id: 'replayVersion',
    summary: 'Makes a version again from what its run was given and answered, and compares',
    description:
      'For versions that a consolidation made in the last 30 days. No model is asked and nothing is changed. 404 `replay.not_kept`, 410 `replay.expired` and `replay.forgotten` say why there is nothing to replay; 409 `replay.template_changed` that the prompts are others by now.',
    parameters: [versionNumber],
    answers: { 200: { description: 'Whether it is the same.', json: { name: 'Replay', schema: replayAnswer } } },
    problems: [404, 409, 410],
  },
  {
    method: 'POST',
    path: '/v1/memory/versions/{n}/restore',
    tag: 'Versions',
    id: 'restoreVersion',
    summary: 'Makes an older version the present one again, as a new version',
    parameters: [versionNumber],
    answers: {
      200: { description: 'The memory is like that already.', json: { name: 'Restored', schema: restoredAnswer } },
      201: {
        description: 'The version made, read from now on.',
        json: { name: 'Restored', schema: restoredAnswer },
        headers: { Location: 'Its manifest.' },
      },
    },
    problems: [404, 410],
  },
  {
    method: 'PUT',
    path: '/v1/memory/files/{path}',
    tag: 'Versions',
    id: 'writeFile',
    summary: 'Writes a file by hand, as a new version',
    description: 'The next consolidation keeps it. Secrets are replaced.',
    parameters: [filePath, ifMatch],
    body: {
      kind: 'bytes',
      description: 'The whole file. UTF-8 text, but for files below `extensions/`.',
      types: ['text/markdown', 'application/octet-stream'],
    },
    answers: {
      200: {
        description: 'The file was there; `changed` tells whether it was like that already.',
        json: { name: 'EditedFile', schema: editAnswer },
        headers: { ETag: 'The present version, for the next edit.' },
      },
      201: {
        description: 'There was no such file.',
        json: { name: 'EditedFile', schema: editAnswer },
        headers: { ETag: 'The present version, for the next edit.' },
      },
    },
    problems: [404, 412, 428],
  },
  {
    method: 'DELETE',
    path: '/v1/memory/files/{path}',
    tag: 'Versions',
    id: 'deleteFile',
    summary: 'Deletes a file by hand, as a new version',
    parameters: [filePath, ifMatch],
    answers: {
      200: {
        description: 'It is gone from the present version.',
        json: { name: 'EditedFile', schema: editAnswer },
        headers: { ETag: 'The present version, for the next edit.' },
      },
    },
    problems: [404, 412, 428],
  },
  {
    method: 'POST',
    path: '/v1/reset',
    tag: 'Leaving',
    id: 'reset',
    summary: 'Starts anew: memory, outputs and jobs are gone; settings and memory modes stay',
    answers: { 200: { description: 'What was removed.', json: { name: 'ResetResult', schema: resetAnswer } } },
    problems: [404, 409],
  },
  {
    method: 'POST',
    path: '/v1/erase',
    tag: 'Leaving',
    id: 'erase',
    summary: 'Erases everything that is kept of the user, every version of it, and proves it',
    description: '`confirm` must be the id of the user who asks.',
    body: { kind: 'json', name: 'EraseRequest', schema: eraseBody },
    answers: { 200: { description: 'The receipt.', json: { name: 'EraseReceipt', schema: eraseAnswer } } },
    problems: [404, 409],
  },
];
