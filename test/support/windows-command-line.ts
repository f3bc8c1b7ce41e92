/**
 * The words of a command line behind the name of the program, as CommandLineToArgvW documents it: 2n backslashes before
 * a quote are n and the quote is none of the text, 2n + 1 are n and a quote of the text, others are themselves. A quote
 * twice within quotes is one of the text.
 */
export function splitCommandLine(line: string): string[] {
  const words: string[] = []
  let index = 0
  while (index < line.length) {
    if (isBlank(line[index])) index++
    else {
      const { word, end } = readWord(line, index)
      words.push(word)
      index = end
    }
  }
  return words
}

function readWord(line: string, start: number): { word: string; end: number } {
  let [word, isQuoted, index] = ['', false, start]
  while (index < line.length && (isQuoted || !isBlank(line[index]))) {
    const slashes = /^\\*/.exec(line.slice(index))![0].length
    if (line[index + slashes] !== '"') {
      word += slashes > 0 ? '\\'.repeat(slashes) : line[index]
      index += Math.max(slashes, 1)
      continue
    }
    word += '\\'.repeat(Math.floor(slashes / 2))
    index += slashes + 1
    if (slashes % 2 === 1) word += '"'
    else if (isQuoted && line[index] === '"') {
      word += '"'
      index++
    } else isQuoted = !isQuoted
  }
  return { word, end: index }
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t'
}
