/** The turns that this chat started, to distinguish them from those of other clients. */
export class OwnRuns {
  readonly #ids = new Set<string>()
  readonly #started = new Set<string>()
  #sending: { content: string; id: Promise<unknown> } | undefined
  /** Called when one of them has started. */
  onStarted: (id: string) => void = () => {}

  /** Registers a message that is being sent; its run counts as this chat's once its id is known. */
  async sending(content: string, id: Promise<string>): Promise<string> {
    const known = id.then((one) => {
      this.#ids.add(one)
      return one
    })
    this.#sending = { content, id: known }
    try {
      return await known
    } finally {
      this.#sending = undefined
    }
  }

  /**
   * Whether a started run belongs to this chat. While a message with the same text is being sent, it waits
   * for that message's run id.
   */
  async claim(id: string, content: string | undefined): Promise<boolean> {
    const sending = this.#sending
    // The content of mentioned resources may already be appended to the message.
    const mayBe = sending !== undefined && (content?.startsWith(sending.content) ?? true)
    if (mayBe && !this.#ids.has(id)) await sending.id.catch(() => undefined) // the sender gets the error
    if (!this.#ids.has(id)) return false
    this.#started.add(id)
    this.onStarted(id)
    return true
  }

  hasStarted(id: string): boolean {
    return this.#started.has(id)
  }
}
