import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { parseDuration } from '../../cli/duration.ts'
import { withEnvFile } from '../../cli/env-file.ts'
import { exitZeroOnConfigError } from '../../cli/exit-zero-on-config-error.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { runDaemon } from '../../daemon/serve/run-daemon.ts'

/** Runs `crabtalk daemon run`: the daemon in the foreground, which is also what a unit file runs. */
export const runDaemonCommand: CommandHandler = async ({ program, options, host }) => {
  const idle = options.value('idle-exit')
  const own = await withEnvFile(host, options.value('env-file'))
  return await exitZeroOnConfigError({ program, options, host }, () =>
    runDaemon(own, {
      paths: resolvePaths(own),
      idleExitMs: idle === undefined ? undefined : parseDuration('idle-exit', idle) || undefined,
      tcpPort: readPort(options),
    }),
  )
}

function readPort(options: ParsedOptions): number | undefined {
  const text = options.value('port')
  if (text === undefined) return options.has('tcp') ? DEFAULT_PORT : undefined
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new CrabError('usage', `Cannot use --port ${text}: it is not a port`, {
    hint: 'a number from 0 to 65535; 0 picks a free one',
  })
}

const DEFAULT_PORT = 6688
