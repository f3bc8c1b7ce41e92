import type { JsonObject } from '../base/message.ts'
import { isTable } from './schema.ts'

/** Renders a table as TOML: one key per line, then lists of tables as `[[key]]` blocks. Nulls are omitted. */
export function renderToml(table: JsonObject): string {
  const entries = Object.entries(table)
  const pairs = entries.filter(([, value]) => !isTableList(value))
  const lists = entries.flatMap(([key, value]) => (isTableList(value) ? [{ key, value }] : []))
  const blocks = lists.flatMap(({ key, value }) => value.map((element) => renderTomlBlock(key, element)))
  return [renderPairs(pairs), ...blocks].filter((part) => part !== '').join('\n')
}

/** Renders one `[[key]]` block. */
export function renderTomlBlock(key: string, table: JsonObject): string {
  return `[[${renderKey(key)}]]\n${renderPairs(Object.entries(table))}`
}

/** Renders a `key = value` line without its line break. */
export function renderPair(key: string, value: unknown): string {
  return `${renderKey(key)} = ${renderValue(value)}`
}

/** Renders a value on one line. */
export function renderValue(value: unknown): string {
  if (typeof value === 'string') return renderString(value)
  if (typeof value === 'number') return renderNumber(value)
  if (Array.isArray(value)) return `[${value.map(renderValue).join(', ')}]`
  if (value instanceof Date) return value.toISOString()
  if (!isTable(value)) return String(value)
  const pairs = Object.entries(value).filter(([, inner]) => isPresent(inner))
  return pairs.length === 0 ? '{}' : `{ ${pairs.map(([key, inner]) => renderPair(key, inner)).join(', ')} }`
}

/** Whether a value is a non-empty list of tables only. */
export function isTableList(value: unknown): value is JsonObject[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable)
}

function renderPairs(pairs: readonly [string, unknown][]): string {
  return pairs
    .filter(([, value]) => isPresent(value))
    .map(([key, value]) => `${renderPair(key, value)}\n`)
    .join('')
}

function renderKey(key: string): string {
  return /^[\w-]+$/.test(key) ? key : renderString(key)
}

function renderString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll('\x7f', '\\u007f')
}

/**
 * Renders a number. It becomes a float where TOML would read an integer that is too large to represent
 * exactly.
 */
function renderNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value).toLowerCase().replace('infinity', 'inf')
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toFixed(1) : String(value)
}

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined
}
