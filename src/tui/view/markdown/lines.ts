/** What stands before lines; `width` columns wide. */
interface Margin {
  first: string
  rest: string
  width: number
}

/** Below this many columns nothing is indented any more. */
const MIN_COLUMNS = 8

/** Lines behind a margin, as long as there is room for one. */
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
