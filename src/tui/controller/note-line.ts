import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { ChatAction } from '../state/actions.ts'
import { toGraphemes } from '../text/graphemes.ts'

interface NoteContext {
  dispatch: Dispatch
  agent: string
  act(action: ChatAction): void
}

/** A note as it was typed: what it is called, and what it says. */
export interface TypedNote {
  name: string
  content: string
  /** The name was typed, in front of a colon. */
  isNamed: boolean
}

/**
 * Remembers a line of a person's own behind `#`. Nothing is ever overwritten: under a name that was typed it is added
 * to what stands there; a name made of its first words gets a number when it is taken.
 */
export async function rememberNote(line: string, setting: NoteContext, signal: AbortSignal): Promise<void> {
  const note = readNote(line)
  if (note.content === '')
    throw new CrabError('invalid', 'Cannot remember nothing: a note has words behind the #')
  const { name, before } = await resolveNoteName(note, setting, signal)
  const text = note.content
  if (before?.content.split('\n').includes(text)) return printSuccess(setting, `"${name}" says so already`)
  const content = before ? `${before.content}\n${text}` : text
  const op = { $case: 'remember' as const, value: { name, content } }
  const entry = await request(setting.dispatch, 'memoryOp', { agent: setting.agent, op }, signal)
  if (before) printSuccess(setting, `Added to "${entry.name}": ${text}`, `/memory show ${entry.name}`)
  else
    printSuccess(
      setting,
      `Remembered: ${text}`,
      `as "${entry.name}" · /memory forget ${entry.name} takes it back`,
    )
}

/** `name: words` with a name of few words, or words whose first ones are the name. */
export function readNote(line: string): TypedNote {
  const text = line.replace(/^#\s*/, '').trim()
  const [, named = '', rest = ''] = /^([^:]+):\s+(.+)$/.exec(text) ?? []
  const name = tidy(named)
  if (name !== '' && name.split(' ').length <= MOST_WORDS && name.length <= MOST_CHARS)
    return { name, content: rest, isNamed: true }
  return { name: firstWords(text), content: text, isNamed: false }
}

const MOST_WORDS = 6
const MOST_CHARS = 48

/** As many words as a name may have; of a script without blanks as many characters. */
function firstWords(text: string): string {
  const words = tidy(text).split(' ').slice(0, MOST_WORDS)
  while (words.length > 1 && words.join(' ').length > MOST_CHARS) words.pop()
  const name = words.join(' ')
  const short =
    name.length <= MOST_CHARS
      ? name
      : toGraphemes(name)
          .slice(0, MOST_CHARS / 2)
          .join('')
  return tidy(short).replace(/[\s.,;:!?…。、！？]+$/u, '') || tidy(short)
}

function tidy(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** What it will be called, and what stands there already. */
async function resolveNoteName(
  { name, content, isNamed }: TypedNote,
  setting: NoteContext,
  signal: AbortSignal,
): Promise<{ name: string; before?: MemoryEntry }> {
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? name : `${name} ${number}`
    const before = await fetchEntry(wanted, setting, signal)
    if (!before) return { name: wanted }
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
