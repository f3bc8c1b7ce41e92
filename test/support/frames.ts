import { makeVirtualTerminal } from './screen.ts'

/** The content of a terminal between two writes. */
export interface ShownFrame {
  /** The rows of the screen. */
  screen: readonly string[]
  /** The scrollback and the screen, with wrapped rows joined. */
  text: readonly string[]
}

/**
 * Replays the bytes that a chat has written to a terminal of one size, and returns every frame that was visible:
 * the screen after each synchronized update, and what was drawn outside of one.
 */
export async function replayFrames(
  bytes: string,
  size: { columns: number; rows: number },
): Promise<readonly ShownFrame[]> {
  using terminal = makeVirtualTerminal(size)
  const frames: ShownFrame[] = []
  for (const piece of bytes.split(UPDATE_EDGES)) {
    await terminal.feed(piece)
    frames.push({ screen: terminal.lines(), text: terminal.text() })
  }
  return frames
}

/** Splits before the start and after the end of each synchronized update. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a control sequence
const UPDATE_EDGES = /(?=\x1b\[\?2026h)|(?<=\x1b\[\?2026l)/
