import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { pastedDraft, promptText } from '../text/prompt.ts'

/** The time, in milliseconds, between two writes of a draft that changes. */
const SAVE_MS = 1_000

export interface DraftKeeperOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'cwd' | 'memory'>
}

/**
 * Stores the draft while it is typed, so that it survives a killed window, and removes it as soon as it was
 * sent or cleared. Nothing is scheduled while the draft does not change.
 */
export class DraftKeeper implements AsyncDisposable {
  readonly #options: DraftKeeperOptions
  readonly #unsubscribe: () => void
  #timer: NodeJS.Timeout | undefined
  /** The conversation and draft that were stored last, or are about to be. */
  #seen = ''
  #isStored = false

  constructor(options: DraftKeeperOptions) {
    this.#options = options
    this.#unsubscribe = options.store.subscribe(() => this.#look())
  }

  /** Stores the last changes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe()
    this.#look()
    clearTimeout(this.#timer)
    if (this.#timer) await this.#save()
  }

  #look(): void {
    const { agent, sender, prompt } = this.#options.store.get()
    const seen = prompt.text === '' ? '' : `${agent}\0${sender}\0${prompt.text}`
    if (seen === this.#seen) return
    this.#seen = seen
    if (seen === '') void this.#remove()
    else this.#timer ??= setTimeout(() => void this.#save(), SAVE_MS)
  }

  async #remove(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!this.#isStored) return
    this.#isStored = false
    await this.#options.ports.memory.saveDraft(undefined)
  }

  async #save(): Promise<void> {
    this.#timer = undefined
    const { store, ports } = this.#options
    const { agent, sender, prompt } = store.get()
    if (prompt.text === '') return
    this.#isStored = true
    const { cwd, memory } = ports
    await memory.saveDraft({ agent, sender, cwd, text: promptText(prompt), pasted: pastedDraft(prompt) })
  }
}
