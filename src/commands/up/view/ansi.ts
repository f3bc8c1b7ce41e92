/** Truncates a line to a width; color sequences of the removed part are kept, so that colors still end. */
export function truncateAnsi(line: string, columns: number, width: (text: string) => number): string {
  if (width(line) <= columns) return line
  let result = ''
  let used = 0
  let isCut = false
  for (const part of line.split(SGR)) {
    if (part.startsWith('\u001b')) result += part
    else {
      for (const char of isCut ? '' : part) {
        isCut = used + width(char) > columns - 1
        if (isCut) break
        used += width(char)
        result += char
      }
    }
  }
  return `${result}…`
}

/** Wraps a line between words to a width; a longer word is not broken. Continuation lines are indented. */
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is meant to match escape sequences
const SGR = /(\u001b\[[0-9;]*m)/
