import type { Token } from 'marked'
import type { RenderContext } from '../view.ts'

/** What rendering Markdown needs of the view. */
export type MarkdownView = Pick<RenderContext, 'columns' | 'color' | 'parse' | 'highlight'>

/** Renders blocks within a block. */
export type RenderTokens = (tokens: readonly Token[], view: MarkdownView) => string[]
