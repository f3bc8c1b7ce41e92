import { SpillFile, type SpillResult } from './spill-file.ts'
import { wholeLength, wholeStart } from './utf8-cut.ts'

/** The limits of a CappedOutput. */
export interface CappedOutputOptions {
  /** The maximum number of bytes of output to show. */
  capBytes: number
  /** The folder for spill files, absolute; created when the cap is exceeded. */
  spillFolder: string
  /** The maximum number of bytes to write to a spill file. */
  maxSpillBytes: number
}

/** The shown part of an output. */
export interface CappedText {
  /**
   * UTF-8 text. In a long output one line replaces the middle; it says how much is missing and where the rest
   * is.
   */
  text: string
  /** The number of bytes of output that the text omits. */
  droppedBytes: number
  /**
   * The file with the complete output, or with as much of its beginning as was allowed; undefined when there
   * is none.
   */
  spillPath: string | undefined
}

/**
 * Collects output of any length in bounded memory: its head, its tail, and a spill file once the middle is
 * dropped.
 */
export class CappedOutput {
  readonly #options: CappedOutputOptions
  readonly #headBytes: number
  readonly #tailBytes: number
  #head: Uint8Array = new Uint8Array(0)
  #tail: Uint8Array[] = []
  #heldBytes = 0
  #totalBytes = 0
  #spill: SpillFile | undefined

  constructor(options: CappedOutputOptions) {
    this.#options = options
    this.#headBytes = Math.floor(options.capBytes / 2)
    this.#tailBytes = options.capBytes - this.#headBytes
  }

  /**
   * Adds a chunk. Returns a promise to await before the next chunk while a spill file is written; otherwise
   * undefined.
   */
  add(piece: Uint8Array): Promise<void> | undefined {
    this.#totalBytes += piece.length
    const spilling = this.#spillAlong(piece)
    const room = this.#headBytes - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, piece.subarray(0, room)])
    if (piece.length > room) this.#keepTail(piece.subarray(room))
    return spilling
  }

  /** Closes the spill file and returns the shown output. */
  async finish(): Promise<CappedText> {
    const tail = Buffer.concat(this.#tail)
    if (this.#spill === undefined) {
      return { text: toText(Buffer.concat([this.#head, tail])), droppedBytes: 0, spillPath: undefined }
    }
    const spilled = await this.#spill.close()
    const head = this.#head.subarray(0, wholeLength(this.#head))
    const cut = lastBytes(tail, this.#tailBytes)
    const end = cut.subarray(wholeStart(cut))
    const droppedBytes = this.#totalBytes - head.length - end.length
    const notice = `[${droppedBytes} bytes are left out here${this.#describeSpill(spilled)}]`
    const text = `${withNewline(toText(head))}${notice}\n${toText(end)}`
    return { text, droppedBytes, spillPath: spilled.failure === undefined ? spilled.path : undefined }
  }

  /**
   * Spills a chunk once the cap is exceeded. The file begins with all earlier output, which is buffered until
   * then.
   */
  #spillAlong(piece: Uint8Array): Promise<void> | undefined {
    if (this.#spill !== undefined) return this.#spill.write(piece)
    if (this.#totalBytes <= this.#options.capBytes) return undefined
    const { spillFolder: folder, maxSpillBytes: maxBytes } = this.#options
    this.#spill = new SpillFile({ folder, maxBytes })
    return this.#spill.write(Buffer.concat([this.#head, ...this.#tail, piece]))
  }

  #keepTail(piece: Uint8Array): void {
    this.#tail.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes < 2 * this.#tailBytes) return
    this.#tail = [lastBytes(Buffer.concat(this.#tail), this.#tailBytes)]
    this.#heldBytes = this.#tailBytes
  }

  #describeSpill({ path, isWhole, failure }: SpillResult): string {
    if (failure !== undefined) return ` and not kept. ${failure}`
    const { maxSpillBytes } = this.#options
    return isWhole
      ? `; the whole output is in ${path}`
      : `; the first ${maxSpillBytes} bytes of the output are in ${path}`
  }
}

function lastBytes(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.subarray(Math.max(0, bytes.length - count))
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
