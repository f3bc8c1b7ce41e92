/** The prefixes of the first line and of the others, each `width` columns wide. */
interface Margin {
  first: string
  rest: string
  width: number
}

/** The minimum columns for content; with fewer, nothing is indented. */
const MIN_COLUMNS = 8

/** Renders lines with a margin when there is enough space for one. */
export function indentLines(
  columns: number,
  margin: Margin,
  render: (columns: number) => readonly string[],
): string[] {
  if (columns - margin.width < MIN_COLUMNS) return [...render(columns)]
  const lines = render(columns - margin.width)
  return lines.map((line, i) => {
    const start = i === 0 ? margin.first : margin.rest
    return line === '' ? start.trimEnd() : start + line
  })
}
