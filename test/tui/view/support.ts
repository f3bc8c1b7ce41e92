import assert from 'node:assert/strict'
import { loadHighlight } from '../../../src/tui/view/highlight/load.ts'
import { loadMarkdown } from '../../../src/tui/view/markdown/load.ts'
import { measureWidth } from '../../../src/tui/view/text.ts'
import type { RenderContext } from '../../../src/tui/view/view.ts'

const parse = await loadMarkdown()
const highlight = await loadHighlight()

/** Returns a terminal with parser and highlighter loaded. */
export function makeView(view: Partial<RenderContext> = {}): RenderContext {
  return { columns: 80, rows: 24, color: false, details: false, parse, highlight, ...view }
}

/** Removes the colors from lines. */
export function plain(lines: readonly string[]): string[] {
  return lines.map((line) => line.replaceAll(SGR, ''))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ESC begins a color
const SGR = /\x1b\[(\d+)m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const HARMFUL = /[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/u

/**
 * Asserts that these lines can be printed as they are: within the terminal's width, only text and closed
 * colors.
 */
export function assertPrintable(lines: readonly string[], columns: number): void {
  for (const line of lines) {
    assert.ok(
      measureWidth(line) <= columns,
      `${measureWidth(line)} columns instead of ${columns}: ${JSON.stringify(line)}`,
    )
    const [text = ''] = plain([line])
    assert.doesNotMatch(text, HARMFUL, JSON.stringify(line))
    assert.doesNotMatch(
      text,
      /[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\ufe0f]]/v,
      JSON.stringify(line),
    )
    assert.doesNotMatch(text, /\p{M}{5}/u, JSON.stringify(line))
    assertClosed(line)
  }
}

/** Asserts that every color that a line opens is closed at its end. */
function assertClosed(line: string): void {
  const open = new Set<number>()
  for (const [, parameter] of line.matchAll(SGR)) {
    const code = Number(parameter)
    const closes = CLOSING.get(code)
    if (closes !== undefined) open.add(closes)
    else open.delete(code)
  }
  assert.equal(open.size, 0, `open at the end: ${JSON.stringify(line)}`)
}

const CLOSING: ReadonlyMap<number, number> = new Map([
  [1, 22],
  [2, 22],
  [3, 23],
  [4, 24],
  [7, 27],
  [9, 29],
  ...Array.from({ length: 8 }, (_, i): [number, number] => [30 + i, 39]),
  ...Array.from({ length: 8 }, (_, i): [number, number] => [90 + i, 39]),
])
