import type { KeyResult } from '../state/effects.ts'
import type { KeyPress } from '../text/key.ts'
import type { PageAction } from './types.ts'

/** Handles the keys of a page or panel row, some of which must be pressed twice; undefined for other keys. */
export function pressAction(
  action: PageAction,
  { text, ctrl, alt }: KeyPress,
): KeyResult<PageAction> | undefined {
  const { picker, value, keys, asked } = action
  const pressed = keys.find(({ key }) => key === text && !ctrl && !alt)
  if (!pressed) return undefined
  const { key, asksAgain } = pressed
  if (asksAgain !== undefined && asked !== key) return { state: { ...action, asked: key }, effects: [] }
  return { state: { ...action, asked: undefined }, effects: [{ type: 'chosen', picker, value, key }] }
}

/** Describes the key that must be pressed again; undefined when there is none. */
export function confirmText({ keys, asked }: Pick<PageAction, 'keys' | 'asked'>): string | undefined {
  const again = keys.find(({ key }) => key === asked)
  return again && `${again.key} again ${again.asksAgain} · any other key does not`
}

/** Lists the keys and their actions. */
export function keysText({ keys }: Pick<PageAction, 'keys'>): string {
  return keys.map(({ key, label }) => `${key} ${label}`).join(' · ')
}
