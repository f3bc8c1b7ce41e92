import assert from 'node:assert/strict'

const ESC = '\u001b'

/**
 * The sequences that the chat itself writes to a terminal: colors and styles, movement within the frame,
 * erasing lines and everything below, and the modes it sets.
 */
const OWN = [
  '\\[[\\d;]*m', // SGR
  '\\[\\d*[ABG]', // up, down, to a column
  '\\[2?K', // erase a line
  '\\[J', // erase below
  '\\[\\?2026[hl]', // synchronized update
  '\\[\\?2004[hl]', // bracketed paste
  '\\[\\?25[hl]', // cursor
  '\\[\\?u|\\[>1u|\\[<u', // kitty keyboard
  '\\[\\?1004[hl]', // focus reports
  '\\[2[23];0t', // the stack of titles
  '\\]2;[^\u0000-\u001f\u007f-\u009f]*\u001b\\\\', // the title of the window
  '\\]11;\\?\u001b\\\\', // asks for the background color
]
const OWN_SEQUENCES = new RegExp(`${ESC}(?:${OWN.join('|')})`, 'g')
/** C0 but line breaks, C1, bidirectional overrides. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROLS = /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** Fails when anything but the chat's own sequences has reached the terminal. */
export function assertOnlyOwnSequences(bytes: string): void {
  const rest = bytes.replaceAll(OWN_SEQUENCES, '')
  const at = rest.search(CONTROLS)
  if (at >= 0)
    assert.fail(`the terminal was sent ${JSON.stringify(rest.slice(Math.max(0, at - 40), at + 40))}`)
}
