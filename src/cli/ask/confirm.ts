import { CrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { ParsedOptions } from '../command.ts'
import type { Host } from '../host.ts'

/**
 * Asks the user to confirm, unless --yes was given: `y` or `yes` on the terminal confirms, anything else
 * declines.
 *
 * Returns undefined when the user cannot be asked: standard input is not a terminal, or there is no terminal
 * to ask on.
 */
export async function confirm(
  question: string,
  { options, host }: { options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<boolean | undefined> {
  return options.has('yes') || (await askYesNo(question, { host, fallback: 'no' }, signal))
}

/**
 * Asks the user a question; Enter alone gives the fallback, and the end of input, or any other text, means no.
 *
 * Returns undefined when the user cannot be asked: standard input is not a terminal, or there is no terminal
 * to ask on.
 */
export async function askYesNo(
  question: string,
  { host, fallback }: { host: Host; fallback: 'yes' | 'no' },
  signal: AbortSignal,
): Promise<boolean | undefined> {
  using terminal = host.stdinKind() === 'terminal' ? host.terminal() : undefined
  if (!terminal) return undefined
  terminal.forgetInput()
  terminal.output.write(`${sanitize(question)} ${fallback === 'yes' ? '[Y/n]' : '[y/N]'} `)
  const answer = (await terminal.readLine(signal))?.trim()
  if (answer === undefined) terminal.output.write('\n')
  return answer === '' ? fallback === 'yes' : /^y(es)?$/i.test(answer ?? '')
}

/**
 * Asks the user before something is deleted that cannot be restored, unless --yes was given. `task` is the
 * verb and object of the error. Throws `denied` for a no, and when the user cannot be asked.
 */
export async function requireConsent(
  question: string,
  { task, options, host }: { task: string; options: ParsedOptions; host: Host },
  signal: AbortSignal,
): Promise<void> {
  const answer = await confirm(question, { options, host }, signal)
  if (answer === true) return
  if (answer === false) throw declinedError(task)
  throw new CrabError('denied', `Cannot ${task}: there is no terminal to ask for confirmation`, {
    hint: 'add --yes to do it without asking',
  })
}

/** Returns the error of a command that the user declined. */
export function declinedError(what: string): CrabError {
  return new CrabError('denied', `Cannot ${what}: you answered no`)
}
