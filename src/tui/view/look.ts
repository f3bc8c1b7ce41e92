import type { View } from './view.ts'

/** How things look, whatever the size of the terminal. */
export type Look = Pick<View, 'color' | 'parse' | 'highlight'>

/** The look in parts, as they are loaded: none is needed for the first frame. */
export async function* loadLook(color: boolean): AsyncGenerator<Partial<Look>> {
  const { loadMarkdown, warmMarkdown } = await import('./markdown/load.ts')
  yield { parse: await loadMarkdown() }
  if (color) {
    const { loadHighlight } = await import('./highlight/load.ts')
    yield { highlight: await loadHighlight() }
  }
  await warmMarkdown()
}
