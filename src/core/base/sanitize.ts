/**
 * Removes what a terminal would obey from text that somebody else wrote: escape sequences (ECMA-48: CSI, OSC, DCS,
 * SOS, PM, APC, also in their 8-bit forms), other control characters, and bidirectional overrides.
 *
 * Line feeds and tabs stay. A sequence may be cut anywhere between two calls.
 */
export class Sanitizer {
  #state: State = 'text'

  /** The harmless part of the next piece of text. */
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

/** A whole text without what a terminal would obey. */
export function sanitize(text: string): string {
  return new Sanitizer().push(text)
}

/**
 * `escape`: behind ESC. `control`: in a CSI sequence. `string`: in a string that BEL or ST ends.
 * `charset`: behind ESC and intermediate bytes.
 */
type State = 'text' | 'escape' | 'control' | 'string' | 'charset'

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const SUSPICIOUS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const ESC = 0x1b
const BEL = 0x07
const CAN = 0x18
const SUB = 0x1a
const ST = 0x9c
const CSI = 0x9b
/** DCS, SOS, OSC, PM, APC, 8-bit; as 7-bit they are ESC and the letter 0x40 lower. */
const STRING_STARTS = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])

function next(state: State, code: number): State {
  if (code === CAN || code === SUB) return 'text'
  if (start(code) !== 'text') return start(code) // wherever it stands, it begins anew
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
      return code === BEL || code === ST ? 'text' : 'string' // as 7 bits, ST is an escape sequence of its own
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

/** A CSI sequence ends with its final byte; anything that has no place in one ends it too. */
function afterControl(code: number): State {
  return code >= 0x20 && code <= 0x3f ? 'control' : 'text'
}
