import type { CommandHandler } from '../../cli/command.ts'
import { withEnvFile } from '../../cli/env-file.ts'
import { exitZeroOnConfigError } from '../../cli/exit-zero-on-config-error.ts'

/** Runs `crabtalk cron run [id]`: the scheduler in the foreground or, with an id, that entry now. */
export const runCronCommand: CommandHandler = async ({ program, options, host }) => {
  const at = await withEnvFile(host, options.value('env-file'))
  const [id] = options.args
  if (id === undefined) {
    const { startScheduler } = await import('./start-scheduler.ts')
    return await exitZeroOnConfigError({ program, options, host }, () => startScheduler(at))
  }
  return await (await import('./run-now.ts')).runNow({ id, host: at, options })
}
