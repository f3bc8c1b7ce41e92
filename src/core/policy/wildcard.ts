/** Whether a text consists of these pieces with anything, or nothing, between them. Takes linear time. */
export function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of others) {
    const index = text.indexOf(piece, at)
    if (index < 0) return false
    at = index + piece.length
  }
  return text.length - at >= last.length && text.endsWith(last)
}

/** Whether a text that starts with `beginning` could match these pieces. */
export function couldMatch([first = '', ...others]: readonly string[], beginning: string): boolean {
  return first.startsWith(beginning) || (others.length > 0 && beginning.startsWith(first))
}
