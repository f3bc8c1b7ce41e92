import { CrabError } from '../base/errors.ts'
import { replaceFile } from '../base/files.ts'
import { parseStatements, parseVariables, stripBom } from './env-file-text.ts'
import { readTextFile } from './load-config.ts'

/**
 * Reads the variables of a file of `KEY=VALUE` lines as `node --env-file` does; empty when the file does not
 * exist. Throws `storage`.
 */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parseVariables((await readTextFile(path)) ?? '')
}

/**
 * Sets variables in an environment file, mode 0600; other lines stay as they are. The variables are appended,
 * or put at the beginning when a line with an unclosed quote would swallow them.
 *
 * Values are written in single quotes, the only form that systemd, Node and shells read alike. Throws
 * `invalid` for a value that cannot be written that way, `storage` otherwise.
 */
export async function setInEnvFile(path: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoteValue(name, value)}`)
  const before = stripBom((await readTextFile(path)) ?? OPENING)
  const rows = before.split('\n')
  const remaining = [...parseStatements(before)]
    .filter(({ name = '' }) => !Object.hasOwn(variables, name))
    .flatMap(({ at, count }) => rows.slice(at, at + count))
  const text = `${remaining.join('\n').replace(/\n*$/, '\n')}${lines.join('\n')}\n`
  await replaceFile(
    path,
    hasAll(text, variables) ? text : `${[...lines, ...remaining].join('\n').trimEnd()}\n`,
  )
}

function hasAll(text: string, variables: Readonly<Record<string, string>>): boolean {
  const read = parseVariables(text)
  return Object.entries(variables).every(([name, value]) => read[name] === value)
}

function quoteValue(name: string, value: string): string {
  if (/^[^'\p{Cc}]*$/u.test(value)) return `'${value}'`
  throw new CrabError('invalid', `Cannot store ${name}: its value has a quote or a line break`, {
    hint: 'check that you copied all of it and nothing else',
  })
}

const OPENING = "# Variables of services: KEY='value'. Only you can read this file.\n"
