import type { ChatPorts, WindowDraft } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import type { ChatState } from '../state/types.ts'
import { findPasted, fullPromptText, pastedDraft } from '../text/prompt-state.ts'

/** The time, in milliseconds, between two writes of a draft that changes. */
const SAVE_MS = 1_000

export interface DraftKeeperOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'cwd' | 'memory'>
}

/** The parts of the state that a draft is made of. */
type Unsent = Pick<ChatState, 'agent' | 'sender' | 'queue' | 'steers'> & { text: string; runId: string }

/**
 * Stores what is not sent yet, so that it survives a killed window, and removes it as soon as it was sent or
 * cleared: a draft when it begins, then at most once a second while it is typed; queued messages and unread steers
 * at once. Nothing is scheduled while none of them changes.
 */
export class DraftKeeper implements AsyncDisposable {
  readonly #options: DraftKeeperOptions
  readonly #unsubscribe: () => void
  #timer: NodeJS.Timeout | undefined
  /** The state that was stored last, or is about to be. */
  #seen: Unsent | undefined
  #isStored = false
  /** Resolves when the last write is done. */
  #written: Promise<void> = Promise.resolve()

  constructor(options: DraftKeeperOptions) {
    this.#options = options
    this.#unsubscribe = options.store.subscribe(() => this.#look())
  }

  /** Stores the last changes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#unsubscribe()
    this.#look()
    if (this.#timer) this.#save()
    await this.#written
  }

  #look(): void {
    const now = findUnsent(this.#options.store.get())
    const before = this.#seen
    if (isSame(before, now)) return
    this.#seen = now
    if (!now) this.#remove()
    else if (!this.#isStored || hasWaiting(now, before)) this.#save()
    else this.#timer ??= setTimeout(() => this.#save(), SAVE_MS)
  }

  #remove(): void {
    this.#stopTimer()
    if (this.#isStored) this.#written = this.#options.ports.memory.saveDraft(undefined)
    this.#isStored = false
  }

  #save(): void {
    this.#stopTimer()
    const { store, ports } = this.#options
    if (!this.#seen) return
    this.#isStored = true
    this.#written = ports.memory.saveDraft(toDraft(store.get(), ports.cwd)) // writes are done in order
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function findUnsent({ agent, sender, prompt, queue, steers, turn }: ChatState): Unsent | undefined {
  const { text } = prompt
  if (text === '' && queue.length + steers.length === 0) return undefined
  return { agent, sender, queue, steers, text, runId: steers.length > 0 ? (turn?.runId ?? '') : '' }
}

/** Whether other messages wait than before. */
function hasWaiting(now: Unsent, before: Unsent | undefined): boolean {
  const { queue = [], steers = [] } = before ?? {}
  const isEmpty = now.queue.length + now.steers.length + queue.length + steers.length === 0
  return !isEmpty && (now.queue !== queue || now.steers !== steers)
}

function isSame(one: Unsent | undefined, other: Unsent | undefined): boolean {
  if (!one || !other) return one === other
  return FIELDS.every((name) => one[name] === other[name])
}

const FIELDS = ['agent', 'sender', 'queue', 'steers', 'text', 'runId'] as const

function toDraft({ agent, sender, prompt, queue, steers, turn }: ChatState, cwd: string): WindowDraft {
  const toSentText = (text: string) => ({ text, pasted: findPasted(prompt, text) })
  return {
    ...{ agent, sender, cwd, text: fullPromptText(prompt), pasted: pastedDraft(prompt) },
    ...(queue.length > 0 && { queue: queue.map(toSentText) }),
    ...(steers.length > 0 && {
      runId: turn?.runId ?? '',
      steers: steers.map(({ text, content }) => ({
        ...toSentText(text),
        ...(content !== undefined && { content }),
      })),
    }),
  }
}
