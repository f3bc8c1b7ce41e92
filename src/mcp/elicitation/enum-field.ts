import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { toPrintableLine } from '../tools/server-text.ts'
import type { FieldKind, FieldResult } from './types.ts'

/** A value of a list, with the label the user sees. */
interface Choice {
  value: string
  label: string
}

/**
 * Reads the schema of a field with a list of values, of which one or several are chosen; undefined for any
 * other field.
 */
export function enumField(schema: JsonObject): FieldKind | undefined {
  const { type, items, minItems, maxItems } = schema
  const multiSelect = type === 'array'
  if (multiSelect && !isObject(items)) return undefined
  const choices = readChoices(multiSelect ? (items as JsonObject) : schema)
  if (choices === undefined || choices.length === 0 || choices.length > MAX_CHOICES) return undefined
  const options = choices.map(({ label }) => ({ label, description: '' }))
  if (!multiSelect) return { options, multiSelect, takes: '', read: (answer) => readOne(answer, choices) }
  const [least, most] = [toCount(minItems, 0), toCount(maxItems, choices.length)]
  const takes = least === 0 && most >= choices.length ? '' : `${least} to ${most} of them`
  return {
    options,
    multiSelect,
    takes,
    read: (answer) => readSeveral(answer, choices, { least, most, takes }),
  }
}

/** Reads the values of `enum`, with `enumNames` in older forms, or of titled constants. */
function readChoices({ enum: values, enumNames, oneOf, anyOf }: JsonObject): Choice[] | undefined {
  const titled = oneOf ?? anyOf
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : []
    return withLabels(values.map((value, i) => ({ value, title: names[i] })))
  }
  if (!Array.isArray(titled)) return undefined
  return withLabels(
    titled.map((one) => ({ value: isObject(one) ? one['const'] : undefined, ...readTitle(one) })),
  )
}

function readTitle(one: unknown): { title?: unknown } {
  return isObject(one) ? { title: one['title'] } : {}
}

/** Gives each value a unique label, ignoring case: the user's answer is a label. */
function withLabels(entries: readonly { value: unknown; title?: unknown }[]): Choice[] | undefined {
  const usedLabels = new Set<string>()
  const choices: Choice[] = []
  for (const { value, title } of entries) {
    if (typeof value !== 'string') return undefined
    const name =
      takeStart(toPrintableLine(typeof title === 'string' && title !== '' ? title : value), MAX_LABEL) ||
      '(empty)'
    let label = usedLabels.has(name.toLowerCase())
      ? `${name} (${takeStart(toPrintableLine(value), MAX_LABEL)})`
      : name
    while (usedLabels.has(label.toLowerCase())) label += '′'
    usedLabels.add(label.toLowerCase())
    choices.push({ value, label })
  }
  return choices
}

function readOne(answer: string, choices: readonly Choice[]): FieldResult {
  const found = findChoice(answer.trim(), choices)
  return found ? { value: found.value } : { problem: 'choose one of the listed values' }
}

/** Reads labels joined by ", ", which a label may contain too: the longest match wins. */
function readSeveral(
  answer: string,
  choices: readonly Choice[],
  { least, most, takes }: { least: number; most: number; takes: string },
): FieldResult {
  const values = new Set<string>()
  const pieces = answer.split(', ')
  for (let at = 0; at < pieces.length; ) {
    let end = pieces.length
    let found: Choice | undefined
    for (; end > at && !found; end--) found = findChoice(pieces.slice(at, end).join(', ').trim(), choices)
    if (!found) return { problem: 'choose from the listed values' }
    values.add(found.value)
    at = end + 1
  }
  return values.size < least || values.size > most ? { problem: `it takes ${takes}` } : { value: [...values] }
}

function findChoice(text: string, choices: readonly Choice[]): Choice | undefined {
  const folded = text.toLowerCase()
  return (
    choices.find(({ label }) => label.toLowerCase() === folded) ?? choices.find(({ value }) => value === text)
  )
}

function toCount(value: unknown, fallback: number): number {
  return Number.isInteger(value) ? Math.max(0, value as number) : fallback
}

const MAX_LABEL = 60
/** The most options that a user can reasonably choose from. */
const MAX_CHOICES = 100
