import { CrabError } from '../base/errors.ts'
import { replaceFile } from '../base/files.ts'
import { parseVariables, statementsOf } from './env-file-text.ts'
import { readText } from './load-config.ts'

/** The variables of a file of `KEY=VALUE` lines, as `node --env-file` reads them; none where there is no such file. Fails with `storage`. */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parseVariables((await readText(path)) ?? '')
}

/**
 * Sets variables in such a file, mode 0600; other lines stay as they are.
 *
 * Values are written in single quotes, the one form that systemd, Node and a shell read alike. Fails with `invalid` on
 * one that cannot stand in them, `storage` otherwise.
 */
export async function setInEnvFile(path: string, variables: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${quoted(name, value)}`)
  const before = (await readText(path)) ?? OPENING
  const rows = before.split('\n')
  const kept = [...statementsOf(before)].filter(({ name = '' }) => !Object.hasOwn(variables, name))
  const text = kept
    .flatMap(({ at, count }) => rows.slice(at, at + count))
    .join('\n')
    .replace(/\n*$/, '\n')
  await replaceFile(path, `${text}${lines.join('\n')}\n`)
}

function quoted(name: string, value: string): string {
  if (/^[^'\p{Cc}]*$/u.test(value)) return `'${value}'`
  throw new CrabError('invalid', `Cannot keep ${name}: its value has a quote or a line break`, {
    hint: 'was it copied as a whole, and nothing else?',
  })
}

const OPENING = "# Variables of services: KEY='value'. Only you can read this file.\n"
