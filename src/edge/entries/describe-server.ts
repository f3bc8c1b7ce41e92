import { quoteWord } from '../../core/base/quote-word.ts'
import { redactValue, redactWords } from '../../core/base/secrets/redact.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { isTable } from '../../core/config/schema.ts'
import { renderValue } from '../../core/config/toml-render.ts'
import type { EdgeServer } from './types.ts'

/**
 * Describes exactly what a server would run, read and send, as lines for the user who decides about it: every
 * value as the file has it, because a part that is left out could be the one that matters.
 */
export function describeServer({
  name,
  table,
  problem,
}: Pick<EdgeServer, 'name' | 'table' | 'problem'>): string[] {
  const title = escapeLine(name)
  if (table['disabled'] === true) return [title, '  turned off here, and not started']
  const { command, args, url, cwd, env, headers, ...rest } = table
  const lines = [
    ...(command === undefined ? [] : [`runs ${joinWords([command, ...toList(args)])}`]),
    ...(command === undefined && args !== undefined ? [`args = ${renderValue(args)}`] : []),
    ...(url === undefined ? [] : [`connects to ${toText(url)}`]),
    ...(cwd === undefined ? [] : [`works in ${toText(cwd)}`]),
    ...toPairs(env).map(([key, value]) => `with ${key}=${toText(value)}`),
    ...toPairs(headers).map(([key, value]) => `sends ${key}: ${toText(value)}`),
    ...Object.entries(rest).map(([key, value]) => `${key} = ${renderValue(value)}`),
    ...(problem === '' ? [] : [`cannot be used: ${problem}`]),
  ]
  return [title, ...lines.map((line) => `  ${escapeLine(line)}`)]
}

/** Describes a server on one line without its secrets, which may be stored to show later what changed. */
export function summarizeServer({ name, table }: Pick<EdgeServer, 'name' | 'table'>): string {
  const { command, args, url, env, headers, ...rest } = table
  const words = redactWords([command, ...toList(args)].filter((word) => word !== undefined).map(toText))
  const { auth: _, ...safe } = rest
  const parts = [
    ...(words.length === 0 ? [] : [words.map(quoteWord).join(' ')]),
    ...(url === undefined ? [] : redactWords([toText(url)])),
    ...toPairs(env).map(([key, value]) => `${key}=${redactValue(toText(value))}`),
    ...toPairs(headers).map(([key, value]) => `${key}: ${redactValue(toText(value))}`),
    ...Object.entries(safe).map(([key, value]) => `${key} = ${renderValue(redactList(value))}`),
  ]
  return escapeLine(`${name}: ${parts.join(', ')}`)
}

/** Redacts the secrets of a command line, such as that of an auth helper. */
function redactList(value: unknown): unknown {
  return Array.isArray(value) ? redactWords(value.map(toText)) : value
}

function joinWords(words: readonly unknown[]): string {
  return words.map((word) => quoteWord(toText(word))).join(' ')
}

function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function toPairs(value: unknown): [string, unknown][] {
  if (value === undefined) return []
  return isTable(value) ? Object.entries(value) : [['', value]]
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : renderValue(value)
}
