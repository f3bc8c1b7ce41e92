import type { ChatEffect } from '../../../src/tui/text/effects.ts'
import type { SentText } from '../../../src/tui/text/history.ts'
import type { KeyName, KeyPress } from '../../../src/tui/text/key.ts'
import { toPaste } from '../../../src/tui/text/key.ts'
import { pressPrompt } from '../../../src/tui/text/prompt.ts'
import { EMPTY_PROMPT, type Prompt, type PromptContext } from '../../../src/tui/text/prompt-state.ts'

/** Parses a key as the key table writes it; anything else is typed. */
export function parseKey(chord: string): KeyPress {
  const parts = chord.split(/\+(?=.)/)
  const last = parts.at(-1)!
  const isNamed = NAMES.has(last)
  const isChord = parts.length > 1 && parts.slice(0, -1).every((part) => MODIFIERS.has(part))
  if (!isChord && !isNamed) return { name: 'text', text: chord, ctrl: false, alt: false, shift: false }
  const has = (modifier: string) => parts.slice(0, -1).includes(modifier)
  return {
    name: isNamed ? (last as KeyName) : 'text',
    text: isNamed ? '' : last,
    ctrl: has('ctrl'),
    alt: has('alt'),
    shift: has('shift'),
  }
}

/**
 * Returns the prompt after these keys, and all effects they requested. A line that starts with `paste:` is
 * pasted.
 */
export function typed(
  keys: readonly string[],
  { prompt = EMPTY_PROMPT, ...context }: Partial<PromptContext> & { prompt?: Prompt } = {},
): { prompt: Prompt; effects: ChatEffect[] } {
  const effects: ChatEffect[] = []
  let state = prompt
  for (const key of keys) {
    const press = key.startsWith('paste:') ? toPaste(key.slice('paste:'.length)) : parseKey(key)
    const pressed = pressPrompt(state, press, { isBusy: false, columns: 80, ...context })
    state = pressed.state
    effects.push(...pressed.effects)
  }
  return { prompt: state, effects }
}

/** Returns texts sent without pastes by an earlier run, for withHistory(). */
export function toHistory(...texts: string[]): SentText[] {
  return texts.map((text) => ({ text, pasted: [] }))
}

const MODIFIERS = new Set(['ctrl', 'alt', 'shift'])
const NAMES: ReadonlySet<string> = new Set<KeyName>([
  'enter',
  'tab',
  'escape',
  'backspace',
  'delete',
  'up',
  'down',
  'left',
  'right',
  'home',
  'end',
  'page-up',
  'page-down',
])
