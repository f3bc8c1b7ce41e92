import type { CommandHandler } from '../../../cli/command.ts'
import { resolvePaths } from '../../../cli/paths.ts'
import { removeLogs } from '../../../up/logs/log-files.ts'
import { removePackage } from '../../../up/packages/components.ts'
import { bytesText } from './facts-text.ts'
import { openPackagePorts } from './package-ports.ts'

/** `crabup rm`: stops the service of a component and removes its package and its logs. */
export const removeComponentCommand: CommandHandler = async ({ options, host, commands, signal }) => {
  await using open = await openPackagePorts({ host, options, commands, signal })
  const name = await removePackage(options.args[0] ?? '', open.ports, open.signal)
  const bytes = await removeLogs(resolvePaths(host).logs, name)
  open.status.clear()
  host.stdout.write(`removed ${name}${bytes > 0 ? ` and its logs (${bytesText(bytes)})` : ''}\n`)
  return 0
}
