import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitHead, readHead, resetHead, setFence, switchHead } from '../../../adapters/dynamodb/head-requests.ts';
import { LIMITS } from '../../../core/settings.ts';
import { NOW } from '../../support/sample-state.ts';

const TO = { version: 3, publishedAt: NOW, summary: 's', pendingNotes: [{ path: 'n', text: 't' }], places: [] };
const KEY = { pk: 'user#u', sk: 'head' };

describe('the switch of a head', () => {
  it('is one update under the version, epoch and fence that the publisher saw', () => {
    expect(switchHead('u', { from: 2, epoch: 1, fence: 'f', to: TO }, 'w')).toEqual({
      Key: KEY,
      UpdateExpression:
        'SET #version = :version, #published_at = :published_at, #summary = :summary, ' +
        '#pending_notes = :pending_notes, #notes_left_out = :notes_left_out, #places = :places, ' +
        '#epoch = :epoch_seen, #write_id = :write_id',
      ConditionExpression: '#version = :version_seen AND #epoch = :epoch_seen AND #fence = :fence',
      ExpressionAttributeNames: {
        '#version': 'version',
        '#published_at': 'published_at',
        '#summary': 'summary',
        '#pending_notes': 'pending_notes',
        '#notes_left_out': 'notes_left_out',
        '#places': 'places',
        '#epoch': 'epoch',
        '#write_id': 'write_id',
        '#fence': 'fence',
      },
      ExpressionAttributeValues: {
        ':version_seen': 2,
        ':epoch_seen': 1,
        ':fence': 'f',
        ':version': 3,
        ':published_at': NOW,
        ':summary': 's',
        ':pending_notes': [{ path: 'n', text: 't' }],
        ':notes_left_out': 0,
        ':places': [],
        ':write_id': 'w',
      },
    });
  });

  it('takes a missing version and epoch as 0, and names no fence where it needs none', () => {
    const request = switchHead('u', { from: 0, epoch: 0, fence: null, to: TO }, 'w');
    expect(request.ConditionExpression).toBe(
      '(attribute_not_exists(#version) OR #version = :version_seen) AND ' +
        '(attribute_not_exists(#epoch) OR #epoch = :epoch_seen)',
    );
    expect(request.ExpressionAttributeNames).not.toHaveProperty('#fence');
    expect(request.ExpressionAttributeValues).not.toHaveProperty(':fence');
  });
});

it('a fence is set without a condition, a reset once for each write id', () => {
  expect(setFence('u', 'f')).toEqual({
    Key: KEY,
    UpdateExpression: 'SET #fence = :fence',
    ExpressionAttributeNames: { '#fence': 'fence' },
    ExpressionAttributeValues: { ':fence': 'f' },
  });
  expect(resetHead('u', 'w')).toMatchObject({
    Key: KEY,
    UpdateExpression:
      'SET #write_id = :write_id ADD #epoch :one ' +
      'REMOVE #version, #published_at, #summary, #pending_notes, #notes_left_out, #places, #fence',
    ConditionExpression: 'attribute_not_exists(#write_id) OR #write_id <> :write_id',
    ExpressionAttributeValues: { ':write_id': 'w', ':one': 1 },
  });
});

describe("a head's item", () => {
  it('reads as nothing published where it is missing or holds a fence only', () => {
    const empty = { version: 0, publishedAt: null, summary: '', pendingNotes: [], places: [], epoch: 0, fence: null };
    expect(readHead(undefined)).toEqual(empty);
    expect(readHead({ ...KEY, fence: 'f' })).toEqual({ ...empty, fence: 'f' });
  });

  it('says how many notes it had no room for', () => {
    expect(readHead({ ...KEY, version: 1, notes_left_out: 4 })).toMatchObject({ version: 1, notesLeftOut: 4 });
    expect(readHead({ ...KEY, version: 1, notes_left_out: 0 })).not.toHaveProperty('notesLeftOut');
  });

  it.each([
    ['version', '3'],
    ['summary', 7],
    ['pending_notes', [{ path: 'secret content' }]],
    ['places', 'secret content'],
    ['epoch', null],
  ])('that has a bad %s is a defect that names it and quotes nothing', (attribute, value) => {
    const failure = { code: 'table.item_unreadable', details: { item: 'head', attribute } };
    expect(() => readHead({ ...KEY, [attribute]: value })).toThrow(expect.objectContaining(failure));
  });
});

describe('what of a head fits into an item', () => {
  const note = (at: number, bytes: number) => ({ path: `n${String(at).padStart(4, '0')}`, text: 'x'.repeat(bytes) });

  it('is all of it, while it is small', () => {
    expect(fitHead(TO)).toEqual({ summary: 's', pendingNotes: TO.pendingNotes, notesLeftOut: 0, places: [] });
  });

  it('is the newest notes where there are too many, in their order, with the others counted', () => {
    const notes = Array.from({ length: 500 }, (_, at) => note(at, LIMITS.pendingNoteBytes));
    const { pendingNotes, notesLeftOut } = fitHead({ ...TO, pendingNotes: notes });
    expect(pendingNotes).toEqual(notes.slice(notesLeftOut));
    expect(notesLeftOut).toBeGreaterThan(150);
    expect(notesLeftOut).toBeLessThan(250);
  });

  it('is a summary up to its limit to the byte, and none over it: readers then take the file', () => {
    const exact = 'é'.repeat(LIMITS.summaryFileBytes / 2);
    expect(fitHead({ ...TO, summary: exact }).summary).toBe(exact);
    expect(fitHead({ ...TO, summary: `${exact}.` }).summary).toBe('');
  });

  it('always stays below the limit of an item, counted as the table counts', () => {
    const text = fc.oneof(fc.string({ maxLength: 9 }), fc.constantFrom('日本'.repeat(170), 'x'.repeat(1_024)));
    const many = fc.integer({ min: 0, max: 700 });
    fc.assert(
      fc.property(text, text, many, many, fc.nat({ max: 60_000 }), (a, b, notes, places, summary) => {
        const fitted = fitHead({
          summary: 's'.repeat(summary),
          pendingNotes: Array.from({ length: notes }, (_, at) => ({ path: `${at}${a}`, text: b })),
          places: Array.from({ length: places }, (_, at) => ({ directory: `${at}${b}`, project: a })),
        });
        expect(fitted.pendingNotes.length + fitted.notesLeftOut).toBe(notes);
        expect(itemBytes(fitted)).toBeLessThan(400 * 1_024 - 4_096);
      }),
      { numRuns: 50 },
    );
  });
});

/** Names and UTF-8 texts, 3 bytes for each list or map and 1 for each of its entries. */
function itemBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 9;
  const named = Array.isArray(value) ? 0 : Object.keys(value).reduce((sum, name) => sum + Buffer.byteLength(name), 0);
  return Object.values(value).reduce((sum: number, part) => sum + 1 + itemBytes(part), 3 + named);
}
