import { ERROR_KINDS, toCrabError } from '../core/base/errors.ts'
import type { CommandOption, ParsedOptions } from './command.ts'
import { formatError } from './error-text.ts'
import type { Host } from './host.ts'

/** Of what launchd runs, which starts again whatever ends with anything but 0. */
export const EXIT_ZERO_OPTION: CommandOption = {
  name: 'give-up',
  summary:
    'Exit with 0 instead of 78 when the configuration is wrong, for service managers that know no better',
}

/** Runs a service; with the option a configuration that is wrong is said, and ends it as if it was done. */
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
