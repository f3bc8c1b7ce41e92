import type { Token } from 'marked'

/** The terminal as renderers see it. */
export interface RenderContext {
  columns: number
  rows: number
  color: boolean
  /** Whether tool lines show the tools' output. */
  details: boolean
  /** Whether lines are printed without a screen, where no key opens the transcript. */
  isPlain?: boolean
  /** Whether details are shown without a limit of lines. */
  isWhole?: boolean
  /**
   * Whether lines of code may be wider than the terminal, which then wraps them, so that they are copied as they
   * are. Only for lines that are printed, never for the live region.
   */
  softWrap?: boolean
  /** The parser from markdown/load.ts; without it Markdown is shown as written. */
  parse?: ParseMarkdown | undefined
  /** The highlighter from highlight/load.ts; without it code is not colored. */
  highlight?: Highlight | undefined
}

/** The size of the terminal. */
export type Room = Pick<RenderContext, 'columns' | 'rows'>

/** The render context of views that do not depend on details. */
export type Face = Pick<RenderContext, 'columns' | 'rows' | 'color'>

/** Returns the rows that the focused part may use: the rest of the live region needs six. */
export function focusHeight(rows: number): number {
  return Math.max(2, rows - OTHERS)
}

const OTHERS = 6

/** Parses clean Markdown into blocks with their inline tokens. */
export type ParseMarkdown = (text: string) => readonly Token[]

/** Colors clean code and returns its lines; undefined for an unknown language. */
export type Highlight = (code: string, language: string) => readonly string[] | undefined
