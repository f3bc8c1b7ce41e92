/** A part of the live region: lines no wider than the terminal that contain only text and colors (SGR). */
export interface Section {
  lines: readonly string[]
  /** The column and line of the hardware cursor in this section. At most one section has a caret. */
  caret?: { x: number; y: number } | undefined
  /** The end at which lines are dropped first when space is short: the top or the bottom. */
  cut: 'head' | 'tail'
  /** Sections with the lowest rank are cut first. */
  rank: number
}

/** The lines that fit, and the caret if its line is among them. */
export interface FittedLines {
  lines: readonly string[]
  caret: { x: number; y: number } | undefined
}

/** Fits sections, from top to bottom, into at most `most` lines. */
export function fitSections(sections: readonly Section[], most: number): FittedLines {
  const room = Math.max(0, most)
  let surplus = sections.reduce((sum, { lines }) => sum + lines.length, 0) - room
  const taken = new Map<Section, number>()
  for (const section of sections.toSorted((a, b) => a.rank - b.rank)) {
    const cut = Math.min(Math.max(0, surplus), section.lines.length)
    taken.set(section, cut)
    surplus -= cut
  }
  const lines: string[] = []
  let caret: FittedLines['caret']
  for (const section of sections) {
    const cut = taken.get(section)!
    const start = section.cut === 'head' ? cut : 0
    const end = section.lines.length - (section.cut === 'tail' ? cut : 0)
    const y = section.caret === undefined ? -1 : section.caret.y - start
    if (section.caret && y >= 0 && y < end - start) caret = { x: section.caret.x, y: lines.length + y }
    lines.push(...section.lines.slice(start, end))
  }
  return { lines, caret }
}
