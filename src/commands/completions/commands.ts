import { constants } from 'node:os'
import type { Command, CommandHandler } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { expandServiceRows, hasServiceRows } from '../../cli/service-rows.ts'
import { waitAtMost } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import { scriptFor } from './scripts.ts'
import { COMPLETION_SHELLS } from './shells.ts'
import { type Suggestion, suggest, type WordCompletion } from './suggest.ts'

/** Runs `crabtalk completions`: prints a completion script. Throws `usage` for an unknown shell. */
export const completionsCommand: CommandHandler = async ({ program, options, host }) => {
  const name = options.args[0] ?? ''
  const shell = COMPLETION_SHELLS.find((one) => one === (name === 'pwsh' ? 'powershell' : name))
  if (shell === undefined) {
    throw new CrabError('usage', `Cannot complete for ${name}`, {
      hint: `choose one of ${COMPLETION_SHELLS.join(', ')}`,
    })
  }
  host.stdout.write(scriptFor(shell, program))
  return 0
}

/**
 * Prints the completions that completion scripts ask for: `words`, `files` or `folders`, and after `words`
 * one line `value TAB description` per candidate. Failures are silent, because the user is in the middle of
 * typing.
 */
export const completeCommand: CommandHandler = async ({ commands, options, host }) => {
  const [count = '', ...rest] = options.args
  const missing = Math.max(0, Math.min(1, Number(count) - rest.length) || 0) // some shells drop an empty word
  const words = [...rest, ...Array<string>(missing).fill('')]
  const suggestion = suggest(await withServices(commands, host), words)
  if (suggestion.from === 'paths') {
    host.stdout.write(`${suggestion.only}\n`)
    return 0
  }
  const typed = words.at(-1) ?? ''
  const found =
    suggestion.from === 'words' ? suggestion.candidates : await listCandidates(suggestion, typed, host)
  if (!found) return await exitSilently(host)
  const fitting = found.filter(({ value }) => value.startsWith(typed)).slice(0, MAX_CANDIDATES)
  host.stdout.write(`words\n${fitting.map(toLine).join('')}`)
  return 0
}

/** Returns the table with a row for each service. */
async function withServices(commands: readonly Command[], host: Host): Promise<readonly Command[]> {
  if (!hasServiceRows(commands)) return commands
  const { serviceNames } = await import('../up/service/names.ts')
  const names = (await serviceNames(host)).map(({ name }) => name)
  return expandServiceRows(commands, names)
}

/** Returns undefined when listing takes too long. */
async function listCandidates(
  { kind, prefix, agent }: Extract<Suggestion, { from: 'list' }>,
  typed: string,
  host: Host,
): Promise<WordCompletion[] | undefined> {
  try {
    const { listKind } = await import('./list-kind.ts')
    const place = { host, agent, typed: typed.slice(prefix.length) }
    const found = listKind(kind, place, AbortSignal.timeout(LISTING_MS))
    const listed = await waitAtMost(found, MAX_WAIT_MS)
    return listed
      ?.filter(({ value }) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value))
      .map((one) => ({ ...one, value: prefix + one.value }))
  } catch {
    return [] // the command itself reports it when it is run
  }
}

function toLine({ value, description }: WordCompletion): string {
  const text = description.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
  const short = text.length > MAX_DESCRIPTION ? `${text.slice(0, MAX_DESCRIPTION - 1)}…` : text
  return short === '' ? `${value}\n` : `${value}\t${short}\n`
}

/**
 * Prints no candidates and exits immediately: a file that never answers, such as a named pipe, would keep the
 * process alive while the shell waits.
 */
async function exitSilently(host: Host): Promise<number> {
  host.stdout.write('words\n')
  await host.stdout.flush()
  host.leave(128 + constants.signals.SIGTERM)
  return 0
}

/** The time limit of a listing in milliseconds; what was found by then is used. */
const LISTING_MS = 300
/** The time in milliseconds after which nothing is waited for any more. */
const MAX_WAIT_MS = 400
const MAX_CANDIDATES = 200
const MAX_DESCRIPTION = 60
