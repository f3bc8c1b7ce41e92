import type { Script } from './model-server.ts'

/**
 * Returns a model that calls the tool which the user names, with these arguments, and answers `Done` after its
 * result.
 */
export function callOnce(args: object): Script {
  return ({ json }) => {
    const last = (json['messages'] as { role: string; content: unknown }[]).at(-1)!
    if (last.role !== 'user') return { parts: ['Done'] }
    const name = typeof last.content === 'string' ? last.content : lastUserText(last.content)
    return { parts: [{ call: 'a', name: name.trim(), args: JSON.stringify(args) }] }
  }
}

function lastUserText(content: unknown): string {
  return (content as { text?: string }[]).map(({ text = '' }) => text).join('')
}
