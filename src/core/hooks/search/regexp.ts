import { CrabError } from '../../base/errors.ts'
import type { SearchQuery } from './engine.ts'

/**
 * Converts a pattern of ripgrep to JavaScript, as far as the two agree. Throws `invalid` for one that cannot
 * be converted.
 */
export function toRegExp({ pattern, ignoreCase }: SearchQuery): RegExp {
  const [prefix, inline = ''] = /^\(\?([ims]+)\)/.exec(pattern) ?? ['']
  const source = pattern.slice(prefix.length).replace(/\[:(\^?)(\w+):\]/g, toClass)
  const flags = ignoreCase || inline.includes('i') ? 'i' : ''
  try {
    return new RegExp(source, `${flags}u`)
  } catch (reason) {
    if (!LOOSE.test(source)) throw notARegExp(reason)
  }
  try {
    return new RegExp(source, flags)
  } catch (reason) {
    throw notARegExp(reason)
  }
}

/**
 * Matches sources without escaped letters that only some dialects know: these may be compiled without the `u`
 * flag, which rejects `\"` or a lone `}`.
 */
const LOOSE = /^(?:[^\\]|\\[^a-zA-Z]|\\[bBdDfnrsStvwW])*$/s

function toClass(written: string, not: string, name: string): string {
  const members = CLASSES.get(name)
  if (members && not === '') return members
  throw new CrabError('invalid', `Cannot search: the class ${written} is not supported here`)
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', 'a-zA-Z0-9'],
  ['alpha', 'a-zA-Z'],
  ['digit', '0-9'],
  ['lower', 'a-z'],
  ['space', '\\s'],
  ['upper', 'A-Z'],
  ['word', '\\w'],
  ['xdigit', '0-9a-fA-F'],
])

function notARegExp(reason: unknown): CrabError {
  const why = (reason as Error).message.replace(/^.*: /s, '')
  return new CrabError('invalid', `Cannot search: the pattern is not a valid regular expression: ${why}`)
}
