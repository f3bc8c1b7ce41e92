import { pluralize } from '../base/format.ts'
import { type ContextPart, ContextPartKind } from './crabtalk.generated.ts'

/** Names a part of a request, with a note about what it contains. */
export function formatContextPart({ kind, name, count, unused }: ContextPart): {
  name: string
  note: string
} {
  switch (kind) {
    case ContextPartKind.PROMPT:
      return { name: 'system prompt', note: '' }
    case ContextPartKind.INSTRUCTIONS:
      return { name: 'instructions', note: name }
    case ContextPartKind.TOOLS: {
      const use = unused ? ', not used in this conversation' : ''
      return { name: name === '' ? 'built-in tools' : `tools of ${name}`, note: `${count}${use}` }
    }
    case ContextPartKind.MEMORY:
      return { name: 'memory', note: count === 0 ? 'its tools' : `its tools, ${pluralize(count, 'result')}` }
    case ContextPartKind.SUMMARY:
      return { name: 'summary', note: 'of earlier messages' }
    case ContextPartKind.USER:
      return { name: 'you', note: pluralize(count, 'message') }
    case ContextPartKind.ASSISTANT:
      return { name: 'agent', note: pluralize(count, 'message') }
    default:
      return { name: 'tool results', note: String(count) }
  }
}

/** The names of the kinds of parts in JSON output. */
export const CONTEXT_PART_NAMES: Readonly<Record<ContextPartKind, string>> = {
  [ContextPartKind.UNSPECIFIED]: 'other',
  [ContextPartKind.PROMPT]: 'prompt',
  [ContextPartKind.INSTRUCTIONS]: 'instructions',
  [ContextPartKind.TOOLS]: 'tools',
  [ContextPartKind.MEMORY]: 'memory',
  [ContextPartKind.SUMMARY]: 'summary',
  [ContextPartKind.USER]: 'user',
  [ContextPartKind.ASSISTANT]: 'assistant',
  [ContextPartKind.RESULTS]: 'results',
}
