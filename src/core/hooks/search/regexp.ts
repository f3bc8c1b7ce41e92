import { CrabError } from '../../base/errors.ts'
import type { SearchQuery } from './engine.ts'

/** A pattern of ripgrep's as JavaScript has it, as far as the two agree. Throws `invalid` for what it cannot say. */
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

/** Without a letter that only some dialects escape: what is left may be said loosely, such as `\"` or a lone `}`. */
const LOOSE = /^(?:[^\\]|\\[^a-zA-Z]|\\[bBdDfnrsStvwW])*$/s

function toClass(written: string, not: string, name: string): string {
  const members = CLASSES.get(name)
  if (members && not === '') return members
  throw new CrabError('invalid', `Cannot search: the class ${written} is not known here`)
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
  return new CrabError('invalid', `Cannot search: the pattern is no regular expression: ${why}`)
}
