import type { Run } from '../command.ts'
import { withEnvFile } from '../env-file.ts'

/** `crabtalk cron run [id]`: the scheduler, in the foreground; with an id that entry, now. */
export const run: Run = async ({ options, host }) => {
  const at = await withEnvFile(host, options.value('env-file'))
  const [id] = options.args
  if (id === undefined) return await (await import('./run-scheduler.ts')).runScheduler(at)
  return await (await import('./run-now.ts')).runNow({ id, host: at, options })
}
