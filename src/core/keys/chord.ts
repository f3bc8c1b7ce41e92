/** A chord in the spelling of the key table, or the reason why a text is not one. */
export type ParsedChord = { ok: true; value: string } | { ok: false; why: string }

/**
 * Parses a chord such as `Ctrl+X` or `alt+shift+up`. Terminals send some chords as other keys, and keys that
 * type text cannot be bound.
 */
export function parseChord(text: string): ParsedChord {
  const parts = text
    .trim()
    .toLowerCase()
    .split(/\+(?=.)/)
  const modifiers = parts.slice(0, -1).map((part) => MODIFIERS[part] ?? part)
  const written = parts.at(-1) ?? ''
  const key = KEY_NAMES[written] ?? written
  const unknown = modifiers.find((modifier) => !ORDER.includes(modifier))
  if (unknown !== undefined) return refuse(`"${unknown}" is not ctrl, alt or shift`)
  const isNamed = NAMED.has(key)
  if (!isNamed && [...key].length !== 1) return refuse(`"${written}" is not the name of a key`)
  const has = (modifier: string) => modifiers.includes(modifier)
  if (!isNamed && !has('ctrl') && !has('alt')) return refuse('it types text; add ctrl or alt')
  if (!isNamed && has('shift')) return refuse('terminals do not report shift with a character')
  const twin = has('ctrl') && !has('alt') ? TWINS[key] : undefined
  if (twin !== undefined) return refuse(`terminals send it as ${twin}`)
  return { ok: true, value: [...ORDER.filter(has), key].join('+') }
}

function refuse(why: string): ParsedChord {
  return { ok: false, why }
}

const ORDER = ['ctrl', 'alt', 'shift']
const MODIFIERS: Readonly<Record<string, string>> = {
  control: 'ctrl',
  c: 'ctrl',
  meta: 'alt',
  m: 'alt',
  option: 'alt',
  s: 'shift',
}
const KEY_NAMES: Readonly<Record<string, string>> = {
  esc: 'escape',
  return: 'enter',
  del: 'delete',
  bs: 'backspace',
  pgup: 'page-up',
  pageup: 'page-up',
  pgdn: 'page-down',
  pagedown: 'page-down',
}
const NAMED: ReadonlySet<string> = new Set(
  'enter tab escape backspace delete up down left right home end page-up page-down'.split(' '),
)
const TWINS: Readonly<Record<string, string>> = { m: 'enter', i: 'tab', '[': 'escape' }
