/** The text at the end of the last chunk of a long answer. */
export const END = 'finis-7f3a'

/** Creates a long Markdown answer in `count` chunks of 50 bytes; the last one contains END. */
export function markdownChunks(count: number): string[] {
  const text = DOCUMENT.repeat(Math.ceil((count * CHUNK_BYTES) / DOCUMENT.length))
  return Array.from({ length: count }, (_, at) =>
    at === count - 1 ? `\n\n${END}\n` : text.slice(at * CHUNK_BYTES, (at + 1) * CHUNK_BYTES),
  )
}

const CHUNK_BYTES = 50

const DOCUMENT = `## A section of a long answer

The first paragraph has *emphasis*, **weight**, \`code\` and [a link](https://example.com/page), as answers of models do,
and goes on for a second line so that it has to be wrapped on most terminals.

- one point, and why it counts
- another point with \`inline code\`
  1. something below it
  2. and something else

\`\`\`ts
export function add(a: number, b: number): number {
  return a + b // what else
}
\`\`\`

| column | another | number |
|---|---|---:|
| first | some words | 1 |
| second | more of them | 22 |

> A quotation that says little.

`
