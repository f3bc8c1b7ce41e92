import type { Message } from '../base/message.ts'
import type { SessionLine } from '../storage/types.ts'
import { shorten, toAttachmentNote } from './transcript.ts'

/**
 * Quotes what the user said in a session, word for word, and notes what they attached, under a heading of its
 * own.
 *
 * When the quotes exceed `maxChars`, the middle of long messages is left out; if that is not enough, the
 * first messages are. The last message is always included.
 */
export function quoteUser(lines: readonly SessionLine[], maxChars: number): string {
  const messages = lines.flatMap((line) =>
    line.kind === 'entry' && line.role === 'user' ? [toText(line)] : [],
  )
  const quotes = MAX_CHARS_AT_ONCE.map((most) => messages.map((text) => quote(text, most)))
  const whole = quotes.find((all) => countChars(all) <= maxChars)
  if (whole) return render(whole, 0)
  const last = takeLast(
    messages.map((text) => quote(text, Math.min(maxChars, MAX_CHARS_AT_ONCE.at(-1)!))),
    maxChars,
  )
  return render(last, messages.length - last.length)
}

/** Removes such a list of quotes from the end of a message. */
export function stripUserQuotes(message: Message): Message {
  const at = message.content.lastIndexOf(`\n\n${HEADING}`)
  return at < 0 ? message : { ...message, content: message.content.slice(0, at) }
}

const HEADING = '## What the user said, word for word'

/** Limits on the characters of one message; the first that makes everything fit is used. */
const MAX_CHARS_AT_ONCE = [Number.POSITIVE_INFINITY, 8000, 2000]

function toText({ content, typed = content, attachments = [] }: Message): string {
  return [typed.trim(), ...attachments.map(toAttachmentNote)].filter(Boolean).join('\n')
}

function quote(text: string, maxChars: number): string {
  return shorten(text, maxChars).replace(/^/gm, '> ')
}

function countChars(quotes: readonly string[]): number {
  return quotes.reduce((sum, { length }) => sum + length, 0)
}

/** Returns the last quotes that fit, at least one. */
function takeLast(quotes: readonly string[], maxChars: number): readonly string[] {
  let chars = 0
  const tooMany = quotes.findLastIndex((text, index) => {
    chars += text.length
    return chars > maxChars && index < quotes.length - 1
  })
  return quotes.slice(tooMany + 1)
}

function render(quotes: readonly string[], left: number): string {
  const note = left > 0 ? `(${left} earlier messages are left out.)\n\n` : ''
  return `${HEADING}\n\n${note}${quotes.join('\n\n')}`
}
