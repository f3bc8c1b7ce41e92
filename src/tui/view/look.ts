import type { Block, NumberedBlock, OpenText } from './blocks.ts'
import type { Highlight, ParseMarkdown, RenderContext } from './view.ts'

/** The parts of the render context that do not depend on the terminal's size. */
export type Look = Pick<RenderContext, 'color' | 'parse' | 'highlight'>

/** Loads the Markdown parser, which the first frame does not need. */
export async function loadParser(): Promise<ParseMarkdown> {
  const { loadMarkdown } = await import('./markdown/load.ts')
  return await loadMarkdown()
}

/** Warms the parser up for its first long text, in small steps. */
export async function warmParser(): Promise<void> {
  const { warmMarkdown } = await import('./markdown/load.ts')
  await warmMarkdown()
}

/** Loads the highlighter. It blocks for a while, so only a conversation with code loads it. */
export async function loadHighlighter(): Promise<Highlight> {
  const { loadHighlight } = await import('./highlight/load.ts')
  return await loadHighlight()
}

/** Whether a text that is shown, or about to be, contains code. */
export function hasCode({ open, finished, asks }: CodeSources): boolean {
  const isCode = (text: string) => text.includes('```') || text.includes('~~~')
  if (open && isCode(open.text)) return true
  if (asks.some(({ ask }) => ask.permission && ask.permission.diff !== '')) return true
  return finished.some(({ block }) => (block.kind === 'answer' && isCode(block.text)) || hasDiff(block))
}

/** The parts of the state that may contain code. */
interface CodeSources {
  open: OpenText | undefined
  finished: readonly NumberedBlock[]
  asks: readonly { ask: { permission?: { diff: string } | undefined } }[]
}

/** Whether a block shows the change of a file. */
export function hasDiff(block: Block): boolean {
  return block.kind === 'tool' && block.tool.server === '' && DIFF_TOOLS.has(block.tool.name)
}

const DIFF_TOOLS: ReadonlySet<string> = new Set(['edit', 'write'])
