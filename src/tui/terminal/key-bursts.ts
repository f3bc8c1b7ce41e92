/** The bytes that can be passed on, and those that wait for more. */
export interface SplitInput {
  ready: string
  /** Waits for its rest; passed on when none arrives in time. */
  held: HeldInput | undefined
}

/** Input whose meaning depends on what follows. */
export interface HeldInput {
  bytes: string
  /** Milliseconds without further input after which it is complete. */
  waitMs: number
  /** Whether it consists of several lines, which are pasted even if the terminal does not mark pastes. */
  isPaste: boolean
}

/** The situation in which bytes arrive. */
export interface BurstContext {
  held: HeldInput | undefined
  /** Whether the terminal is in the middle of a paste that it marks. */
  isInPaste: boolean
  /** Milliseconds since the last typed character. */
  sinceTextMs: number
  /** Whether Esc would interrupt something now. */
  escInterrupts: boolean
}

/**
 * Decides which bytes of a terminal can be interpreted. The rest of a key's sequence may arrive later, and an Enter
 * inside text that arrives faster than a person types belongs to a paste.
 */
export function splitBursts(chunk: string, context: BurstContext): SplitInput {
  const { held, isInPaste, sinceTextMs, escInterrupts } = context
  const bytes = (held?.bytes ?? '') + chunk
  if (isInPaste) return { ready: bytes, held: undefined }
  if (PLAIN.test(bytes)) return splitPlain(bytes, { held, sinceTextMs })
  const [prefix = ''] = OPEN_SEQUENCE.exec(bytes) ?? []
  const waits = prefix !== '' && (prefix !== ESC || escInterrupts)
  if (!waits) return { ready: bytes, held: undefined }
  const rest = { bytes: prefix, waitMs: SEQUENCE_MS, isPaste: false }
  return { ready: bytes.slice(0, bytes.length - prefix.length), held: rest }
}

/** Returns the bytes to pass on when nothing followed: several lines as a paste that the terminal has marked. */
export function completeHeld({ bytes, isPaste }: HeldInput): string {
  return isPaste ? `${PASTE_START}${bytes}${PASTE_END}` : bytes
}

/** Returns whether the terminal is in the middle of a marked paste after these bytes; `tail` are those before. */
export function endsInPaste(bytes: string, tail: string, wasInPaste: boolean): boolean {
  const all = tail + bytes
  const start = all.lastIndexOf(PASTE_START)
  const end = all.lastIndexOf(PASTE_END)
  return start === end ? wasInPaste : start > end
}

function splitPlain(
  bytes: string,
  { held, sinceTextMs }: Pick<BurstContext, 'held' | 'sinceTextMs'>,
): SplitInput {
  const isPaste = held?.isPaste === true || LINES.test(bytes)
  const isEnter = BREAKS.test(bytes)
  const mayBePaste = isPaste || ENDS_LINE.test(bytes) || (isEnter && sinceTextMs < TYPED_MS)
  if (!mayBePaste) return { ready: bytes, held: undefined }
  return { ready: '', held: { bytes, waitMs: BURST_MS, isPaste } }
}

/** The time, in milliseconds, within which the rest of a key's sequence arrives over a slow connection. */
const SEQUENCE_MS = 80
/** The time, in milliseconds, without input after which a burst has ended. */
const BURST_MS = 15
/** An Enter that follows a character sooner, in milliseconds, was not typed. */
const TYPED_MS = 8

const ESC = '\u001b'
const PASTE_START = `${ESC}[200~`
const PASTE_END = `${ESC}[201~`

/** Text and line breaks, without keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const PLAIN = /^(?:[\t\r\n]|[^\u0000-\u001f\u007f])+$/
/** A line break with text after it. */
const LINES = /[\r\n][\t ]*[^\s]/
/** Text with a line break at its end. */
const ENDS_LINE = /[^\r\n][\r\n]+$/
const BREAKS = /^[\r\n]+$/
/** The beginning of a CSI or SS3 sequence at the end: ESC alone, or a sequence without its final byte. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const OPEN_SEQUENCE = /\u001b(?:\[\[?[\u0020-\u003f]*|O[\d;]*)?$/
