import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { parseMemoryDocument } from '../../../core/consolidation/memory-document.ts';
import { findSummaryFaults } from '../../../core/consolidation/summary-grammar.ts';
import { chooseFence, renderTemplate } from '../../../core/extraction/render-template.ts';
import { parseSummary } from '../../../core/memory/summary-document.ts';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import type { RolloutReading } from '../../../core/rollout/rollout.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { projectKey } from '../../../core/thread/scope.ts';
import { toFileTime } from '../../../core/time.ts';
import { ALL_FAKE_SECRETS } from '../../../examples/sessions/fake-secrets.ts';
import { buildSampleRollouts, type SampleRollout } from '../../../examples/write-rollouts.ts';
import { answerStageOne, type StageOneAnswer } from '../../../local/offline/stage-one.ts';
import { sharedRolloutsFolder } from '../../support/shared-rollouts.ts';
import { claimsOf, sourceText } from './claims.ts';
import { NO_VERSION, runOffline, type TestInput } from './consolidation-run.ts';

interface Extracted {
  readonly sample: SampleRollout;
  readonly answer: StageOneAnswer;
  readonly message: string;
  readonly input: TestInput;
  readonly subagent: boolean;
}

const templates = new FilesTemplateStore(join(import.meta.dirname, '../../../layers/templates'));
const extracted = await Promise.all(buildSampleRollouts().map(extract));
const byKey = new Map(extracted.map((item) => [item.sample.session.key, item]));
const kept = extracted.filter((item) => item.answer.raw_memory !== '');
const selected = kept.filter((item) => !item.subagent).map((item) => item.input);

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield encodeUtf8(text);
}

/** The user message of Phase 1, from the real template. */
async function messageOf(reading: Extract<RolloutReading, { kind: 'read' }>, path: string): Promise<string> {
  const { facts, evidence } = reading;
  const values = {
    rollout_path: path,
    cwd: facts.cwd ?? 'unknown',
    git_branch: facts.gitBranch ?? 'unknown',
    project: projectKey(facts),
    first_at: 'unknown',
    last_at: 'unknown',
    evidence,
  };
  const template = await templates.get('stage_one_input');
  return renderTemplate(template, { ...values, fence: chooseFence(Object.values(values)) });
}

/** Phase 1 as it runs: the real reader, the real template, the stand-in's rules. */
async function extract(sample: SampleRollout): Promise<Extracted> {
  const reading = await readRollout(bytesOf(sample.text), { evidenceTokens: 150_000 });
  if (reading.kind !== 'read') throw new Error(`${sample.path} is not read: ${reading.reason}`);
  const { facts } = reading;
  const project = projectKey(facts);
  const message = await messageOf(reading, sample.path);
  const answer = answerStageOne(message);
  const input = {
    threadId: facts.threadId ?? '',
    sourceUpdatedAt: facts.lastAt ?? Date.parse(sample.session.startedAt),
    rawMemory: answer.raw_memory,
    rolloutSummary: answer.rollout_summary,
    slug: answer.rollout_slug,
    cwd: facts.cwd,
    rolloutPath: sample.path,
    gitBranch: facts.gitBranch,
    project,
  };
  return { sample, answer, message, input, subagent: facts.subagent };
}

describe('Phase 1 over the samples', () => {
  it.each(kept.map((item) => [item.sample.session.key, item] as const))(
    '%s: every quote, command and path stands in its file',
    (_, { answer, sample }) => {
      const source = sourceText([sample.text]);
      const claims = [...claimsOf(answer.raw_memory), ...claimsOf(answer.rollout_summary)];
      expect(claims.length).toBeGreaterThan(3);
      expect(claims.filter((claim) => !source.includes(claim))).toEqual([]);
    },
  );

  it('no made-up secret is in a request or an answer', () => {
    for (const { message, answer } of extracted) {
      for (const secret of ALL_FAKE_SECRETS) expect(message + JSON.stringify(answer)).not.toContain(secret);
    }
  });

  it('a question and a greeting give three empty fields', () => {
    for (const key of ['lantern-question', 'greeting']) {
      expect(byKey.get(key)?.answer).toEqual({ raw_memory: '', rollout_summary: '', rollout_slug: '' });
    }
  });

  it('nothing of the rules file of the project is restated', () => {
    expect(byKey.get('harbor-login-limit')?.answer.raw_memory).not.toContain('Handlers live');
  });

  it('running twice gives equal bytes', async () => {
    const again = await Promise.all(buildSampleRollouts().map(extract));
    expect(again.map((item) => item.answer)).toEqual(extracted.map((item) => item.answer));
  });

  it.each([
    ['harbor-login-limit', `"Don't use npm in this repository, always use pnpm."`],
    [
      'harbor-idempotency',
      '"Actually, use Postgres instead of Redis for the keys." (current; rejected before: "Use Redis for the keys.")',
    ],
    [
      'harbor-migration',
      '`npm run migrate` failed (exit code 1): "npm error code EBADDEVENGINES" -> `pnpm migrate` worked',
    ],
    ['tidegauge-checksum', '"Bitte nicht cargo direkt aufrufen, sondern immer `make test`'],
    ['tidegauge-firmware', 'it worked after `rustup target add thumbv7em-none-eabihf`'],
    ['lantern-missing-days', '"このリポジトリでは常に uv を使ってください。"'],
    [
      'lantern-chart-export',
      '`uv run lantern chart --svg` failed (exit code 1) -> `uv run lantern chart --svg --no-caption` worked',
    ],
  ])('%s is remembered for %s', (key, text) => {
    expect(byKey.get(key)?.answer.raw_memory).toContain(text);
  });

  it('a complaint that the person took back is not kept', () => {
    expect(byKey.get('lantern-chart-export')?.answer.raw_memory).not.toContain('still wrong');
  });
});

