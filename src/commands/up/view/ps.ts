import { wantsColor } from '../../color.ts'
import type { Run } from '../../command.ts'
import { printJson } from '../../print.ts'
import { lookAround } from './look-around.ts'
import { openPlace } from './place.ts'
import { toJson, toParts } from './shown-services.ts'

/** `crabup ps`: every service of this home, from the service manager, from itself and from the system. */
export const ps: Run = async ({ options, host, signal }) => {
  const isJson = options.has('json')
  const place = await openPlace(host, signal)
  if (options.has('watch')) {
    const { watchPs } = await import('./watch-ps.ts')
    return await watchPs({ host, isJson, look: (stop) => lookAround(place, stop) })
  }
  const seen = await lookAround(place, signal)
  if (isJson) return printJson(host, toJson(seen))
  const { table, notes } = await toParts(seen, {
    color: wantsColor('auto', host.env, host.stdout),
    columns: host.stdout.isTerminal ? host.columns() : undefined,
  })
  for (const line of [...table, ...notes]) host.stdout.write(`${line}\n`)
  return 0
}
