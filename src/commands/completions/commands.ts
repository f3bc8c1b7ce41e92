import { constants } from 'node:os'
import { CrabError } from '../../core/base/errors.ts'
import type { Command, Run } from '../command.ts'
import type { Host } from '../host.ts'
import { hasServiceRows, namedRows } from '../service-rows.ts'
import { scriptFor } from './scripts.ts'
import { SHELLS } from './shells.ts'
import { type Candidate, type Suggestion, suggest } from './suggest.ts'

export const completions: Run = async ({ program, options, host }) => {
  const name = options.args[0] ?? ''
  const shell = SHELLS.find((one) => one === (name === 'pwsh' ? 'powershell' : name))
  if (shell === undefined) {
    throw new CrabError('usage', `Cannot complete for ${name}`, { hint: `it is one of ${SHELLS.join(', ')}` })
  }
  host.stdout.write(scriptFor(shell, program))
  return 0
}

/**
 * What completion scripts call: prints `words`, `files` or `folders`, and behind `words` a line `value TAB description` for
 * each that fits. Whatever goes wrong, nothing is said: a person is in the middle of typing.
 */
export const complete: Run = async ({ commands, options, host }) => {
  const [count = '', ...given] = options.args
  const missing = Math.max(0, Math.min(1, Number(count) - given.length) || 0) // some shells drop an empty word
  const words = [...given, ...Array<string>(missing).fill('')]
  const suggestion = suggest(await withServices(commands, host), words)
  if (suggestion.from === 'paths') {
    host.stdout.write(`${suggestion.only}\n`)
    return 0
  }
  const typed = words.at(-1) ?? ''
  const found = suggestion.from === 'words' ? suggestion.candidates : await listed(suggestion, typed, host)
  if (found === 'late') return await leave(host)
  const fitting = found.filter(({ value }) => value.startsWith(typed)).slice(0, MAX_CANDIDATES)
  host.stdout.write(`words\n${fitting.map(toLine).join('')}`)
  return 0
}

/** The table with a row for each service there is. */
async function withServices(commands: readonly Command[], host: Host): Promise<readonly Command[]> {
  if (!hasServiceRows(commands)) return commands
  const { serviceNames } = await import('../up/service/names.ts')
  const names = (await serviceNames(host)).map(({ name }) => name)
  return namedRows(commands, names)
}

async function listed(
  { kind, prefix, agent }: Extract<Suggestion, { from: 'list' }>,
  typed: string,
  host: Host,
): Promise<Candidate[] | 'late'> {
  try {
    const { listKind } = await import('./listed.ts')
    const place = { host, agent, typed: typed.slice(prefix.length) }
    const found = listKind(kind, place, AbortSignal.timeout(LISTING_MS))
    const outcome = await inTime(found)
    if (outcome === 'late') return outcome
    return outcome
      .filter(({ value }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value))
      .map((one) => ({ ...one, value: prefix + one.value }))
  } catch {
    return [] // said by the command itself, once it is run
  }
}

function toLine({ value, description }: Candidate): string {
  const text = description.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  const short = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION - 1)}…` : text
  return short === '' ? `${value}\n` : `${value}\t${short}\n`
}

async function inTime(found: Promise<Candidate[]>): Promise<Candidate[] | 'late'> {
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), MAX_WAIT_MS)
  try {
    return await Promise.race([found, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Says nothing, and ends at once: a file that never answers, such as a named pipe, would keep the process, and the shell waits. */
async function leave(host: Host): Promise<number> {
  host.stdout.write('words\n')
  await host.stdout.flush()
  host.leave(128 + constants.signals.SIGTERM)
  return 0
}

/** When what was found by then is taken. */
const LISTING_MS = 300
/** When nothing is waited for any more. */
const MAX_WAIT_MS = 400
const MAX_CANDIDATES = 200
const MAX_DESCRIPTION = 60
