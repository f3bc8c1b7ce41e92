/** A part of the live region: lines no wider than the terminal, with nothing in them but text and colours (SGR). */
export interface Section {
  lines: readonly string[]
  /** Where the hardware cursor stands, column and line in this section; at most one section has one. */
  caret?: { x: number; y: number } | undefined
  /** Which lines go first when there is no room: those at the top, or those at the bottom. */
  cut: 'head' | 'tail'
  /** The lowest rank is cut first. */
  rank: number
}

/** What fits: the lines, and the caret if its line is among them. */
export interface FittedLines {
  lines: readonly string[]
  caret: { x: number; y: number } | undefined
}

/** Fits sections, from top to bottom, into `most` lines. Nothing that comes out is ever higher. */
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
