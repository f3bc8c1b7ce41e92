import type { RecordedRequest, Reply } from '../../test/support/model-server.ts'

/** The model of the scenarios: it calls a tool when it is told `call NAME {"some":"arguments"}`, else it says hi. */
export function loopbackModel(request: RecordedRequest): Reply {
  const [, name, args] = /^call (\w+) (\{.*\})$/s.exec(lastWords(request)) ?? []
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
