import { stripVTControlCharacters } from 'node:util'
import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import { toBlocks } from '../state/history-blocks.ts'
import { renderBlock } from '../view/block.ts'
import type { Block } from '../view/blocks.ts'
import { isCallBlock } from '../view/tool/fold.ts'
import type { RenderContext } from '../view/view.ts'

/** The position of a line: the block, counted back from the last one as 0, and the line within it. */
export interface DocumentPosition {
  block: number
  line: number
}

/**
 * A conversation as lines, rendered lazily. It grows at its start, and blocks are counted from its end, so
 * that positions stay valid.
 */
export class Document {
  /** Tool results at the very start whose calls are not loaded yet. */
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

  /** Changes the view; positions within a block may shift. */
  setView(view: RenderContext): void {
    this.#view = view
    this.#rendered.clear()
  }

  /** Adds earlier messages at the start. */
  prepend(messages: readonly SessionMessage[]): void {
    const all = [...messages, ...this.#results]
    const first = all.findIndex(({ role }) => role !== 'tool')
    this.#results = all.slice(0, first < 0 ? undefined : first)
    this.#rendered.delete(this.#blocks.length) // drops the empty lines cached for a block that was not loaded yet
    this.#blocks.push(...toBlocks(all, { showsDropped: true }).toReversed())
  }

  /** Replaces the content by blocks, the first one at the start. */
  setBlocks(blocks: readonly Block[]): void {
    this.#blocks.splice(0, this.#blocks.length, ...blocks.toReversed())
    this.#rendered.clear()
  }

  /** Returns the start of the next block, or of the previous one for -1. */
  moveBlock({ block, line }: DocumentPosition, by: 1 | -1): DocumentPosition {
    if (by === -1 && line > 0) return { block, line: 0 }
    return { block: Math.max(0, Math.min(this.blocks - 1, block - by)), line: 0 }
  }

  /** Returns the lines of a block; at least one, so that every block has a position. */
  getLines(block: number): readonly string[] {
    const known = this.#rendered.get(block)
    if (known) return known
    const found = this.#blocks[block]
    const lines = found ? renderBlock(found, this.#view) : []
    const shown = lines.length === 0 ? [''] : lines
    if (this.#rendered.size > MAX_RENDERED_BLOCKS) this.#rendered.clear()
    this.#rendered.set(block, shown)
    return shown
  }

  /** Returns at most `most` lines from a position on. */
  linesFrom({ block, line }: DocumentPosition, most: number): string[] {
    const lines = this.getLines(block).slice(line, line + most)
    for (let at = block - 1; at >= 0 && lines.length < most; at--) {
      lines.push(...this.getLines(at).slice(0, most - lines.length))
    }
    return lines
  }

  /** Returns the position `by` lines further, limited to both ends. */
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

  /** Returns the position of the first line. */
  start(): DocumentPosition {
    return { block: Math.max(0, this.blocks - 1), line: 0 }
  }

  /** Returns the position from which the last `rows` lines are visible. */
  end(rows: number): DocumentPosition {
    const last = { block: 0, line: this.getLines(0).length - 1 }
    return this.move(last, 1 - rows)
  }

  /**
   * Finds the nearest line after a position that contains a word, ignoring case, or before it when `by` is
   * -1. Wraps around once.
   */
  find(word: string, from: DocumentPosition, by: 1 | -1): DocumentPosition | undefined {
    const needle = word.toLowerCase()
    const count = this.blocks
    for (let step = 0; step <= count && count > 0; step++) {
      const block = (((from.block - by * step) % count) + count) % count
      if (!this.#mayHold(block, needle)) continue
      const edge = by === 1 ? -1 : Number.POSITIVE_INFINITY
      const line = this.#findIn(block, needle, { from: step === 0 ? from.line : edge, by })
      if (line !== undefined) return { block, line }
    }
    return undefined
  }

  #findIn(block: number, needle: string, { from, by }: { from: number; by: 1 | -1 }): number | undefined {
    const lines = this.getLines(block)
    const first = by === 1 ? from + 1 : Math.min(from, lines.length) - 1
    for (let at = first; at >= 0 && at < lines.length; at += by) {
      if (stripColors(lines[at]!).toLowerCase().includes(needle)) return at
    }
    return undefined
  }

  /**
   * Whether a block may contain a word, to avoid rendering blocks that cannot. A word that wrapping has split
   * is not found either way.
   */
  #mayHold(block: number, needle: string): boolean {
    this.#texts[block] ??= JSON.stringify(this.#blocks[block]).toLowerCase()
    const inJson = JSON.stringify(needle).slice(1, -1)
    return this.#texts[block]!.includes(inJson) || isCallBlock(this.#blocks[block]!)
  }
}

/** Removes the colors of a line. */
export function stripColors(line: string): string {
  return stripVTControlCharacters(line)
}

/** The maximum number of blocks whose lines are cached. */
const MAX_RENDERED_BLOCKS = 500
