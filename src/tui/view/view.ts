import type { Token } from 'marked'

/** The terminal as renderers see it. */
export interface View {
  columns: number
  rows: number
  color: boolean
  /** Tool lines show what the tools gave. */
  details: boolean
  /** From markdown/load.ts; without it Markdown stands as it was written. */
  parse?: ParseMarkdown | undefined
  /** From highlight/load.ts; without it code has one colour. */
  highlight?: Highlight | undefined
}

/** Blocks and, within them, pieces of a clean Markdown text. */
export type ParseMarkdown = (text: string) => readonly Token[]

/** The lines of clean code with colours in them; undefined for a language it does not know. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined
