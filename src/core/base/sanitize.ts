/**
 * Removes everything that a terminal would interpret from untrusted text: escape sequences (ECMA-48: CSI,
 * OSC, DCS, SOS, PM, APC, also in their 8-bit forms), other control characters, and bidirectional overrides.
 *
 * Line feeds and tabs stay. A sequence may be split anywhere between two calls.
 */
export class Sanitizer {
  #state: State = 'text'

  /** Returns the safe part of the next chunk of text. */
  push(text: string): string {
    if (this.#state === 'text' && !SUSPICIOUS.test(text)) return text
    let clean = ''
    for (const char of text) {
      const before = this.#state
      this.#state = next(before, char.codePointAt(0)!)
      if (before === 'text' && this.#state === 'text' && !SUSPICIOUS.test(char)) clean += char
    }
    return clean
  }
}

/** Removes everything that a terminal would interpret from a complete text. */
export function sanitize(text: string): string {
  return new Sanitizer().push(text)
}

/** Sanitizes a text and puts it on one line: each run of blanks and line breaks becomes one space. */
export function sanitizeLine(text: string): string {
  return sanitize(text).replaceAll(BLANKS, ' ')
}

/** Puts a text on one line, without blanks at its ends; control sequences stay. */
export function collapseBlanks(text: string): string {
  return text.replaceAll(BLANKS, ' ').trim()
}

const BLANKS = /\s+/g

/**
 * The parser state. `escape`: after ESC. `control`: in a CSI sequence. `string`: in a string that ends with
 * BEL or ST. `charset`: after ESC and intermediate bytes.
 */
type State = 'text' | 'escape' | 'control' | 'string' | 'charset'

// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern exists to match control characters
const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
const ST = 0x9c
const CSI = 0x9b
/** The 8-bit codes of DCS, SOS, OSC, PM and APC. The 7-bit form is ESC and a letter 0x40 lower. */
const STRING_STARTS = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])

function next(state: State, code: number): State {
  if (code === CAN || code === SUB) return 'text'
  if (start(code) !== 'text') return start(code) // an introducer starts a new sequence in any state
  switch (state) {
    case 'text':
      return 'text'
    case 'escape':
      return afterEscape(code)
    case 'charset':
      return code >= 0x20 && code <= 0x2f ? 'charset' : 'text'
    case 'control':
      return afterControl(code)
    case 'string':
      return code === BEL || code === ST ? 'text' : 'string' // the 7-bit form of ST is a separate escape sequence
  }
}

function start(code: number): State {
  if (code === ESC) return 'escape'
  if (code === CSI) return 'control'
  return STRING_STARTS.has(code) ? 'string' : 'text'
}

function afterEscape(code: number): State {
  if (code === 0x5b) return 'control'
  if (STRING_STARTS.has(code + 0x40)) return 'string'
  return code >= 0x20 && code <= 0x2f ? 'charset' : 'text'
}

/** Ends a CSI sequence at its final byte, or at any byte that is not allowed in one. */
function afterControl(code: number): State {
  return code >= 0x20 && code <= 0x3f ? 'control' : 'text'
}
