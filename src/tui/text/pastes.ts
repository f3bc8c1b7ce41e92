/**
 * Long pastes stand in a text as one character of a private plane, which is drawn as a label and becomes the paste again
 * when the text is sent. What is pasted never holds such a character: it becomes a placeholder itself.
 */
export type Pastes = ReadonlyMap<string, string>

/** A character that stands for a paste. */
export const PLACEHOLDER = /[\u{10f000}-\u{10fffd}]/u

/** Longer ones become a placeholder. */
const MOST_LINES = 10
const MOST_CHARS = 2_000

/** Whether a paste is shown as a label. */
export function isLongPaste(text: string): boolean {
  return text.length > MOST_CHARS || countLines(text) > MOST_LINES || PLACEHOLDER.test(text)
}

/** A placeholder for a paste, the one it has already, and the pastes with it; undefined when there is no room for another. */
export function holdPaste(pastes: Pastes, text: string): { placeholder: string; pastes: Pastes } | undefined {
  for (const [placeholder, paste] of pastes) if (paste === text) return { placeholder, pastes }
  for (let code = FIRST; code <= LAST; code++) {
    const placeholder = String.fromCodePoint(code)
    if (!pastes.has(placeholder)) return { placeholder, pastes: new Map([...pastes, [placeholder, text]]) }
  }
  return undefined
}

/** The text with its pastes. */
export function expandPastes(text: string, pastes: Pastes): string {
  if (pastes.size === 0) return text
  return text.replaceAll(new RegExp(PLACEHOLDER, 'gu'), (char) => pastes.get(char) ?? char)
}

/** Only those that one of the texts still holds. */
export function keepPastes(pastes: Pastes, texts: readonly string[]): Pastes {
  if (pastes.size === 0) return pastes
  return new Map([...pastes].filter(([placeholder]) => texts.some((text) => text.includes(placeholder))))
}

/** What is drawn for a placeholder; undefined for anything else. */
export function pasteLabel(char: string, pastes: Pastes): string | undefined {
  const paste = char.length < 2 ? undefined : pastes.get(char.slice(0, 2))
  if (paste === undefined) return undefined
  const lines = countLines(paste)
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${paste.length} characters]`
}

/** Text as it may stand in the prompt: no control characters but line feeds and tabs; colours of a terminal go, words never. */
export function cleanInput(text: string): string {
  if (!CONTROL.test(text)) return text
  const lines = text.replaceAll(/\r\n?/g, '\n').replaceAll(SGR, '')
  return lines.replaceAll(new RegExp(CONTROL, 'g'), '')
}

function countLines(text: string): number {
  const lines = text.split('\n').length
  return text.endsWith('\n') ? lines - 1 : lines
}

const FIRST = 0x10f000
const LAST = 0x10fffd
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const SGR = /(?:\u001b\[|\u009b)[0-9;:]*m/g
