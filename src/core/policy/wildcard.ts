/** Whether a text is these pieces with anything, also nothing, between them. Takes time in proportion to the text. */
export function matchesPieces(pieces: readonly string[], text: string): boolean {
  const [first = '', ...others] = pieces
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const piece of others) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return text.length - at >= last.length && text.endsWith(last)
}

/** Whether some text that begins with this one could be these pieces. */
export function couldMatch([first = '', ...others]: readonly string[], beginning: string): boolean {
  return first.startsWith(beginning) || (others.length > 0 && beginning.startsWith(first))
}