describe('Phase 1 over real rollouts', () => {
  const folder = sharedRolloutsFolder();
  const names = readdirSync(folder).filter((name) => /-(?:codex|claude|gemini|pi|copilot)-.*\.jsonl$/.test(name));

  it.each(names)('%s: every claim stands in the file', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const reading = await readRollout(bytesOf(text), { evidenceTokens: 150_000 });
    if (reading.kind !== 'read') throw new Error(`not read: ${reading.reason}`);
    const answer = answerStageOne(await messageOf(reading, name));
    const source = sourceText([text]);
    const claims = [...claimsOf(answer.raw_memory), ...claimsOf(answer.rollout_summary)];
    expect(claims.filter((claim) => !source.includes(claim))).toEqual([]);
  });
});

describe('Phase 2 over the samples', async () => {
  const run = await runOffline(NO_VERSION, selected);
  const { document, faults } = parseMemoryDocument(run.memory);

  it('both files fit their grammar', () => {
    expect(faults).toEqual([]);
    expect(findSummaryFaults(parseSummary(run.summary))).toEqual([]);
  });

  it('every claim stands in one of the files that it names', () => {
    for (const group of document.groups) {
      for (const bullet of Object.values(group.bullets).flat()) {
        const threads = bullet.tasks.flatMap(
          (task) => group.tasks[task - 1]?.sources.map((source) => source.threadId) ?? [],
        );
        const sources = kept.filter((item) => threads.includes(item.input.threadId)).map((item) => item.sample.text);
        const source = sourceText(sources);
        expect(claimsOf(`- ${bullet.text}`).filter((claim) => !source.includes(claim))).toEqual([]);
      }
    }
  });

  // Claude Code records no git remote, so its sessions are filed by their folder.
  it('projects stay apart, and each session is cited with its time', () => {
    expect(document.groups.map((group) => group.project).sort()).toEqual([
      '/home/robin/src/harbor-api',
      '/home/robin/src/lantern',
      'github.com/quayside/harbor-api',
      'github.com/quayside/lantern',
      'github.com/quayside/tidegauge',
    ]);
    for (const input of selected) {
      expect(run.memory).toContain(`updated_at=${toFileTime(input.sourceUpdatedAt)}, thread_id=${input.threadId})`);
    }
  });

  it('the lesson that recurs is one bullet, the reversed one names what it replaced', () => {
    const harbor = run.memory
      .split(/^(?=# Task Group)/m)
      .find((text) => text.includes('project=github.com/quayside/harbor-api'));
    expect(harbor?.match(/ECONNREFUSED/g)).toHaveLength(1);
    expect(harbor).toMatch(/ECONNREFUSED.*alike 3 times/);
    expect(run.memory).toMatch(/- "Wir sind auf just umgestiegen: .*; rejected: "Immer `make build` verwenden/);
  });

  it('only the wish of two projects is global', () => {
    const global = run.summary.split('## User preferences')[1]?.split('## General Tips')[0]?.trim();
    expect(global).toBe('- "Always show me the plan before you change more than three files." (in 2 projects)');
  });

  it('no made-up secret is in any file', () => {
    for (const secret of ALL_FAKE_SECRETS) expect(run.memory + run.summary).not.toContain(secret);
  });
});
