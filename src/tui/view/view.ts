import type { Token } from 'marked'

/** The terminal as renderers see it. */
export interface RenderContext {
  columns: number
  rows: number
  color: boolean
  /** Tool lines show what the tools gave. */
  details: boolean
  /** Details are shown to their last line. */
  isWhole?: boolean
  /** From markdown/load.ts; without it Markdown stands as it was written. */
  parse?: ParseMarkdown | undefined
  /** From highlight/load.ts; without it code has one colour. */
  highlight?: Highlight | undefined
}

/** The size of the terminal. */
export type Room = Pick<RenderContext, 'columns' | 'rows'>

/** The terminal for what looks the same with and without details. */
export type Face = Pick<RenderContext, 'columns' | 'rows' | 'color'>

/** Rows that what has the keys may take: the rest of the live region needs six. */
export function focusHeight(rows: number): number {
  return Math.max(2, rows - OTHERS)
}

const OTHERS = 6

/** Blocks and, within them, pieces of a clean Markdown text. */
export type ParseMarkdown = (text: string) => readonly Token[]

/** The lines of clean code with colours in them; undefined for a language it does not know. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined
