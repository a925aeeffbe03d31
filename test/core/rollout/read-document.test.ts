import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRollout } from '../../../core/rollout/read-rollout.ts';
import { LIMITS } from '../../../core/settings.ts';
import { encodeUtf8 } from '../../../core/text.ts';
import { readText, understand } from '../../support/read-records.ts';

const said = (role: string, content: string): string => JSON.stringify({ role, content });

/** A document on one line, produced piece by piece. */
async function* document(messages: number, filler: string): AsyncGenerator<Uint8Array> {
  yield encodeUtf8('{"session_id":"s-1","messages":[');
  for (let at = 0; at < messages; at++) {
    yield encodeUtf8(`${at === 0 ? '' : ','}${said(at % 2 === 0 ? 'user' : 'assistant', `${at} ${filler}`)}`);
  }
  yield encodeUtf8('],"model":"x"}');
}

describe('reading a JSON document', () => {
  it('on one line, larger than a record may be', async () => {
    const filler = 'x'.repeat(20_000);
    const reading = await readRollout(document(1_000, filler), { evidenceTokens: 5_000 });
    expect(reading).toMatchObject({
      kind: 'read',
      facts: { threadId: 's-1', humanMessages: 500, assistantMessages: 500 },
      counts: { records: 1_001, broken: 0, oversized: 0, tornTail: false },
    });
    expect(reading.counts.bytes).toBeGreaterThan(LIMITS.recordBytes);
  });

  it('holds no more than an element, whatever the length', async () => {
    const batch = encodeUtf8(`${said('user', 'x'.repeat(4_000))},`.repeat(250));
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    async function* watched(): AsyncGenerator<Uint8Array> {
      yield encodeUtf8('[');
      for (let at = 0; at < 100; at++) {
        yield batch;
        most = Math.max(most, process.memoryUsage().arrayBuffers);
      }
      yield encodeUtf8('{}]');
    }
    const { counts } = await readRollout(watched(), { evidenceTokens: null });
    expect(counts.bytes).toBeGreaterThan(100_000_000);
    expect(most - before).toBeLessThan(30_000_000);
  });

  it('keeps an element with an image of any size, without the image (D1)', async () => {
    const piece = new Uint8Array(1_048_576).fill(0x41);
    const [before, behind] = JSON.stringify({
      role: 'user',
      content: [
        { type: 'text', text: 'what is wrong in this picture' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,|' } },
      ],
    }).split('|');
    const held = process.memoryUsage().arrayBuffers;
    let most = 0;
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield encodeUtf8(`[${said('user', 'before')},${before}`);
      for (let at = 0; at < 100; at++) {
        yield piece;
        most = Math.max(most, process.memoryUsage().arrayBuffers);
      }
      yield encodeUtf8(`${behind},${said('user', 'after')}]`);
    }
    const reading = await readRollout(stream(), { evidenceTokens: 1_000 });
    expect(reading).toMatchObject({ facts: { humanMessages: 3 }, counts: { oversized: 0, records: 3 } });
    expect(reading.kind === 'read' && reading.evidence).toMatch(
      /what is wrong in this picture.{0,60}\[image omitted\]/,
    );
    expect(most - held).toBeLessThan(10_000_000);
  });

  it('passes over an element over the limit', async () => {
    const piece = new Uint8Array(1_048_576).fill(0x20);
    async function* stream(): AsyncGenerator<Uint8Array> {
      yield encodeUtf8(`[${said('user', 'before')},{"role":"user","content":"`);
      for (let at = 0; at <= LIMITS.recordBytes / piece.length; at++) yield piece;
      yield encodeUtf8(`"},${said('user', 'after')}]`);
    }
    expect(await readRollout(stream(), { evidenceTokens: 1_000 })).toMatchObject({
      kind: 'read',
      facts: { humanMessages: 2 },
      counts: { oversized: 1, records: 2, broken: 0, tornTail: false },
    });
  });

  it('is the same whatever the chunks are, and torn anywhere it is read or fails with a reason', async () => {
    const text = JSON.stringify(
      { session_id: 's', messages: ['größer 🚀', 'a\u2028b"\\', '}]'].map((content) => ({ role: 'user', content })) },
      null,
      2,
    );
    const bytes = encodeUtf8(`\ufeff${text.replaceAll('\n', '\r\n')}`);
    const whole = await understand(bytes);
    expect(whole.facts.humanMessages).toBe(3);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: bytes.length }),
        fc.integer({ min: 1, max: 60 }),
        async (cut, size) => {
          const torn = await readText(bytes.subarray(0, cut), size);
          expect(torn).toEqual(await readText(bytes.subarray(0, cut), 4_096));
          if (torn.kind === 'read' && cut < bytes.length)
            expect(whole.facts.humanMessages).toBeGreaterThanOrEqual(torn.facts.humanMessages);
          if (cut === bytes.length) expect(torn).toEqual(whole);
        },
      ),
    );
  });

  it('goes on with the lines that follow a document', async () => {
    const { facts } = await understand(
      `${JSON.stringify({ messages: [{ role: 'user', content: 'one' }] })}\n${said('user', 'two')}\n`,
    );
    expect(facts.humanMessages).toBe(2);
  });

  it('fails when more than half of the elements are no objects', async () => {
    const list = [{ role: 'user', content: 'a' }, 1, 2];
    expect(await readText(JSON.stringify(list))).toMatchObject({ kind: 'failed', reason: 'unreadable' });
  });

  it('counts elements that are broken', async () => {
    const text = `[${said('user', 'a')},{"role":,},${said('user', 'b')}]`;
    expect(await readText(text)).toMatchObject({ kind: 'read', facts: { humanMessages: 2 }, counts: { broken: 1 } });
  });
});
