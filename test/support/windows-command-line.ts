/**
 * Splits a command line after the program name as CommandLineToArgvW documents it: 2n backslashes before a
 * quote stand for n, and the quote is a delimiter; 2n + 1 stand for n and a literal quote; other backslashes
 * are literal. A doubled quote within quotes is a literal quote.
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
