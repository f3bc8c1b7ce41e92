import { removePackage } from '../../../up/packages/remove.ts'
import type { Run } from '../../command.ts'
import { openPorts } from './package-ports.ts'

/** `crabup rm`: ends the service of a component and removes its package. */
export const rm: Run = async ({ options, host, commands, signal }) => {
  await using open = await openPorts({ host, options, commands, signal })
  const name = await removePackage(options.args[0] ?? '', open.ports, open.signal)
  open.status.clear()
  host.stdout.write(`removed ${name}\n`)
  return 0
}
