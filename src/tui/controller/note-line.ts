import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { collapseBlanks } from '../../core/base/sanitize.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { ChatAction } from '../state/actions.ts'
import { toGraphemes } from '../text/graphemes.ts'

interface NoteContext {
  dispatch: Dispatch
  agent: string
  act(action: ChatAction): void
}

/** A note that the user typed. */
export interface TypedNote {
  name: string
  content: string
  /** Whether the user typed the name, before a colon. */
  isNamed: boolean
}

/**
 * Remembers a line that the user typed after `#`. Nothing is ever overwritten: with a typed name the line is
 * appended to the existing entry; a name derived from its first words gets a number when it is taken.
 */
export async function rememberNote(line: string, context: NoteContext, signal: AbortSignal): Promise<void> {
  const note = readNote(line)
  if (note.content === '')
    throw new CrabError('invalid', 'Cannot save an empty note: write something after the #')
  const { name, before } = await resolveNoteName(note, context, signal)
  const text = note.content
  if (before?.content.split('\n').includes(text)) return printSuccess(context, `"${name}" already says so`)
  const content = before ? `${before.content}\n${text}` : text
  const op = { $case: 'remember' as const, value: { name, content } }
  const entry = await request(context.dispatch, 'memoryOp', { agent: context.agent, op }, signal)
  if (before) printSuccess(context, `Added to "${entry.name}": ${text}`, `/memory show ${entry.name}`)
  else
    printSuccess(
      context,
      `Remembered: ${text}`,
      `as "${entry.name}" · /memory forget ${entry.name} deletes it`,
    )
}

/** Parses `name: words` with a short name; otherwise the first words are the name. */
export function readNote(line: string): TypedNote {
  const text = line.replace(/^#\s*/, '').trim()
  const [, named = '', rest = ''] = /^([^:]+):\s+(.+)$/.exec(text) ?? []
  const name = collapseBlanks(named)
  if (name !== '' && name.split(' ').length <= MAX_WORDS && name.length <= MAX_CHARS)
    return { name, content: rest, isNamed: true }
  return { name: firstWords(text), content: text, isNamed: false }
}

const MAX_WORDS = 6
const MAX_CHARS = 48

/** Returns as many words as a name may have; in a script without spaces, as many characters. */
function firstWords(text: string): string {
  const words = collapseBlanks(text).split(' ').slice(0, MAX_WORDS)
  while (words.length > 1 && words.join(' ').length > MAX_CHARS) words.pop()
  const name = words.join(' ')
  const short =
    name.length <= MAX_CHARS
      ? name
      : toGraphemes(name)
          .slice(0, MAX_CHARS / 2)
          .join('')
  return collapseBlanks(short).replace(/[\s.,;:!?…。、！？]+$/u, '') || collapseBlanks(short)
}

/** Resolves the name of the entry, and the existing entry to append to. */
async function resolveNoteName(
  { name, content, isNamed }: TypedNote,
  context: NoteContext,
  signal: AbortSignal,
): Promise<{ name: string; before?: MemoryEntry }> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name} ${number}`
    const before = await fetchEntry(candidate, context, signal)
    if (!before) return { name: candidate }
    if (isNamed || before.content === content) return { name: before.name, before }
  }
}

async function fetchEntry(
  name: string,
  { dispatch, agent }: NoteContext,
  signal: AbortSignal,
): Promise<MemoryEntry | undefined> {
  try {
    const { entries } = await request(dispatch, 'listMemory', { agent, name }, signal)
    return entries[0]
  } catch (reason) {
    if (toCrabError(reason).kind === 'missing') return undefined
    throw reason
  }
}

function printSuccess({ act }: NoteContext, text: string, hint?: string): void {
  act({ type: 'print', block: { kind: 'notice', tone: 'success', text, hint } })
}
