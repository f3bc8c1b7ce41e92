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
  if (options.has('yes')) return true
  using terminal = host.stdinKind() === 'terminal' ? host.terminal() : undefined
  if (!terminal) return undefined
  terminal.forgetInput()
  terminal.output.write(`${sanitize(question)} [y/N] `)
  const answer = await terminal.readLine(signal)
  if (answer === undefined) terminal.output.write('\n')
  return /^y(es)?$/i.test((answer ?? '').trim())
}

/** Returns the error of a command that the user declined. */
export function declinedError(what: string): CrabError {
  return new CrabError('denied', `Cannot ${what}: you answered no`)
}
