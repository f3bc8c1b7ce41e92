import type { ChatState } from '../state/types.ts'
import type { Highlight, ParseMarkdown, RenderContext } from './view.ts'

/** How things look, whatever the size of the terminal. */
export type Look = Pick<RenderContext, 'color' | 'parse' | 'highlight'>

/** Loads what lays Markdown out; no first frame needs it. */
export async function loadParser(): Promise<ParseMarkdown> {
  const { loadMarkdown } = await import('./markdown/load.ts')
  return await loadMarkdown()
}

/** Makes the parser ready for its first long text, in small steps. */
export async function warmParser(): Promise<void> {
  const { warmMarkdown } = await import('./markdown/load.ts')
  await warmMarkdown()
}

/** Loads what colours code: it takes a while in one piece, so only a conversation with code in it pays for it. */
export async function loadColours(): Promise<Highlight> {
  const { loadHighlight } = await import('./highlight/load.ts')
  return await loadHighlight()
}

/** Whether something is to be shown, or about to be, that code stands in. */
export function hasCode({ open, finished }: Pick<ChatState, 'open' | 'finished'>): boolean {
  const isCode = (text: string) => text.includes('```') || text.includes('~~~')
  if (open && isCode(open.text)) return true
  return finished.some(({ block }) => block.kind === 'answer' && isCode(block.text))
}
