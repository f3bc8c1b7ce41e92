/** A report of the terminal among the keys. */
export type TerminalReply =
  | { type: 'focus'; isFocused: boolean }
  /** The background color, each part from 0 to 255. */
  | { type: 'background'; color: readonly [red: number, green: number, blue: number] }

/** The keys of a piece of input, without reports. */
export interface FilteredInput {
  keys: string
  replies: readonly TerminalReply[]
}

/**
 * Separates reports of the terminal from keys, also when a report arrives in several pieces. Reports that
 * were not asked for are dropped; pasted text passes unchanged.
 */
export class ReplyFilter {
  #held = ''
  #isPaste = false

  /** The beginning of a sequence that is held until the rest arrives; empty when there is none. */
  get held(): string {
    return this.#held
  }

  /** Whether the held sequence can only be a report: no key starts with it. */
  get isReport(): boolean {
    return REPORT_START.test(this.#held)
  }

  push(piece: string): FilteredInput {
    const input = this.#held + piece
    this.#held = ''
    const replies: TerminalReply[] = []
    let keys = ''
    let at = 0
    while (at < input.length) {
      const end = this.#isPaste ? input.indexOf(PASTE_END, at) : input.indexOf(ESC, at)
      if (end < 0) return { keys: keys + this.#takeRest(input.slice(at)), replies }
      keys += input.slice(at, end)
      if (this.#isPaste) {
        this.#isPaste = false
        keys += PASTE_END
        at = end + PASTE_END.length
        continue
      }
      const sequence = SEQUENCE.exec(input.slice(end))?.[0]
      if (sequence === undefined) {
        this.#held = input.slice(end)
        return { keys, replies }
      }
      const reply = readReply(sequence)
      if (reply) replies.push(reply)
      else if (!REPORT.test(sequence)) keys += sequence
      this.#isPaste = sequence === PASTE_START
      at = end + sequence.length
    }
    return { keys, replies }
  }

  /** Returns the held sequence, because its rest did not arrive; it was a key, such as Esc. */
  flush(): string {
    const held = this.isReport ? '' : this.#held
    this.#held = ''
    return held
  }

  /** Takes the end of the input, but holds what may be the beginning of the end of a paste. */
  #takeRest(rest: string): string {
    if (!this.#isPaste) return rest
    const cut = rest.lastIndexOf(ESC)
    if (cut < 0 || !PASTE_END.startsWith(rest.slice(cut))) return rest
    this.#held = rest.slice(cut)
    return rest.slice(0, cut)
  }
}

const ESC = '\u001b'
const PASTE_START = `${ESC}[200~`
const PASTE_END = `${ESC}[201~`
/** The content of a string and its end. */
const STRING = `[^\\u0007${ESC}]*(?:\\u0007|${ESC}\\\\)`
/**
 * A complete escape sequence: Esc before another one, CSI, a report in a string (OSC, DCS, APC), SS3, or Alt
 * and a key. What follows tells the beginning of a report from Alt and a key.
 */
const SEQUENCE = new RegExp(
  `^${ESC}(?:(?=${ESC})|\\[[[]?[0-?]*[ -/]*(?:[@-~]|(?=[^ -~]))|\\]\\d${STRING}|\\](?=\\D)|P[\\d>!+$]${STRING}|P(?=[^\\d>!+$])|_G${STRING}|_(?=[^G])|O[^${ESC}]|O(?=${ESC})|[^[\\]P_O${ESC}])`,
  'su',
)
const REPORT_START = new RegExp(`^${ESC}(?:\\]\\d|P[\\d>!+$]|_G)`)
const REPORT = new RegExp(`${REPORT_START.source}|^${ESC}\\[[IO]$`)
const BACKGROUND = new RegExp(`^${ESC}\\]11;rgba?:([\\da-f]+)/([\\da-f]+)/([\\da-f]+)`, 'i')

function readReply(sequence: string): TerminalReply | undefined {
  if (sequence === `${ESC}[I`) return { type: 'focus', isFocused: true }
  if (sequence === `${ESC}[O`) return { type: 'focus', isFocused: false }
  const [, red, green, blue] = BACKGROUND.exec(sequence) ?? []
  if (red === undefined || green === undefined || blue === undefined) return undefined
  return { type: 'background', color: [toByte(red), toByte(green), toByte(blue)] }
}

/** Converts 1 to 4 hexadecimal digits (X11 rgb: notation). */
function toByte(digits: string): number {
  return Math.round((Number.parseInt(digits, 16) / (16 ** digits.length - 1)) * 255)
}
