import { ERROR_KINDS, toCrabError } from '../core/base/errors.ts'
import type { CommandOption, ParsedOptions } from './command.ts'
import { formatError } from './error-text.ts'
import type { Host } from './host.ts'

/** The option for services of launchd, which restarts everything that exits with a code other than 0. */
export const EXIT_ZERO_OPTION: CommandOption = {
  name: 'give-up',
  summary:
    'Exit with 0 instead of 78 on configuration errors, for service managers that would only restart it',
}

/** Runs a service; with the option, an invalid configuration is reported and the exit code is 0. */
export async function exitZeroOnConfigError(
  { program, options, host }: { program: string; options: ParsedOptions; host: Host },
  run: () => Promise<number>,
): Promise<number> {
  try {
    return await run()
  } catch (reason) {
    const error = toCrabError(reason)
    if (!options.has('give-up') || ERROR_KINDS[error.kind].exit !== ERROR_KINDS.config.exit) throw reason
    host.stderr.write(formatError(error, { program, debug: options.has('debug'), color: false }))
    return 0
  }
}
