/** A line without line breaks, cut to a width; the colours of what is left out still end. */
export function truncateAnsi(line: string, columns: number, width: (text: string) => number): string {
  if (width(line) <= columns) return line
  let kept = ''
  let used = 0
  let isCut = false
  for (const part of line.split(SGR)) {
    if (part.startsWith('\u001b')) kept += part
    else {
      for (const char of isCut ? '' : part) {
        isCut = used + width(char) > columns - 1
        if (isCut) break
        used += width(char)
        kept += char
      }
    }
  }
  return `${kept}…`
}

/** A line broken between words so that each piece fits a width where its words do; the pieces behind the first are indented. */
export function wrapAnsi(line: string, columns: number, width: (text: string) => number): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const word of line.split(/(?<=\S) /)) {
    if (piece !== '' && width(`${piece} ${word}`) > columns) {
      pieces.push(piece)
      piece = `    ${word}`
    } else piece = piece === '' ? word : `${piece} ${word}`
  }
  return [...pieces, piece]
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
const SGR = /(\u001b\[[0-9;]*m)/
