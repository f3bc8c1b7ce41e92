import type { KeyResult } from '../text/effects.ts'
import { toGraphemes } from '../text/graphemes.ts'
import type { KeyPress } from '../text/key.ts'
import { cleanLine, cleanText } from '../view/clean.ts'
import type { Section } from '../view/section.ts'
import { paint, type TextStyle } from '../view/style.ts'
import { measureWidth, wrapLines } from '../view/text.ts'
import type { Face } from '../view/view.ts'
import { bodyHeight, frame } from './frame.ts'
import { typeIntoLine } from './keys.ts'
import type { Entry, Overlay } from './types.ts'

/** Creates an entry for one line. */
export function newEntry(
  parts: Pick<Entry, 'picker' | 'title'> &
    Partial<Pick<Entry, 'subject' | 'text' | 'isSecret' | 'problem' | 'help' | 'allowsEmpty' | 'back'>>,
): Entry {
  return {
    kind: 'entry',
    subject: '',
    text: '',
    isSecret: false,
    problem: '',
    help: '',
    allowsEmpty: false,
    isBusy: false,
    ...parts,
  }
}

/** Handles a key in an entry: text is added at its end, Enter submits it. */
export function pressEntry(entry: Entry, key: KeyPress): KeyResult<Overlay | undefined> {
  if (entry.isBusy) return { state: entry, effects: [] }
  if (key.name === 'enter') {
    const { picker, subject } = entry
    const value = entry.text.trim()
    if (value === '' && !entry.allowsEmpty) return { state: entry, effects: [] }
    // the text is dropped, so that no secret stays in the state
    return {
      state: { ...entry, text: entry.isSecret ? '' : entry.text, isBusy: true },
      effects: [{ type: 'chosen', picker, value, key: subject }],
    }
  }
  const pasted = key.name === 'paste' ? { ...key, text: key.text.replaceAll(/[\r\n]/g, '') } : key
  const text = typeIntoLine(entry.text, pasted).slice(0, MAX_CHARS)
  return { state: text === entry.text ? entry : { ...entry, text, problem: '' }, effects: [] }
}

/** Renders the entry; a secret appears as dots, and of a long text the end. */
export function renderEntry(entry: Entry, view: Face): Section {
  const { columns, color } = view
  const lead = `${cleanLine(entry.title)}: `
  const typed = toGraphemes(entry.isSecret ? entry.text : cleanLine(entry.text))
  const shown = typed.slice(-Math.max(1, columns - measureWidth(lead) - 1))
  const text = entry.isSecret ? '•'.repeat(shown.length) : shown.join('')
  const toRows = (words: string, style: TextStyle) =>
    words === ''
      ? []
      : wrapLines(cleanText(words), columns - MARGIN).map((row) => `  ${paint(row, color, style)}`)
  const body = [...toRows(entry.problem, 'warning'), ...toRows(entry.help, 'dim')].slice(
    0,
    bodyHeight(view.rows),
  )
  const title = paint(lead, color, 'accent', 'bold') + text
  return frame({ title, body, keys: describeKeys(entry), caret: measureWidth(lead + text) }, view)
}

function describeKeys({ isBusy, back }: Entry): string {
  if (isBusy) return 'One moment… · Esc cancels'
  return `Enter continues · Ctrl+U clears · Esc ${back ? 'goes back' : 'closes'}`
}

const MARGIN = 2
/** Longer texts are cut off; keys have at most a few hundred characters. */
const MAX_CHARS = 8_192
