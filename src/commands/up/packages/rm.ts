import { removeLogs } from '../../../up/logs/remove-logs.ts'
import { removePackage } from '../../../up/packages/remove.ts'
import type { Run } from '../../command.ts'
import { pathsOf } from '../../paths.ts'
import { bytesText } from './facts-text.ts'
import { openPorts } from './package-ports.ts'

/** `crabup rm`: ends the service of a component and removes its package and its logs. */
export const rm: Run = async ({ options, host, commands, signal }) => {
  await using open = await openPorts({ host, options, commands, signal })
  const name = await removePackage(options.args[0] ?? '', open.ports, open.signal)
  const bytes = await removeLogs(pathsOf(host).logs, name)
  open.status.clear()
  host.stdout.write(`removed ${name}${bytes > 0 ? ` and its logs (${bytesText(bytes)})` : ''}\n`)
  return 0
}
