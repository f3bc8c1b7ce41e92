import type { CommandHandler } from '../../cli/command.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError } from '../../core/base/errors.ts'
import { attach } from '../../daemon/attach.ts'
import { openCronFile, readId } from './entries.ts'

/** Runs `crabtalk cron remove`: removes an entry, even an invalid one. */
export const removeCronEntryCommand: CommandHandler = async ({ options, host, signal }) => {
  const id = readId(options.args[0] ?? '')
  await using attached = await attach(host, { signal })
  const isGone = await openCronFile(resolvePaths(host), attached).remove(id, signal)
  if (!isGone) {
    throw new CrabError('missing', `Cannot find the entry ${id}`, {
      hint: 'crabtalk cron list shows all entries',
    })
  }
  host.stdout.write(`removed entry ${id}\n`)
  return 0
}
