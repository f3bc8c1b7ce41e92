import { stripVTControlCharacters } from 'node:util'
import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { toBlocks } from '../state/history-blocks.ts'
import type { Block } from '../state/types.ts'
import { renderBlock } from '../view/block.ts'
import type { RenderContext } from '../view/view.ts'

/** A line of the document: which block, counted from the last one as 0, and which of its lines. */
export interface DocumentPosition {
  block: number
  line: number
}

/**
 * A conversation as lines, rendered as far as somebody looks at it. It grows at its beginning, and blocks are counted
 * from its end, so that places stay what they are.
 */
export class Document {
  /** Results in front of all other messages: their calls are still to come. */
  #results: readonly SessionMessage[] = []
  readonly #blocks: Block[] = []
  readonly #texts: (string | undefined)[] = []
  #view: RenderContext
  #rendered = new Map<number, readonly string[]>()

  constructor(view: RenderContext) {
    this.#view = view
  }

  get view(): RenderContext {
    return this.#view
  }

  get blocks(): number {
    return this.#blocks.length
  }

  /** Places within a block may change. */
  setView(view: RenderContext): void {
    this.#view = view
    this.#rendered.clear()
  }

  /** Adds what comes before all that is there. */
  prepend(messages: readonly SessionMessage[]): void {
    const all = [...messages, ...this.#results]
    const first = all.findIndex(({ role }) => role !== 'tool')
    this.#results = all.slice(0, first < 0 ? undefined : first)
    this.#rendered.delete(this.#blocks.length) // of a place that was asked for before it was there
    this.#blocks.push(...toBlocks(all).toReversed())
  }

  /** The lines of a block; at least one, so that every block is a place. */
  getLines(block: number): readonly string[] {
    const known = this.#rendered.get(block)
    if (known) return known
    const found = this.#blocks[block]
    const lines = found ? renderBlock(found, this.#view) : []
    const shown = lines.length === 0 ? [''] : lines
    if (this.#rendered.size > MOST_RENDERED) this.#rendered.clear()
    this.#rendered.set(block, shown)
    return shown
  }

  /** Lines from a place on. */
  linesFrom({ block, line }: DocumentPosition, most: number): string[] {
    const lines = this.getLines(block).slice(line, line + most)
    for (let at = block - 1; at >= 0 && lines.length < most; at--) {
      lines.push(...this.getLines(at).slice(0, most - lines.length))
    }
    return lines
  }

  /** The place so many lines further; stops at both ends. */
  move({ block, line }: DocumentPosition, by: number): DocumentPosition {
    let at = { block, line: Math.min(line, this.getLines(block).length - 1) + by }
    while (at.line < 0 && at.block < this.blocks - 1) {
      at = { block: at.block + 1, line: at.line + this.getLines(at.block + 1).length }
    }
    while (at.block > 0 && at.line >= this.getLines(at.block).length) {
      at = { block: at.block - 1, line: at.line - this.getLines(at.block).length }
    }
    return { block: at.block, line: Math.max(0, Math.min(at.line, this.getLines(at.block).length - 1)) }
  }

  /** The first line. */
  start(): DocumentPosition {
    return { block: Math.max(0, this.blocks - 1), line: 0 }
  }

  /** Where one stands to see the last so many lines. */
  end(rows: number): DocumentPosition {
    const last = { block: 0, line: this.getLines(0).length - 1 }
    return this.move(last, 1 - rows)
  }

  /** The nearest line behind a place that holds a word in any case, or before it when `by` is -1; goes round once. */
  find(word: string, from: DocumentPosition, by: 1 | -1): DocumentPosition | undefined {
    const wanted = word.toLowerCase()
    const count = this.blocks
    for (let step = 0; step <= count && count > 0; step++) {
      const block = (((from.block - by * step) % count) + count) % count
      if (!this.#mayHold(block, wanted)) continue
      const edge = by === 1 ? -1 : Number.POSITIVE_INFINITY
      const line = this.#findIn(block, wanted, { from: step === 0 ? from.line : edge, by })
      if (line !== undefined) return { block, line }
    }
    return undefined
  }

  #findIn(block: number, wanted: string, { from, by }: { from: number; by: 1 | -1 }): number | undefined {
    const lines = this.getLines(block)
    const first = by === 1 ? from + 1 : Math.min(from, lines.length) - 1
    for (let at = first; at >= 0 && at < lines.length; at += by) {
      if (stripColors(lines[at]!).toLowerCase().includes(wanted)) return at
    }
    return undefined
  }

  /** Blocks are not rendered for a word they cannot hold; one that wrapping has torn apart is not found either way. */
  #mayHold(block: number, wanted: string): boolean {
    this.#texts[block] ??= JSON.stringify(this.#blocks[block]).toLowerCase()
    const inJson = JSON.stringify(wanted).slice(1, -1)
    return this.#texts[block]!.includes(inJson) || this.#blocks[block]!.kind === 'tool'
  }
}

/** A line without its colours. */
export function stripColors(line: string): string {
  return stripVTControlCharacters(line)
}

/** Blocks whose lines are kept. */
const MOST_RENDERED = 500
