import type { TokenUsage } from './crabtalk.generated.ts'

/** Converts token usage to its form for programs. */
export function toUsageJson(usage: TokenUsage) {
  return {
    input: usage.promptTokens,
    output: usage.completionTokens,
    cache_read: usage.cacheHitTokens ?? 0,
    cache_write: usage.cacheWriteTokens ?? 0,
    reasoning: usage.reasoningTokens ?? 0,
  }
}
