import type { Token } from 'marked'
import type { RenderContext } from '../view.ts'

/** The parts of the render context that Markdown needs. */
export type MarkdownView = Pick<RenderContext, 'columns' | 'color' | 'parse' | 'highlight' | 'softWrap'>

/** Renders the blocks nested in a block. */
export type RenderTokens = (tokens: readonly Token[], view: MarkdownView) => string[]
