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

/** Sum of two usages, field by field; negative values count as 0. */
export function addUsage(left: TokenUsage, right: TokenUsage): TokenUsage {
  const sum = (a: number, b: number): number => Math.max(0, a) + Math.max(0, b);
  return {
    inputTokens: sum(left.inputTokens, right.inputTokens),
    cachedInputTokens: sum(left.cachedInputTokens, right.cachedInputTokens),
    cacheWriteInputTokens: sum(left.cacheWriteInputTokens, right.cacheWriteInputTokens),
    outputTokens: sum(left.outputTokens, right.outputTokens),
    reasoningOutputTokens: sum(left.reasoningOutputTokens, right.reasoningOutputTokens),
    totalTokens: sum(left.totalTokens, right.totalTokens),
  };
}
