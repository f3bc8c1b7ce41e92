import type { RecordedRequest, Reply } from '../../test/support/model-server.ts'

/**
 * The model of the scenarios: it calls a tool when it is told `call NAME {"some":"arguments"}`, answers `show markdown` in
 * Markdown, and else says hi.
 */
export function loopbackModel(request: RecordedRequest): Reply {
  const words = lastWords(request)
  if (words === 'show markdown') return { parts: MARKDOWN.split(/(?<=\n)/) }
  const [, name, args] = /^call (\w+) (\{.*\})$/s.exec(words) ?? []
  if (name === undefined || args === undefined) return { parts: ['Hi', ' there', '.'] }
  return { parts: [{ call: 'call_1', name, args }] }
}

/** What a person said, when that is the last message; empty when it is what a tool gave, and on wires without messages. */
function lastWords({ json }: RecordedRequest): string {
  const messages = json['messages'] as { role: string; content: string | { text?: string }[] }[] | undefined
  const last = messages?.at(-1)
  if (last?.role !== 'user') return ''
  return typeof last.content === 'string' ? last.content : last.content.map(({ text = '' }) => text).join('')
}

const MARKDOWN = `## Some of everything

A paragraph with *emphasis*, **weight**, \`code\` and [a link](https://example.com).

- a point
  1. below it

\`\`\`ts
const sum = [1, 2].reduce((a, b) => a + b) // 3
\`\`\`

| word | number |
|---|---:|
| one | 1 |

> A quotation.

shownwhole
`
