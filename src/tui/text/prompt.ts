import type { Pressed } from '../state/effects.ts'
import type { KeyPress } from './key.ts'

/** The input line: its text, the caret, and what is open above it. Replaced, never changed. */
export interface Prompt {
  text: string
  /** UTF-16 offset, always between two graphemes. */
  caret: number
}

/** What the prompt must know to understand a key. */
export interface PromptContext {
  /** A turn runs: Enter steers, Tab queues. */
  isBusy: boolean
  columns: number
}

export const EMPTY_PROMPT: Prompt = { text: '', caret: 0 }

/** What a key does to the prompt. */
export function pressPrompt(prompt: Prompt, key: KeyPress, _context: PromptContext): Pressed<Prompt> {
  if (key.name === 'enter') return { state: EMPTY_PROMPT, effects: [{ type: 'submit', text: prompt.text }] }
  if (key.name !== 'text' && key.name !== 'paste') return { state: prompt, effects: [] }
  const text = prompt.text.slice(0, prompt.caret) + key.text + prompt.text.slice(prompt.caret)
  return { state: { text, caret: prompt.caret + key.text.length }, effects: [] }
}
