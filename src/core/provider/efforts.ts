import { EFFORTS, type Effort } from '../base/effort.ts'

/**
 * Returns the levels of reasoning effort that a model is known to accept, in ascending order; empty when it
 * has none, or when that is not known. Ignores the names of providers in front of the model's own.
 */
export function listEfforts(model: string): readonly Effort[] {
  const name = model.slice(model.lastIndexOf('/') + 1).replace(/^(?:\w+\.)?anthropic\./, '')
  return ROWS.find(([pattern]) => pattern.test(name))?.[1] ?? []
}

/**
 * Returns the level to send to a model. A level that the model does not have becomes the next lower one, or
 * else its lowest. For a model whose levels are not known, only a level that was `requested` for this turn is
 * sent.
 */
export function fitEffort(
  model: string,
  { requested, usual }: { requested: Effort | undefined; usual: Effort | undefined },
): Effort | undefined {
  const levels = listEfforts(model)
  if (levels.length === 0) return requested
  const level = requested ?? usual
  if (level === undefined) return undefined
  const most = EFFORTS.indexOf(level)
  return levels.findLast((one) => EFFORTS.indexOf(one) <= most) ?? levels[0]
}

const THREE = ['low', 'medium', 'high'] as const
const FOUR = ['minimal', ...THREE] as const
const WITH_XHIGH = [...THREE, 'xhigh'] as const
const ALL_BUT_MINIMAL = [...WITH_XHIGH, 'max'] as const

/** The levels by the names of models, as published by the vendors on 2026-11-21; the first match counts. */
const ROWS: readonly (readonly [RegExp, readonly Effort[]])[] = [
  [/^claude-[a-z]+-5(?!\d)|^claude-opus-4-[78](?!\d)/, ALL_BUT_MINIMAL],
  [/^claude-(opus|sonnet)-4-6(?!\d)/, [...THREE, 'max']],
  [/^claude-[a-z]+-4(?!\d)|^claude-3-7-/, THREE],
  [/^gpt-5(\.\d+)?-chat/, []],
  [/^gpt-([6-9]|\d\d)(?!\d)|^gpt-5\.([6-9]|\d\d)(?!\d)/, ALL_BUT_MINIMAL],
  [/^gpt-5\.[2-5](?!\d)/, WITH_XHIGH],
  [/^gpt-5\.1(?!\d)/, THREE],
  [/^gpt-5(?![.\d])/, FOUR],
  [/^o\d+(-|$)|^gpt-oss-/, THREE],
  [/^gemini-([3-9](\.\d+)?)-flash/, FOUR],
  [/^gemini-(2\.5|[3-9])/, THREE],
  [/^(\w+\.)?amazon\.nova-2-lite/, THREE],
]
