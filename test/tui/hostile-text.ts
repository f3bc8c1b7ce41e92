import fc from 'fast-check'

/** Texts that a model, a tool or a server may send to control the terminal or to deceive the reader. */
const PIECES = [
  '\u001b[2J',
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\u001b]52;c;ZXZpbA==\u001b\\',
  '\u001bP1$r\u001b\\',
  '\u009b2J',
  '\u0090x\u009c',
  '\u001b',
  '\r',
  '\n',
  '\t',
  '\b',
  '\u0000',
  '\u007f',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u200d',
  '\u2028',
  '\ufeff',
  '\ud800',
  'e\u0301\u0301\u0301\u0301\u0301\u0301',
  '日本語',
  '👩‍👩‍👧‍👦',
  '🇨🇭',
  'a word ',
  '    ',
  'averyveryveryveryveryveryveryverylongword',
  '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n',
]

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
)

/** Returns what a line may not contain: control sequences and invisible characters, except colors (SGR). */
export function findUnprintable(line: string): string[] {
  const text = line.replaceAll(SGR, '')
  return [...text.matchAll(UNPRINTABLE)].map(([char]) => JSON.stringify(char))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const SGR = /\u001b\[[0-9;]*m/g
const UNPRINTABLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
