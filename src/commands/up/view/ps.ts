import { wantsColor } from '../../../cli/color.ts'
import type { CommandHandler } from '../../../cli/command.ts'
import { printJson } from '../../../cli/print.ts'
import { collectServices } from '../../../up/services/collect-services.ts'
import { openServicesContext } from '../../../up/services/services-context.ts'
import { toJson, toParts } from './services-output.ts'

/**
 * `crabup ps`: lists every service of this home with facts from its manager, from itself and from the system.
 */
export const listServicesCommand: CommandHandler = async ({ options, host, signal }) => {
  const isJson = options.has('json')
  const context = await openServicesContext(host, signal)
  if (options.has('watch')) {
    const { watchPs } = await import('./watch-ps.ts')
    return await watchPs({ host, isJson, collect: (stop) => collectServices(context, stop) })
  }
  const snapshot = await collectServices(context, signal)
  if (isJson) return printJson(host, toJson(snapshot))
  const { table, notes } = await toParts(snapshot, {
    color: wantsColor('auto', host.env, host.stdout),
    columns: host.stdout.isTerminal ? host.columns() : undefined,
  })
  for (const line of [...table, ...notes]) host.stdout.write(`${line}\n`)
  return 0
}
