import type { SessionLine } from './types.ts'

/**
 * Returns the lines that still apply: without the messages that a rewind dropped, and without compactions that
 * were undone. Titles, permissions and selected tools always apply.
 */
export function effectiveLines(lines: readonly SessionLine[]): readonly SessionLine[] {
  if (!hasRewrite(lines)) return lines
  let applied: SessionLine[] = []
  for (const line of lines) {
    if (line.kind !== 'event') applied.push(line)
    else if (line.event === 'rewound') applied = applied.filter((one) => staysBefore(one, line.to))
    else if (line.event === 'compaction_undone') applied = withoutMarker(applied, line.archive_name)
    else applied.push(line)
  }
  return applied
}

/** Whether lines change the meaning of earlier ones, so that the session must be read from its beginning. */
export function hasRewrite(lines: readonly { kind: string; event?: string }[]): boolean {
  return lines.some(
    ({ kind, event }) => kind === 'event' && (event === 'rewound' || event === 'compaction_undone'),
  )
}

/** Returns the `seq` of the messages that a rewind dropped. */
export function droppedMessages(lines: readonly SessionLine[]): ReadonlySet<number> {
  if (!hasRewrite(lines)) return new Set()
  const applicable = new Set(effectiveLines(lines).map(({ seq }) => seq))
  return new Set(lines.flatMap(({ kind, seq }) => (kind === 'entry' && !applicable.has(seq) ? [seq] : [])))
}

/** Whether a line applies after the conversation went back to before the line `to`. */
function staysBefore(line: SessionLine, to: number): boolean {
  if (line.seq < to || line.kind === 'meta') return true
  if (line.kind === 'compact') return line.from !== undefined && line.from <= to // it only replaced earlier messages
  return line.kind === 'event' && (line.event === 'permission' || line.event === 'tools_used')
}

function withoutMarker(lines: readonly SessionLine[], archive: string): SessionLine[] {
  const at = lines.findLastIndex((line) => line.kind === 'compact' && line.archive_name === archive)
  return lines.filter((_, index) => index !== at)
}
