import { toCrabError } from '../../core/base/errors.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts, ExpandedMessage } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { pastedIn } from '../text/prompt.ts'
import type { Feed } from './feed.ts'
import { toStreamMsg } from './message.ts'
import type { PastedFiles } from './pasted-files.ts'
import { waitForOwnTurn } from './wait-for-own-turn.ts'

/** What the turns of a chat need. */
export interface TurnsOptions {
  store: ChatStore
  ports: ChatPorts
  rules: ChatOptions['rules']
  pasted: PastedFiles
  feed: Feed
  /** Aborted when the chat is over. */
  signal: AbortSignal
}

/** A message of this chat, from Enter to the end of its turn. */
interface OwnTurn {
  /** Ends it as long as nothing was sent. */
  stop: AbortController
  isSent: boolean
  hasBegun: boolean
  /** It is to be stopped as soon as it begins. */
  isUnwanted: boolean
  /** The agents have it, or never will. */
  delivered: PromiseWithResolvers<void>
  over: Promise<void>
}

/**
 * Sends messages: one turn after the other, steers while one runs, what is queued behind it. A turn goes on whoever
 * leaves; what happens in it comes with the conversation (see Feed), as what others do there.
 */
export class Turns {
  readonly #options: TurnsOptions
  /** What the agent is to know besides, and of which conversation. */
  #context: { session: string | undefined; text: string }[] = []
  /** What messages wait for: a conversation that is opened, a command whose output goes along. */
  #waits = 0
  #isOver = false
  #lastSteer: Promise<void> = Promise.resolve()
  #own: OwnTurn | undefined
  /** Messages that are not made of what stands for them, by that. */
  readonly #prepared = new Map<string, ExpandedMessage>()

  constructor(options: TurnsOptions) {
    this.#options = options
    const { feed, store, ports } = options
    feed.onTurnOver = () => {
      if (this.#own && !this.#own.hasBegun) store.act({ type: 'turn-waits', now: ports.now() })
      this.#sendNext()
    }
    feed.own.onStarted = () => {
      if (!this.#own) return
      this.#own.hasBegun = true
      if (this.#own.isUnwanted) void this.#kill()
    }
  }

  get isBusy(): boolean {
    return this.#own !== undefined || this.#options.store.get().turn !== undefined
  }

  /** A message: it begins a turn, or reaches the one that runs, whoever began that. */
  say(text: string): void {
    if (this.isBusy) this.#lastSteer = this.#lastSteer.then(() => this.#steer(text))
    else this.queue(text)
  }

  /** A message that is made already, for when nothing runs any more; `line` stands for it where it is shown. */
  queuePrepared(line: string, message: ExpandedMessage): void {
    this.#prepared.set(line, message)
    this.queue(line)
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

  /** Cancels the turn that runs, whoever began it; what waits for its end goes back into the prompt. */
  interrupt(): void {
    const { store } = this.#options
    store.act({ type: 'queue-taken-back' })
    const { turn } = store.get()
    const own = this.#own
    if ((!turn && !own) || turn?.isCancelling) return
    store.act({ type: 'cancelling' })
    if (own?.isSent === false) {
      own.stop.abort()
      return
    }
    if (own && turn?.runId === '') own.isUnwanted = true
    void this.#kill()
  }

  /** No other turn begins; the one in this process is cancelled, and has ended then. One of a daemon goes on. */
  async end(): Promise<void> {
    const { store, feed } = this.#options
    this.#isOver = true
    if (store.get().place !== 'daemon') {
      this.interrupt()
      await this.#own?.over
      return
    }
    await this.#own?.delivered.promise
    feed.stop()
    store.act({ type: 'turn-left', text: 'The turn goes on without this window', tone: 'info', goesOn: true })
  }

  async #kill(): Promise<void> {
    const { store, ports, signal } = this.#options
    const { agent, sender } = store.get()
    try {
      await request(ports.dispatch, 'kill', { agent, sender }, signal)
    } catch (reason) {
      const { kind, message: text, hint } = toCrabError(reason)
      if (kind === 'cancelled' || kind === 'missing') return // there is nothing to stop, or not yet
      store.act({ type: 'cancelling', isOff: true })
      store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text, hint } })
    }
  }

  #begin(text: string): void {
    const { store, ports, pasted } = this.#options
    const files = pasted.in(text).map(({ name }) => name)
    store.act({ type: 'turn-begun', text, files, now: ports.now() })
    const begun = { stop: new AbortController(), isSent: false, hasBegun: false, isUnwanted: false }
    const own: OwnTurn = { ...begun, delivered: Promise.withResolvers(), over: Promise.resolve() }
    this.#own = own
    own.over = this.#run(text, own).finally(() => {
      own.stop.abort()
      own.delivered.resolve()
      this.#own = undefined
      this.#sendNext()
    })
  }

  async #run(text: string, own: OwnTurn): Promise<void> {
    const { store, ports, feed, signal } = this.#options
    try {
      const runId = await this.#send(text, own)
      own.delivered.resolve()
      this.#forget(text)
      await waitForOwnTurn(runId, { ports, feed }, signal)
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      if (kind === 'cancelled')
        store.act({ type: 'print', block: { kind: 'notice', tone: 'info', text: 'Interrupted' } })
      else store.act({ type: 'turn-failed', message, hint })
    } finally {
      store.act({ type: 'turn-over' })
    }
  }

  /** Gives the agents a message; gives its run. */
  async #send(text: string, own: OwnTurn): Promise<string> {
    const { store, ports, rules, feed, signal } = this.#options
    const until = AbortSignal.any([own.stop.signal, signal])
    await feed.ready(until)
    const said = await this.#expand(text, until)
    until.throwIfAborted()
    own.isSent = true
    const message = { ...toStreamMsg(said, { state: store.get(), ports, rules }), detach: true }
    const sent = request(ports.dispatch, 'send', message, signal).then(({ runId }) => runId)
    return await feed.own.sending(said.content, sent)
  }

  async #expand(text: string, signal: AbortSignal) {
    const { store, ports, pasted } = this.#options
    const { content, attachments, problems } =
      this.#prepared.get(text) ?? (await ports.expand(text, pastedIn(store.get().prompt, text), signal))
    for (const problem of problems) {
      store.act({ type: 'print', block: { kind: 'notice', tone: 'warning', text: problem } })
    }
    const { session } = store.get()
    const context = this.#context.filter((told) => told.session === session).map((told) => told.text)
    const isSkill = content.startsWith('/') // its name has to stand first
    return {
      content: (isSkill ? [content, ...context] : [...context, content]).join('\n\n'),
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
    this.#prepared.delete(text)
  }

  #sendNext(): void {
    const { store, signal } = this.#options
    const [next] = store.get().queue
    const isHeld = this.isBusy || this.#waits > 0 || this.#isOver
    if (next !== undefined && !isHeld && !signal.aborted) this.#begin(next)
  }
}

/** A message that could not be made; as a turn of its own it will say why. */
const UNSENT = { content: '', attachments: [] }
