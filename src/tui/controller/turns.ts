import { abortable } from '../../core/base/abortable.ts'
import { toCrabError } from '../../core/base/errors.ts'
import { Serial } from '../../core/base/serial.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatOptions, ChatPorts, ExpandedMessage } from '../ports.ts'
import { modelToName } from '../state/model-choice.ts'
import type { ChatStore } from '../state/store.ts'
import { findPasted } from '../text/prompt-state.ts'
import type { Feed } from './feed.ts'
import { findGuest } from './guests.ts'
import type { PastedFiles } from './message.ts'
import { toStreamMsg } from './message.ts'
import { SessionServerTrust } from './session-servers.ts'
import { waitForOwnTurn } from './wait-for-own-turn.ts'

/** The dependencies of `Turns`. */
export interface TurnsOptions {
  store: ChatStore
  ports: ChatPorts
  rules: ChatOptions['rules']
  pasted: PastedFiles
  feed: Feed
  /** Aborted when the chat ends. */
  signal: AbortSignal
}

/** A message of this chat, from Enter to the end of its turn. */
interface OwnTurn {
  /** Cancels the message until it has been sent. */
  stop: AbortController
  isSent: boolean
  hasClosedParts: boolean
  /** Whether the turn must be cancelled as soon as it starts. */
  isUnwanted: boolean
  /** Whether this window has left the turn, which continues. */
  isLeft: boolean
  /** Resolves when the message has been sent, or never will be. */
  delivered: PromiseWithResolvers<void>
  ended: Promise<void>
}

/**
 * Sends messages: one turn after another, with steers while one runs and a queue behind it. A turn continues
 * when its client leaves; its events arrive with the conversation (see `Feed`), like those of other clients.
 */
export class Turns {
  readonly #options: TurnsOptions
  /** Additional context for the agent, with the session it belongs to. */
  #context: { session: string | undefined; text: string }[] = []
  /**
   * The number of things that messages wait for: an opening conversation, or a command whose output is sent
   * along.
   */
  #waits = 0
  #isOver = false
  readonly #servers: SessionServerTrust
  readonly #steers = new Serial()
  #own: OwnTurn | undefined
  /** The session that a model was last asked to name. */
  #named: string | undefined
  /** The turns that this window has left and that may still run. */
  readonly #left = new Set<OwnTurn>()
  /** Prepared messages by their display line; they are sent in place of the line's own text. */
  readonly #prepared = new Map<string, ExpandedMessage>()

  constructor(options: TurnsOptions) {
    this.#options = options
    this.#servers = new SessionServerTrust(options)
    const { feed, store, ports } = options
    feed.onTurnOver = () => {
      if (this.#own && !this.#own.hasClosedParts) store.act({ type: 'turn-waits', now: ports.now() })
      this.#sendNext()
    }
    feed.own.onStarted = () => {
      if (!this.#own) return
      this.#own.hasClosedParts = true
      if (this.#own.isUnwanted) void this.#kill()
    }
  }

  get isBusy(): boolean {
    return this.#own !== undefined || this.#options.store.get().turn !== undefined
  }

  /** Whether turns run that this window has left. */
  get hasLeftTurns(): boolean {
    return this.#left.size > 0
  }

  /** Sends a message: it starts a turn, or steers the running one, even if another client started that. */
  say(text: string): void {
    if (this.isBusy) {
      this.#options.store.act({ type: 'steering', text })
      void this.#steers.run(() => this.#steer(text))
    } else this.queue(text)
  }

  /** Queues a prepared message until nothing is running; `line` is its text on the screen. */
  queuePrepared(line: string, message: ExpandedMessage): void {
    this.#prepared.set(line, message)
    this.queue(line)
  }

  /** Queues a message until nothing is running. */
  queue(text: string): void {
    this.#options.store.act({ type: 'queued', text })
    this.#sendNext()
  }

  /** Makes messages wait until `work` settles. */
  wait(work: Promise<unknown>): void {
    this.#waits++
    const proceed = () => {
      this.#waits--
      this.#sendNext()
    }
    work.then(proceed, proceed)
  }

  /** Takes the answer to a question that this window asks itself; returns false for every other question. */
  answer(askId: string, answers: Readonly<Record<string, string>>): boolean {
    return this.#servers.answer(askId, answers)
  }

  /** Adds context for the agent that is sent with the next message of this conversation. */
  addContext(text: string): void {
    this.#context.push({ session: this.#options.store.get().session, text })
  }

  /** Cancels the running turn, even if another client started it. Queued messages go back into the prompt. */
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

  /**
   * Leaves the running turn: it continues without this window. Queued messages go back into the prompt. A
   * message that is being sent is sent first; an abort ends that wait, and the window stays.
   */
  async leave(signal: AbortSignal): Promise<void> {
    const { store } = this.#options
    if (!this.isBusy) return
    await abortable(this.#steers.settled(), signal) // they are meant for this turn
    const hasQueue = store.get().queue.length > 0
    store.act({ type: 'queue-taken-back' })
    const own = this.#own
    this.#servers.close()
    if (own) await abortable(own.delivered.promise, signal)
    if (own && this.#own === own) {
      own.isLeft = true
      this.#own = undefined
      this.#left.add(own)
      void own.ended.then(() => this.#left.delete(own))
    }
    const isLost = store.get().place === 'process'
    const text = `The turn continues in the background${isLost ? ' until you close this window' : ''}: /agents, or Left in an empty prompt, opens it${hasQueue ? '. Your queued messages are in the prompt' : ''}`
    store.act({ type: 'turn-detached', text, tone: 'info', keepsRunning: true })
  }

  /**
   * Starts no further turn. Cancels a turn in this process and waits for its end; a turn in a daemon
   * continues.
   */
  async end(): Promise<void> {
    const { store, feed } = this.#options
    this.#isOver = true
    if (store.get().place !== 'daemon') {
      this.interrupt()
      await this.#own?.ended
      return
    }
    this.#servers.close()
    await this.#own?.delivered.promise
    feed.stop()
    store.act({
      type: 'turn-detached',
      text: 'The turn continues without this window',
      tone: 'info',
      keepsRunning: true,
    })
  }

  async #kill(): Promise<void> {
    const { store, ports, signal } = this.#options
    const { agent, sender } = store.get()
    try {
      await request(ports.dispatch, 'kill', { agent, sender }, signal)
    } catch (reason) {
      const { kind, message: text, hint } = toCrabError(reason)
      if (kind === 'cancelled' || kind === 'missing') return // nothing is running, or not yet
      store.act({ type: 'cancelling', isReverted: true })
      store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text, hint } })
    }
  }

  #begin(text: string): void {
    const { store, ports, pasted } = this.#options
    const files = pasted.in(text).map(({ name }) => name)
    store.act({ type: 'message-sent', text, files, now: ports.now() })
    const flags = {
      stop: new AbortController(),
      isSent: false,
      hasClosedParts: false,
      isUnwanted: false,
      isLeft: false,
    }
    const own: OwnTurn = { ...flags, delivered: Promise.withResolvers(), ended: Promise.resolve() }
    this.#own = own
    own.ended = this.#run(text, own).finally(() => {
      own.stop.abort()
      own.delivered.resolve()
      if (this.#own === own) this.#own = undefined
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
      if (!own.isLeft) this.#name()
    } catch (reason) {
      const { kind, message, hint } = toCrabError(reason)
      if (own.isLeft) return
      if (kind === 'cancelled')
        store.act({ type: 'print', block: { kind: 'notice', tone: 'info', text: 'Interrupted' } })
      else store.act({ type: 'turn-failed', message, hint })
    } finally {
      if (!own.isLeft) store.act({ type: 'turn-over' })
    }
  }

