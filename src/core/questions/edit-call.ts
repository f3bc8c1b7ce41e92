import { parseObject } from '../base/json.ts'
import type { PermissionRequest } from '../protocol/crabtalk.generated.ts'

/** The part of a call that the user can edit as text. */
export interface EditableText {
  /** The name of the part, for the key hints. */
  part: 'command' | 'new text' | 'content' | 'arguments'
  text: string
  /** Returns the arguments of the call with the edited text, as JSON; undefined when the text is not valid. */
  toArguments(text: string): string | undefined
}

/**
 * Returns the part of a call that is edited on its card: the command line, the new text of a single
 * replacement, the content of a file, or all arguments. Undefined when the call cannot be changed.
 */
export function findEditableText({
  editable,
  tool,
  server,
  arguments: json,
}: PermissionRequest): EditableText | undefined {
  const args = parseObject(json)
  if (!editable || !args) return undefined
  const named = server === '' ? findNamedText(tool, args) : undefined
  return (
    named ?? {
      part: 'arguments',
      text: JSON.stringify(args, null, 2),
      toArguments: (text) => (parseObject(text) ? JSON.stringify(parseObject(text)) : undefined),
    }
  )
}

type Args = Readonly<Record<string, unknown>>

function findNamedText(tool: string, args: Args): EditableText | undefined {
  if (tool === 'bash')
    return editText('command', args['command'], (text) => ({ ...args, command: text.trim() }))
  if (tool === 'write') return editText('content', args['content'], (text) => ({ ...args, content: text }))
  const edits: unknown = args['edits']
  const [only, ...more] = tool === 'edit' && Array.isArray(edits) ? (edits as unknown[]) : []
  if (more.length > 0 || !isObject(only)) return undefined
  return editText('new text', only['new'], (text) => ({ ...args, edits: [{ ...only, new: text }] }))
}

function editText(
  part: EditableText['part'],
  text: unknown,
  change: (text: string) => Args,
): EditableText | undefined {
  if (typeof text !== 'string' || text.includes('\0')) return undefined
  return { part, text, toArguments: (edited) => JSON.stringify(change(edited)) }
}

function isObject(value: unknown): value is Args {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
