/**
 * The long pastes of a text, by placeholder. A placeholder is one private-use character, drawn as a label and
 * expanded when the text is sent. A paste that contains such a character is always held as a placeholder
 * itself, so that pasted text cannot forge one.
 */
export type Pastes = ReadonlyMap<string, string>

/** Matches a character that stands for a paste. */
export const PLACEHOLDER = /[\u{10f000}-\u{10fffd}]/u

/** Pastes beyond either limit become a placeholder. */
const MAX_LINES = 10
const MAX_CHARS = 2_000

/** Whether a paste is shown as a label. */
export function isLongPaste(text: string): boolean {
  return text.length > MAX_CHARS || countLines(text) > MAX_LINES || PLACEHOLDER.test(text)
}

/**
 * Stores a paste and returns its placeholder, reusing the one of an equal paste; undefined when all
 * placeholders are used.
 */
export function holdPaste(pastes: Pastes, text: string): { placeholder: string; pastes: Pastes } | undefined {
  for (const [placeholder, paste] of pastes) if (paste === text) return { placeholder, pastes }
  for (let code = FIRST; code <= LAST; code++) {
    const placeholder = String.fromCodePoint(code)
    if (!pastes.has(placeholder)) return { placeholder, pastes: new Map([...pastes, [placeholder, text]]) }
  }
  return undefined
}

/** Replaces placeholders with their pastes. */
export function expandPastes(text: string, pastes: Pastes): string {
  if (pastes.size === 0) return text
  return text.replaceAll(new RegExp(PLACEHOLDER, 'gu'), (char) => pastes.get(char) ?? char)
}

/** Drops the pastes that none of the texts contains any more. */
export function keepPastes(pastes: Pastes, texts: readonly string[]): Pastes {
  if (pastes.size === 0) return pastes
  return new Map([...pastes].filter(([placeholder]) => texts.some((text) => text.includes(placeholder))))
}

/** Returns the label of a placeholder; undefined for any other character. */
export function pasteLabel(char: string, pastes: Pastes): string | undefined {
  const paste = char.length < 2 ? undefined : pastes.get(char.slice(0, 2))
  if (paste === undefined) return undefined
  const lines = countLines(paste)
  return lines > 1 ? `[Pasted ${lines} lines]` : `[Pasted ${paste.length} characters]`
}

/**
 * Removes control characters other than line feeds and tabs, and complete terminal color sequences, from
 * text for the prompt; other text is kept.
 */
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const SGR = /(?:\u001b\[|\u009b)[0-9;:]*m/g
