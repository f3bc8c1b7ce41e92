/** Assembles the chunks of a stream into lines, in time linear in the bytes however they are split. */
export class LineReader {
  readonly #maxBytes: number
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the lines that this chunk completes, without their line feeds; undefined when one is too long. */
  push(chunk: Buffer): string[] | undefined {
    const lines: string[] = []
    let rest = chunk
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      if (!this.#append(rest.subarray(0, end))) return undefined
      rest = rest.subarray(end + 1)
      lines.push(this.#take())
    }
    return this.#append(rest) ? lines : undefined
  }

  #append(piece: Buffer): boolean {
    this.#bytes += piece.length
    if (piece.length > 0) this.#pieces.push(piece)
    return this.#bytes <= this.#maxBytes
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces).toString()
    this.#pieces = []
    this.#bytes = 0
    return line
  }
}

const LINE_FEED = 0x0a
