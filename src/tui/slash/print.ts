import { pluralize } from '../../core/base/format.ts'
import type { Overlay, PageOverlay, Panel } from '../overlays/types.ts'
import type { Tone } from '../view/blocks.ts'
import { cleanLine } from '../view/clean.ts'
import { measureWidth, padText } from '../view/text.ts'
import type { SlashContext } from './types.ts'

type Acting = Pick<SlashContext, 'act'>

/** Prints a sentence in the chat. */
export function printNotice({ act }: Acting, tone: Tone, text: string, hint?: string): void {
  act({ type: 'print', block: { kind: 'notice', tone, text, hint } })
}

/** Prints rows under a title. */
export function printRows({ act }: Acting, title: string, rows: readonly (readonly string[])[]): void {
  act({ type: 'print', block: { kind: 'output', title, rows } })
}

/** Prints a text under a title. */
export function printTitled({ act }: Acting, title: string, text: string): void {
  act({ type: 'print', block: { kind: 'output', title, text } })
}

/** Opens an overlay in place of any other; undefined closes it. */
export function showOverlay({ act }: Acting, overlay: Overlay | undefined): void {
  act({ type: 'set', change: { overlay } })
}

/** Returns the open page with this title; undefined when something else is open. */
export function findPage({ state }: SlashContext, title: string): PageOverlay | undefined {
  const { overlay } = state()
  return overlay?.kind === 'page' && overlay.title === title ? overlay : undefined
}

/** Returns the open panel of this kind; undefined when something else is open. */
export function findPanel({ state }: SlashContext, picker: Panel['picker']): Panel | undefined {
  const { overlay } = state()
  return overlay?.kind === 'panel' && overlay.picker === picker ? overlay : undefined
}

/** Returns at most `count` lines of a text, and how many more it has. */
export function takeFirstLines(text: string, count: number): string {
  const lines = text.trim().split('\n')
  const rest = lines.length - count
  return (rest <= 0 ? lines : [...lines.slice(0, count), `… ${pluralize(rest, 'more line')}`]).join('\n')
}

/** Shows a dim line under the prompt until the next key. */
export function hint({ act }: Acting, text: string): void {
  act({ type: 'set', change: { hint: text } })
}

/** Aligns rows in two columns for a page; line breaks in cells are removed. */
export function inColumns(rows: readonly (readonly [string, string])[]): string {
  const cells = rows.map((row) => row.map(cleanLine))
  const width = Math.max(0, ...cells.map(([left = '']) => measureWidth(left)))
  return cells.map(([left = '', right = '']) => `  ${padText(left, width)}  ${right}`.trimEnd()).join('\n')
}
