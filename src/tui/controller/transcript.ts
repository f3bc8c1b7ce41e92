import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { ChatState } from '../state/types.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Block } from '../view/blocks.ts'
import { loadHighlighter, loadParser } from '../view/look.ts'

interface TranscriptOptions {
  store: ChatStore
  ports: ChatPorts
  screen: Screen
  stdin: NodeJS.ReadStream
  color: boolean
}

/** Shows the whole conversation on the lent terminal until the user closes it. */
export async function showTranscript(
  { store, ports, screen, stdin, color }: TranscriptOptions,
  signal: AbortSignal,
): Promise<void> {
  const { session } = store.get()
  if (session === undefined) return store.act({ type: 'set', change: { hint: 'No messages yet' } })
  const title = transcriptTitle(store.get())
  await openOnTerminal({ title, session }, { ports, screen, stdin, color }, signal)
}

/** Returns the title of the transcript, which says what is not stored yet: the step that runs, or a message that waits. */
export function transcriptTitle({ title, agent, turn }: Pick<ChatState, 'title' | 'agent' | 'turn'>): string {
  const name = title || agent
  if (!turn) return name
  return `${name} · ${turn.runId === '' ? 'your message is not sent yet' : 'without the step that runs'}`
}

/** Shows blocks on the lent terminal, from their start, until the user closes them. */
export async function showBlocks(
  content: { title: string; blocks: readonly Block[] },
  terminal: Omit<TranscriptOptions, 'store'>,
  signal: AbortSignal,
): Promise<void> {
  await openOnTerminal(content, terminal, signal)
}

async function openOnTerminal(
  content: { title: string } & ({ session: string } | { blocks: readonly Block[] }),
  { ports, screen, stdin, color }: Omit<TranscriptOptions, 'store'>,
  signal: AbortSignal,
): Promise<void> {
  const { openPager } = await import('../pager/open-pager.ts')
  const [parse, highlight] = await Promise.all([loadParser(), color ? loadHighlighter() : undefined])
  const look = { color, parse, highlight }
  const output = {
    write: (bytes: string) => screen.write(bytes),
    size: () => screen.size,
    onResize: (listener: () => void) => screen.onResize(listener),
  }
  const { dispatch, editText } = ports
  await openPager({ dispatch, ...content, look, input: stdin, output, editText }, signal)
}
