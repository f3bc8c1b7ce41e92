import fc from 'fast-check'

const WORD = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...'abcdefghij') })
const SENTENCE = fc.array(WORD, { minLength: 1, maxLength: 30 }).map((words) => words.join(' '))

/** Pieces of Markdown, complete and broken. */
const LINE = fc.oneof(
  { weight: 6, arbitrary: SENTENCE },
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 2, arbitrary: SENTENCE.map((text) => `- ${text}`) },
  { weight: 2, arbitrary: SENTENCE.map((text) => `  - ${text}`) },
  { weight: 2, arbitrary: SENTENCE.map((text) => `3. ${text}`) },
  { weight: 2, arbitrary: SENTENCE.map((text) => `    ${text}`) },
  { weight: 2, arbitrary: SENTENCE.map((text) => `> ${text}`) },
  { weight: 2, arbitrary: SENTENCE.map((text) => `| ${text} | ${text} |`) },
  fc.constantFrom('| - | - |', '|:-:|--:|', '---', '***', '===', '# h', '## h ##', '-', '1.', '>', '> > q'),
  fc.constantFrom('```', '```js', '~~~', '````', '  ```', '   ```py title="x"', '``` `', '\t- tab', '\ttab'),
  fc.constantFrom('[a]: http://x', '<div>', '<!--', '-->', '**', '`', '![a](b)', '[x](y "z")', '\\', '&lt;'),
  fc.string({ maxLength: 12, unit: fc.constantFrom(...'*_`[]()<>#-+|~!\\ \t1.ab😀é') }),
)

/** Markdown of many blocks, with either line break, sometimes with very long lines. */
export const DOCUMENT: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(
      fc.oneof(
        { weight: 40, arbitrary: LINE },
        { weight: 1, arbitrary: SENTENCE.map((s) => `${s} `.repeat(60)) },
      ),
      {
        maxLength: 90,
        size: 'max',
      },
    ),
    fc.constantFrom('\n', '\n', '\r\n'),
    fc.boolean(),
  )
  .map(([lines, end, ends]) => lines.join(end) + (ends ? end : ''))

/** Splits a text into pieces. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...cuts].map((from, i) => text.slice(from, cuts[i]))
}
