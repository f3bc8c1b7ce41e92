import type { Usage } from '../base/message.ts'
import type { ModelFacts } from './types.ts'

/**
 * Returns the known facts about a model (ADR 0044); empty for names not in the table.
 *
 * Ignores a vendor prefix and a trailing date: `openai/gpt-5.4-2026-03-05` is `gpt-5.4`. Accepts Bedrock's
 * names of Claude models: a global name, such as `global.anthropic.claude-haiku-4-5-20251001-v1:0`, has the
 * listed prices; a regional name only has the context window, because regional prices differ.
 */
export function knownFacts(model: string): ModelFacts {
  const [, place, rest] = /(?:^|\/)(\w+\.)?anthropic\.(claude-.*?)(?:-v\d+(?::\d+)?)?$/.exec(model) ?? []
  const name = rest ?? model.slice(model.lastIndexOf('/') + 1)
  const row = FACTS.get(name) ?? FACTS.get(withoutDate(name)) ?? []
  const known = place === undefined || place === 'global.' ? row : row.slice(0, 1)
  return Object.fromEntries(known.map((value, column) => [COLUMNS[column]!, value]))
}

/** Whether a name refers to a listed model: its own name or, as an alias, the same without a date. */
export function isCalled(listed: string, name: string): boolean {
  return listed === name || withoutDate(listed) === name
}

function withoutDate(name: string): string {
  return name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
}

/**
 * Returns the cost of a usage in US dollars; undefined while the input or output price is unknown.
 *
 * Cached input without a price of its own is charged as ordinary input.
 */
export function costUsd(usage: Usage, facts: ModelFacts): number | undefined {
  const { inputUsd, outputUsd, cacheReadUsd = inputUsd, cacheWriteUsd = inputUsd } = facts
  if (inputUsd === undefined || outputUsd === undefined) return undefined
  const fresh = usage.input - usage.cache_read - usage.cache_write
  const dollars =
    fresh * inputUsd +
    usage.cache_read * (cacheReadUsd ?? inputUsd) +
    usage.cache_write * (cacheWriteUsd ?? inputUsd) +
    usage.output * outputUsd
  return dollars / 1_000_000
}

const COLUMNS = ['context', 'inputUsd', 'outputUsd', 'cacheReadUsd', 'cacheWriteUsd'] as const

/**
 * Context windows and list prices as published by the vendors on 2026-11-21, in the columns above.
 *
 * A model whose price depends on the prompt length, or is about to change, only has its context window.
 * Surcharges for very long prompts are omitted.
 */
const FACTS: ReadonlyMap<string, readonly number[]> = new Map([
  ['claude-fable-5-1', [1_000_000, 10, 50]],
  ['claude-opus-5-5', [1_000_000, 4, 20, 0.2, 5]],
  ['claude-opus-5', [1_000_000, 5, 25, 0.5, 6.25]],
  ['claude-sonnet-5-5', [1_000_000, 2, 10, 0.2, 2.5]],
  ['claude-sonnet-5', [1_000_000, 2, 10, 0.2, 2.5]],
  ['claude-haiku-5-5', [1_000_000]],
  ['claude-haiku-4-5', [200_000, 1, 5, 0.1, 1.25]],
  ['gpt-6.1-sol', [1_050_000, 2, 10, 0.1]],
  ['gpt-6-sol', [1_050_000, 2, 10, 0.2, 2.5]],
  ['gpt-6-luna', [1_050_000, 0.1, 0.5, 0.01, 0.125]],
  ['gpt-5.4-mini', [400_000, 0.75, 4.5, 0.075]],
  ['gpt-oss-120b', [131_072]],
  ['gemini-3.8-flash', [1_048_576, 0.75, 3.75, 0.075]],
  ['grok-4.6', [500_000, 2, 6, 0.5]],
  ['deepseek-v4-flash', [1_048_576]],
  ['deepseek-v4-pro', [1_048_576]],
])
