/** Tokens of one or more model calls, as the provider reports them. Negative reports count as 0 (behaviours X-02). */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningOutputTokens: number;
  readonly totalTokens: number;
}

export const NO_USAGE: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  totalTokens: 0,
};

/** Sum of two counts; negative ones count as 0. Stops at 2^53-1, up to where sums are exact and can be stored. */
export function addTokens(left: number, right: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, left) + Math.max(0, right));
}

/** Sum of two usages, field by field, as `addTokens` adds. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  const sum = addTokens;
  return {
    inputTokens: sum(left.inputTokens, right.inputTokens),
    cachedInputTokens: sum(left.cachedInputTokens, right.cachedInputTokens),
    cacheWriteInputTokens: sum(left.cacheWriteInputTokens, right.cacheWriteInputTokens),
    outputTokens: sum(left.outputTokens, right.outputTokens),
    reasoningOutputTokens: sum(left.reasoningOutputTokens, right.reasoningOutputTokens),
    totalTokens: sum(left.totalTokens, right.totalTokens),
  };
}
