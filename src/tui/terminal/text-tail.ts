/** The last texts of a series, up to a number of characters. */
export class TextTail {
  readonly #maxChars: number
  #texts: string[] = []
  #chars = 0

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  get text(): string {
    return this.#texts.join('')
  }

  /** Adds a text, which gets a final line break if it has none. Whole texts at the start are dropped. */
  add(text: string): void {
    const line = text.endsWith('\n') ? text : `${text}\n`
    this.#texts.push(line)
    this.#chars += line.length
    let drop = 0
    while (drop < this.#texts.length - 1 && this.#chars > this.#maxChars)
      this.#chars -= this.#texts[drop++]!.length
    if (drop > 0) this.#texts = this.#texts.slice(drop)
  }
}
