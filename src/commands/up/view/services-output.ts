import type { ServicesSnapshot } from './collect-services.ts'
import { type PsLines, type PsStyle, psJson, psLines } from './ps-lines.ts'

/** What people see of services: the table as it fits so many columns, and lines of any length, the first an empty one, if there is one. */
export async function toParts(
  { at, rows, notes }: ServicesSnapshot,
  style: Omit<PsStyle, 'now'>,
): Promise<PsLines> {
  const lines = await psLines(rows, { now: at, ...style })
  const more = notes.map(({ message, hint }) => (hint === undefined ? message : `${message}: ${hint}`))
  const all = [...lines.notes, ...more]
  return { table: lines.table, notes: all.length > 0 ? ['', ...all] : [] }
}

/** What programs see of services. */
export function toJson({ at, manager, rows, notes }: ServicesSnapshot) {
  return {
    v: 1,
    at: new Date(at).toISOString(),
    manager: { kind: manager.kind, note: manager.note ?? null },
    services: rows.map((row) => psJson(row, at)),
    notes: notes.map(({ message, hint = null }) => ({ message, hint })),
  }
}
