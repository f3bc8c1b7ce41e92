import type { ServicesSnapshot } from '../../../up/services/collect-services.ts'
import { type PsLines, type PsStyle, psJson, psLines } from './ps-lines.ts'

/**
 * Renders services for display: a table that fits the width, and notes of any length, preceded by an empty
 * line if there are any.
 */
export async function toParts(
  { at, rows, notes }: ServicesSnapshot,
  style: Omit<PsStyle, 'now'>,
): Promise<PsLines> {
  const lines = await psLines(rows, { now: at, ...style })
  const more = notes.map(({ message, hint }) => (hint === undefined ? message : `${message}: ${hint}`))
  const all = [...lines.notes, ...more]
  return { table: lines.table, notes: all.length > 0 ? ['', ...all] : [] }
}

/** Converts a snapshot to its JSON output. */
export function toJson({ at, manager, rows, notes }: ServicesSnapshot) {
  return {
    v: 1,
    at: new Date(at).toISOString(),
    manager: { kind: manager.kind, note: manager.note ?? null },
    services: rows.map((row) => psJson(row, at)),
    notes: notes.map(({ message, hint = null }) => ({ message, hint })),
  }
}
