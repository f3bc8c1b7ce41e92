import type { RecordedRequest, Reply } from '../../test/support/model-server.ts'

/**
 * The model of the scenarios: calls a tool when it receives `call NAME {"some":"arguments"}`, answers `show
 * markdown` in Markdown, and greets otherwise.
 */
export function loopbackModel(request: RecordedRequest): Reply {
  const words = lastWords(request)
  if (words === 'show markdown') return { parts: MARKDOWN.split(/(?<=\n)/) }
  const [, name, args] = /^call (\w+) (\{.*\})$/s.exec(words) ?? []
  if (name === undefined || args === undefined) return { parts: ['Hi', ' there', '.'] }
  return { parts: [{ call: 'call_1', name, args }] }
}

/**
 * Returns the last message if it is the user's; empty for tool results, and for wire formats without
 * messages.
 */
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
