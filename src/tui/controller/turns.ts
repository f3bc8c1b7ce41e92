import { toCrabError } from '../../core/base/errors.ts'
import { request, streamTurn } from '../../core/protocol/dispatch.ts'
import type { AttachedFile, ChatOptions, ChatPorts } from '../ports.ts'
import type { ChatStore } from '../store.ts'
import { toStreamMsg } from './message.ts'

/** What the turns of a chat need. */
export interface TurnsOptions {
  store: ChatStore
  ports: ChatPorts
  rules: ChatOptions['rules']
  /** Files that were pasted, by the label that stands for them in a message. */
  pasted: ReadonlyMap<string, AttachedFile>
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** Sends messages: one turn after the other, steers while one runs, what is queued behind it. */
export class Turns {
  readonly #options: TurnsOptions
  readonly #context: string[] = []
  #lastSteer: Promise<void> = Promise.resolve()
  #running: { stop: AbortController; over: Promise<void> } | undefined

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  get isBusy(): boolean {
    return this.#running !== undefined
  }

  /** A message: it begins a turn, or reaches the one that runs. */
  say(text: string): void {
    if (this.#running === undefined) this.#begin(text)
    else this.#lastSteer = this.#lastSteer.then(() => this.#steer(text))
  }

  /** Something the agent is to know that goes along with the next message. */
  addContext(text: string): void {
    this.#context.push(text)
  }

  /** A message for when the running turn is over. */
  queue(text: string): void {
    if (this.#running === undefined) this.#begin(text)
    else this.#options.store.act({ type: 'queued', text })
  }

  /** Cancels the running turn; what waits for its end goes back into the prompt. */
  interrupt(): void {
    const { store } = this.#options
    if (!this.#running || this.#running.stop.signal.aborted) return
    store.act({ type: 'queue-taken-back' })
    store.act({ type: 'cancelling' })
    this.#running.stop.abort()
  }

  /** Cancels, and waits until the turn has ended. */
  async end(): Promise<void> {
    const running = this.#running
    this.interrupt()
    await running?.over
  }

  #begin(text: string, isQueued = false): void {
    const { store, ports } = this.#options
    const files = this.#pastedIn(text).map(({ name }) => name)
    store.act({ type: 'turn-begun', text, files, now: ports.now(), isQueued })
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, this.#options.signal])
    const over = this.#run(text, signal).finally(() => {
      stop.abort()
      this.#running = undefined
      this.#sendNext()
    })
    this.#running = { stop, over }
  }

  async #run(text: string, signal: AbortSignal): Promise<void> {
    const { store, ports, rules } = this.#options
    try {
      const said = await this.#expand(text, signal)
      this.#context.length = 0
      const message = toStreamMsg(said, { state: store.get(), ports, rules })
      for await (const event of streamTurn(ports.dispatch, message, signal))
        store.act({ type: 'stream', event })
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      if (kind === 'cancelled')
        store.act({ type: 'print', block: { kind: 'notice', tone: 'info', text: 'Interrupted' } })
      else store.act({ type: 'turn-failed', message, hint })
    } finally {
      store.act({ type: 'turn-over' })
    }
  }

  async #expand(text: string, signal: AbortSignal) {
    const { store, ports } = this.#options
    const { content, attachments, problems } = await ports.expand(text, store.get().prompt.sentPastes, signal)
    for (const problem of problems) {
      store.act({ type: 'print', block: { kind: 'notice', tone: 'warning', text: problem } })
    }
    return {
      content: [...this.#context, content].join('\n\n'),
      attachments: [...attachments, ...this.#pastedIn(text)],
    }
  }

  #pastedIn(text: string): AttachedFile[] {
    return [...this.#options.pasted].filter(([label]) => text.includes(label)).map(([, file]) => file)
  }

  /** A turn that has just ended takes no steer, and a steer carries text only: then it is the next message. */
  async #steer(text: string): Promise<void> {
    const { store, ports, signal } = this.#options
    const { content, attachments } = await this.#expand(text, signal).catch(() => UNSENT)
    if (attachments.length > 0 || content === '') return this.queue(text)
    store.act({ type: 'steered', text, content })
    try {
      const { agent, sender } = store.get()
      await request(ports.dispatch, 'steerSession', { agent, sender, content }, signal)
      this.#context.length = 0
    } catch {
      store.act({ type: 'steer-gone', content })
      this.queue(text)
    }
  }

  #sendNext(): void {
    const { store, signal } = this.#options
    const [next] = store.get().queue
    if (next === undefined || signal.aborted) return
    this.#begin(next, true)
  }
}

/** A message that could not be made; as a turn of its own it will say why. */
const UNSENT = { content: '', attachments: [] }
