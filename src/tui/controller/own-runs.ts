/** The turns that this chat began, so that what it follows can be told from what others did. */
export class OwnRuns {
  readonly #ids = new Set<string>()
  readonly #started = new Set<string>()
  #sending: { content: string; id: Promise<unknown> } | undefined
  /** One of them has begun. */
  onStarted: (id: string) => void = () => {}

  /** A message is being sent; its run is this chat's from when its id is known. */
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

  /** Whether a run that has begun is this chat's; waits for the id of a message that says the same. */
  async claim(id: string, content: string | undefined): Promise<boolean> {
    const sending = this.#sending
    // What the message names may stand behind it by now.
    const mayBe = sending !== undefined && (content?.startsWith(sending.content) ?? true)
    if (mayBe && !this.#ids.has(id)) await sending.id.catch(() => undefined) // whoever sends it is told
    if (!this.#ids.has(id)) return false
    this.#started.add(id)
    this.onStarted(id)
    return true
  }

  hasStarted(id: string): boolean {
    return this.#started.has(id)
  }
}
