import type { Highlight } from '../view.ts'

/** Loads what colours code: some 30 ms and 200 KB that a chat without code need not pay. */
export async function loadHighlight(): Promise<Highlight> {
  const { makeHighlight } = await import('./highlighter.ts')
  return makeHighlight()
}
