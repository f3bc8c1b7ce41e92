import { wantsColor } from '../../color.ts'
import type { Run } from '../../command.ts'
import { printJson } from '../../print.ts'
import { lookAround, type Seen } from './look-around.ts'
import { openPlace } from './place.ts'
import { type PsLines, psJson, psLines } from './ps-lines.ts'

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
  const { table, notes } = await toParts(seen, wantsColor('auto', host.env, host.stdout))
  for (const line of [...table, ...notes]) host.stdout.write(`${line}\n`)
  return 0
}

/** What people see of it: lines of any length; the second part begins with an empty one, if there is one. */
export async function toParts({ at, rows, notes }: Seen, color: boolean): Promise<PsLines> {
  const lines = await psLines(rows, { now: at, color })
  const more = notes.map(({ message, hint }) => (hint === undefined ? message : `${message}: ${hint}`))
  const all = [...lines.notes, ...more]
  return { table: lines.table, notes: all.length > 0 ? ['', ...all] : [] }
}

/** What programs see of it. */
export function toJson({ at, manager, rows, notes }: Seen) {
  return {
    v: 1,
    at: new Date(at).toISOString(),
    manager: { kind: manager.kind, note: manager.note ?? null },
    services: rows.map((row) => psJson(row, at)),
    notes: notes.map(({ message, hint = null }) => ({ message, hint })),
  }
}
