import type { Usage } from '../base/message.ts'
import type { ModelFacts } from './types.ts'

/**
 * What is known of a model (decision 39); nothing for names not in the table.
 *
 * A vendor prefix and a date at the end do not matter: `openai/gpt-5.4-2026-03-05` is `gpt-5.4`. Bedrock's name for a
 * Claude model stands for it, `global.anthropic.claude-haiku-4-5-20251001-v1:0` with its prices; those of a region differ.
 */
export function knownFacts(model: string): ModelFacts {
  const [, place, rest] = /(?:^|\/)(\w+\.)?anthropic\.(claude-.*?)(?:-v\d+(?::\d+)?)?$/.exec(model) ?? []
  const name = rest ?? model.slice(model.lastIndexOf('/') + 1)
  const row = FACTS.get(name) ?? FACTS.get(withoutDate(name)) ?? []
  const told = place === undefined || place === 'global.' ? row : row.slice(0, 1)
  return Object.fromEntries(told.map((value, column) => [COLUMNS[column]!, value]))
}

/** Whether a model that is listed can be called by that name: its own, or, as its alias, the same without a date. */
export function isCalled(listed: string, name: string): boolean {
  return listed === name || withoutDate(listed) === name
}

function withoutDate(name: string): string {
  return name.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
}

/**
 * What that usage costs in US dollars; undefined while the input or output price is unknown.
 *
 * Cached input without a price of its own counts as ordinary input.
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
 * Context windows and list prices as the vendors publish them, read on 2026-11-21; columns as above.
 *
 * A model whose price depends on the length of the prompt, or is announced to change, has its window alone.
 * Surcharges for very long prompts are left out.
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
