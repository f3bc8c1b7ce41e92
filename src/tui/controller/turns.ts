import { toCrabError } from '../../core/base/errors.ts'
import { request, streamTurn } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { pastedIn } from '../text/prompt.ts'
import { toStreamMsg } from './message.ts'
import type { PastedFiles } from './pasted-files.ts'

/** What the turns of a chat need. */
export interface TurnsOptions {
  store: ChatStore
  ports: ChatPorts
  rules: ChatOptions['rules']
  pasted: PastedFiles
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** Sends messages: one turn after the other, steers while one runs, what is queued behind it. */
export class Turns {
  readonly #options: TurnsOptions
  /** What the agent is to know besides, and of which conversation. */
  #context: { session: string | undefined; text: string }[] = []
  /** What messages wait for: a conversation that is opened, a command whose output goes along. */
  #waits = 0
  #isOver = false
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
    if (this.#running !== undefined) this.#lastSteer = this.#lastSteer.then(() => this.#steer(text))
    else this.queue(text)
  }

  /** A message for when nothing runs any more. */
  queue(text: string): void {
    this.#options.store.act({ type: 'queued', text })
    this.#sendNext()
  }

  /** Messages wait until this is over, however it ends. */
  wait(work: Promise<unknown>): void {
    this.#waits++
    const goOn = () => {
      this.#waits--
      this.#sendNext()
    }
    work.then(goOn, goOn)
  }

  /** Something the agent is to know that goes along with the next message of this conversation. */
  addContext(text: string): void {
    this.#context.push({ session: this.#options.store.get().session, text })
  }

  /** Cancels the running turn; what waits for its end goes back into the prompt. */
  interrupt(): void {
    const { store } = this.#options
    store.act({ type: 'queue-taken-back' })
    if (!this.#running || this.#running.stop.signal.aborted) return
    store.act({ type: 'cancelling' })
    this.#running.stop.abort()
  }

  /** Cancels for good, and waits until the turn has ended: no other one begins. */
  async end(): Promise<void> {
    this.#isOver = true
    this.interrupt()
    await this.#running?.over
  }

  #begin(text: string): void {
    const { store, ports, pasted } = this.#options
    const files = pasted.in(text).map(({ name }) => name)
    store.act({ type: 'turn-begun', text, files, now: ports.now() })
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
      const message = toStreamMsg(said, { state: store.get(), ports, rules })
      for await (const event of streamTurn(ports.dispatch, message, signal)) {
        if (event.event?.$case === 'start') this.#forget(text)
        store.act({ type: 'stream', event })
      }
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
    const { store, ports, pasted } = this.#options
    const { content, attachments, problems } = await ports.expand(
      text,
      pastedIn(store.get().prompt, text),
      signal,
    )
    for (const problem of problems) {
      store.act({ type: 'print', block: { kind: 'notice', tone: 'warning', text: problem } })
    }
    const { session } = store.get()
    const context = this.#context.filter((told) => told.session === session).map((told) => told.text)
    return {
      content: [...context, content].join('\n\n'),
      attachments: [...attachments, ...pasted.in(text)],
    }
  }

  /** A turn that has just ended takes no steer, and a steer carries text only: then it is the next message. */
  async #steer(text: string): Promise<void> {
    const { store, ports, signal } = this.#options
    const { content, attachments } = await this.#expand(text, signal).catch(() => UNSENT)
    if (this.#isOver) return
    if (attachments.length > 0 || content === '') return this.queue(text)
    store.act({ type: 'steered', text, content })
    try {
      const { agent, sender } = store.get()
      await request(ports.dispatch, 'steerSession', { agent, sender, content }, signal)
      this.#forget(text)
    } catch {
      store.act({ type: 'steer-gone', content })
      this.queue(text)
    }
  }

  /** What has reached the agent does not go along again. */
  #forget(text: string): void {
    this.#context = []
    this.#options.pasted.sent(text)
  }

  #sendNext(): void {
    const { store, signal } = this.#options
    const [next] = store.get().queue
    const isHeld = this.#running !== undefined || this.#waits > 0 || this.#isOver
    if (next !== undefined && !isHeld && !signal.aborted) this.#begin(next)
  }
}

/** A message that could not be made; as a turn of its own it will say why. */
const UNSENT = { content: '', attachments: [] }
