import { CrabError } from '../base/errors.ts'
import { replaceFile } from '../base/files.ts'
import { parseStatements, parseVariables, stripBom } from './env-file-text.ts'
import { readTextFile } from './load-config.ts'

/** The variables of a file of `KEY=VALUE` lines, as `node --env-file` reads them; none where there is no such file. Fails with `storage`. */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parseVariables((await readTextFile(path)) ?? '')
}

/**
 * Sets variables in such a file, mode 0600; other lines stay as they are. They stand at its end, and at its beginning where
 * a line before them would swallow them: one with a quote that is not closed.
 *
 * Values are written in single quotes, the one form that systemd, Node and a shell read alike. Fails with `invalid` on
 * one that cannot stand in them, `storage` otherwise.
 */
export async function setInEnvFile(path: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}`)
  const before = stripBom((await readTextFile(path)) ?? OPENING)
  const rows = before.split('\n')
  const kept = [...parseStatements(before)]
    .filter(({ name = '' }) => !Object.hasOwn(variables, name))
    .flatMap(({ at, count }) => rows.slice(at, at + count))
  const text = `${kept.join('\n').replace(/\n*$/, '\n')}${lines.join('\n')}\n`
  await replaceFile(path, hasAll(text, variables) ? text : `${[...lines, ...kept].join('\n').trimEnd()}\n`)
}

function hasAll(text: string, variables: Readonly<Record<string, string>>): boolean {
  const read = parseVariables(text)
  return Object.entries(variables).every(([name, value]) => read[name] === value)
}

function quoted(name: string, value: string): string {
  if (/^[^'\p{Cc}]*$/u.test(value)) return `'${value}'`
  throw new CrabError('invalid', `Cannot keep ${name}: its value has a quote or a line break`, {
    hint: 'was it copied as a whole, and nothing else?',
  })
}

const OPENING = "# Variables of services: KEY='value'. Only you can read this file.\n"