  /** Has a model name the conversation after its first turn, if the settings say so. */
  #name(): void {
    const { store, ports, signal } = this.#options
    const { settings, session } = store.get()
    const model = modelToName(store.get())
    if (settings.titles !== 'model' || session === undefined || this.#named === session) return
    this.#named = session
    const { dispatch } = ports
    const named = import('./model-title.ts').then((loaded) =>
      loaded.nameByModel({ dispatch, session, model }, signal),
    )
    named.catch(() => undefined) // the conversation keeps the title made of its first message
  }

  /** Sends a message to the agents and returns its run id. */
  async #send(text: string, own: OwnTurn): Promise<string> {
    const { store, ports, rules, feed, signal } = this.#options
    const until = AbortSignal.any([own.stop.signal, signal])
    await feed.ready(until)
    const expanded = await this.#expand(text, until)
    const servers = await this.#servers.find(expanded.guest ?? store.get().agent, until)
    until.throwIfAborted()
    own.isSent = true
    const content = { ...expanded, servers }
    const message = { ...toStreamMsg(content, { state: store.get(), ports, rules }), detach: true }
    const sent = request(ports.dispatch, 'send', message, signal).then(({ runId }) => runId)
    return await feed.own.sending(expanded.content, sent)
  }

  async #expand(text: string, signal: AbortSignal) {
    const { store, ports, pasted } = this.#options
    const { content, attachments, problems } =
      this.#prepared.get(text) ?? (await ports.expand(text, findPasted(store.get().prompt, text), signal))
    for (const problem of problems) {
      store.act({ type: 'print', block: { kind: 'notice', tone: 'warning', text: problem } })
    }
    const { session, agent } = store.get()
    const guest = this.#prepared.has(text)
      ? undefined
      : await findGuest(text, { dispatch: ports.dispatch, agent }, signal)
    const context = this.#context.filter((entry) => entry.session === session).map((entry) => entry.text)
    const isSkill = content.startsWith('/') // a skill's name must come first
    return {
      content: (isSkill ? [content, ...context] : [...context, content]).join('\n\n'),
      attachments: [...attachments, ...pasted.in(text)],
      guest,
    }
  }

  /**
   * Steers the running turn. A steer carries only text for the turn's own agent, and a turn that has just
   * ended takes none: the message is then queued.
   */
  async #steer(text: string): Promise<void> {
    const { store, ports, signal } = this.#options
    const { content, attachments, guest } = await this.#expand(text, signal).catch(() => UNSENT)
    if (this.#isOver) return
    if (attachments.length > 0 || content === '' || guest !== undefined) return this.#queueSteer(text)
    store.act({ type: 'steered', text, content })
    try {
      const { agent, sender } = store.get()
      await request(ports.dispatch, 'steerSession', { agent, sender, content }, signal)
      this.#forget(text)
    } catch {
      this.#queueSteer(text)
    }
  }

  #queueSteer(text: string): void {
    this.#options.store.act({ type: 'steer-gone', text })
    this.queue(text)
  }

  /** Clears what has reached the agent, so that it is not sent again. */
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

/** A message that could not be expanded; sent as a turn of its own, it reports the reason. */
const UNSENT = { content: '', attachments: [], guest: undefined }
