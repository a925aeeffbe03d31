import * as z from 'zod/mini';
import type { TokenUsage } from '../agent/token-usage.ts';
import { DefectError } from '../errors.ts';
import type { Manifest, ProvenanceIndex } from './manifest.ts';

/** The stored and shown form of a manifest (storage.md): JSON with snake_case names, times in ms. */
const sha256 = z.string().check(z.regex(/^[0-9a-f]{64}$/));
const count = z.number().check(z.minimum(0));
const usage = z.object({
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_input_tokens: count,
  output_tokens: count,
  reasoning_output_tokens: count,
  total_tokens: count,
});
const manifestShape = z.object({
  version: z.int().check(z.minimum(1)),
  parent: z.int().check(z.minimum(0)),
  created_at: z.int(),
  reason: z.enum(['consolidation', 'note', 'edit', 'forget', 'restore', 'import']),
  actor: z.string(),
  inputs: z.array(z.object({ thread_id: z.string(), source_updated_at: z.int() })),
  removed: z.array(z.string()),
  files: z.record(z.string(), z.object({ version_id: z.string(), sha256, bytes: z.int().check(z.minimum(0)) })),
  model: z.nullable(z.string()),
  prompt_version: z.nullable(z.string()),
  token_usage: usage,
  way: z.optional(z.enum(['loop', 'once'])),
  turns: z.optional(z.int().check(z.minimum(0))),
  provenance: z.optional(
    z.object({
      threads: z.array(z.string()),
      blocks: z.record(z.string(), z.array(z.array(z.int().check(z.minimum(0))))),
    }),
  ),
  notes_consumed: z.array(z.string()),
});

export type ManifestJson = z.infer<typeof manifestShape>;

/** A manifest as plain JSON values. */
export function manifestToJson(manifest: Manifest): ManifestJson {
  return {
    version: manifest.version,
    parent: manifest.parent,
    created_at: manifest.createdAt,
    reason: manifest.reason,
    actor: manifest.actor,
    inputs: manifest.inputs.map((ref) => ({ thread_id: ref.threadId, source_updated_at: ref.sourceUpdatedAt })),
    removed: [...manifest.removed],
    files: mapValues(manifest.files, (file) => ({
      version_id: file.versionId,
      sha256: file.sha256,
      bytes: file.bytes,
    })),
    model: manifest.model,
    prompt_version: manifest.promptVersion,
    token_usage: usageToJson(manifest.tokenUsage),
    ...(manifest.way === undefined ? {} : { way: manifest.way }),
    ...(manifest.turns === undefined ? {} : { turns: manifest.turns }),
    ...(manifest.provenance === undefined ? {} : { provenance: copyProvenance(manifest.provenance) }),
    notes_consumed: [...manifest.notesConsumed],
  };
}

/** Token counts as plain JSON values. */
export function usageToJson(used: TokenUsage): z.infer<typeof usage> {
  return {
    input_tokens: used.inputTokens,
    cached_input_tokens: used.cachedInputTokens,
    cache_write_input_tokens: used.cacheWriteInputTokens,
    output_tokens: used.outputTokens,
    reasoning_output_tokens: used.reasoningOutputTokens,
    total_tokens: used.totalTokens,
  };
}

/**
 * Reads a stored manifest.
 * @param version the number under which it is stored; it must say the same
 * @throws DefectError `memory.manifest_unreadable`
 */
export function parseManifest(text: string, version: number): Manifest {
  const found = z.safeParse(manifestShape, parseJson(text, version));
  if (!found.success || found.data.version !== version) throw unreadable(version, found.error);
  return fromJson(found.data);
}

function fromJson(json: ManifestJson): Manifest {
  const { token_usage: used } = json;
  return {
    version: json.version,
    parent: json.parent,
    createdAt: json.created_at,
    reason: json.reason,
    actor: json.actor,
    inputs: json.inputs.map((ref) => ({ threadId: ref.thread_id, sourceUpdatedAt: ref.source_updated_at })),
    removed: json.removed,
    files: mapValues(json.files, (file) => ({ versionId: file.version_id, sha256: file.sha256, bytes: file.bytes })),
    model: json.model,
    promptVersion: json.prompt_version,
    tokenUsage: {
      inputTokens: used.input_tokens,
      cachedInputTokens: used.cached_input_tokens,
      cacheWriteInputTokens: used.cache_write_input_tokens,
      outputTokens: used.output_tokens,
      reasoningOutputTokens: used.reasoning_output_tokens,
      totalTokens: used.total_tokens,
    },
    ...(json.way === undefined ? {} : { way: json.way }),
    ...(json.turns === undefined ? {} : { turns: json.turns }),
    ...(json.provenance === undefined ? {} : { provenance: json.provenance }),
    notesConsumed: json.notes_consumed,
  };
}

function copyProvenance({ threads, blocks }: ProvenanceIndex): NonNullable<ManifestJson['provenance']> {
  return { threads: [...threads], blocks: mapValues(blocks, (rows) => rows.map((row) => [...row])) };
}

function parseJson(text: string, version: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(version, cause);
  }
}

function unreadable(version: number, cause: unknown): DefectError {
  return new DefectError('memory.manifest_unreadable', 'a stored manifest cannot be read', {
    details: { version },
    cause,
  });
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
