import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { toTypedText } from '../../core/base/typed-message.ts'
import {
  type AttachState,
  CompactionState,
  type SessionInfo,
  type SessionMessage,
  type StreamEvent,
  type StreamStart,
} from '../../core/protocol/crabtalk.generated.ts'
import { request, requestMany } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import { toBlocks } from '../state/history-blocks.ts'
import type { ChatStore } from '../state/store.ts'
import { titleFor } from '../state/title-for.ts'
import type { Block } from '../view/blocks.ts'
import { watchOthers } from './inbox.ts'
import { keepWatching } from './keep-watching.ts'
import { fetchLastMessages } from './last-messages.ts'
import type { OwnRuns } from './own-runs.ts'
import { restoreDraft } from './restore-draft.ts'
import { watchServers } from './server-watch.ts'
import { type Opening, showConversation } from './show-conversation.ts'
import { Viewport } from './viewport.ts'

/** The dependencies of a `ConversationFollower`. */
export interface FollowerOptions {
  store: ChatStore
  ports: ChatPorts
  own: OwnRuns
  /**
   * Resolves when the pending changes of the conversation are done. Snapshots and changes are applied only
   * then.
   */
  whenSettled(): Promise<unknown>
  /** Called when no turn is running any more. */
  onTurnOver(): void
}

/**
 * Shows one conversation in its current state and then everything that happens to it, from any client. After
 * a lost connection it reconnects and shows what was missed.
 */
export class ConversationFollower {
  readonly pair: { agent: string; sender: string }
  /** Resolves when the conversation is on the screen; rejects when it cannot be followed. */
  readonly shown: Promise<void>
  readonly #options: FollowerOptions
  readonly #viewport = new Viewport()
  readonly #shown = Promise.withResolvers<void>()
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()
  /** The summaries seen so far: a delayed change may be older than what is already shown. */
  readonly #summaries = new Set([''])
  #connected = Promise.withResolvers<void>()
  #opening: Opening | undefined
  #instance = ''
  #runId = ''
  #lastEnded = ''
  #turnMessage: SessionMessage | undefined
  /** Whether an event has announced a compaction that the next snapshot reports, too. */
  #isCompacted = false
  /** The number of messages of the conversation in the last snapshot. */
  #messageCount = 0
  #session: string | undefined

  constructor(options: FollowerOptions, pair: { agent: string; sender: string }, opening: Opening) {
    this.#options = options
    this.pair = pair
    this.#opening = opening
    this.shown = this.#shown.promise
    this.shown.catch(() => undefined) // the caller that opens the conversation handles it
    this.#connected.promise.catch(() => undefined)
  }

  /** Whether the conversation has been on the screen. */
  get isShown(): boolean {
    return this.#opening === undefined
  }

  /** Resolves when there is a connection; rejects when there will not be one. */
  get connected(): Promise<void> {
    return this.#connected.promise
  }

  /** Resolves when the end of a run has been shown, or can no longer arrive. */
  ended(runId: string): Promise<void> {
    const isPast = runId !== this.#runId && this.#options.own.hasStarted(runId)
    if (runId === this.#lastEnded || isPast) return Promise.resolve()
    const end = this.#ends.get(runId) ?? Promise.withResolvers<void>()
    this.#ends.set(runId, end)
    return end.promise
  }

  /** Follows the conversation until the signal aborts. Throws the error that ends it early. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#keepFollowing(signal)
    } catch (reason) {
      this.#shown.reject(reason)
      this.#connected.reject(reason)
      throw reason
    } finally {
      this.#markLookedAt()
      this.#endAll()
    }
  }

  async #keepFollowing(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      try {
        const onStanding = () => {
          attempt = 0
        }
        await this.#follow(
          { anew: attempt > 0, mayStart: attempt === 0 || attempt > TRIES_BEFORE_START },
          onStanding,
          signal,
        )
      } catch (reason) {
        if (signal.aborted) throw reason
        if (this.#opening || toCrabError(reason).kind !== 'unavailable') throw reason
        this.#lose()
        const waitMs = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)]
        await sleep(waitMs, undefined, { signal })
      }
    }
  }

  async #follow(
    how: { anew: boolean; mayStart: boolean },
    onStanding: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { ports, store } = this.#options
    const { place, instance, notes } = await ports.connect(how, signal)
    if (instance !== this.#instance) this.#viewport.seq = 0
    this.#instance = instance
    for (const note of notes) store.act({ type: 'print', block: { kind: 'notice', tone: 'info', ...note } })
    const afterSeq = this.#viewport.seq
    const stop = new AbortController()
    const until = AbortSignal.any([signal, stop.signal])
    let isFirst = true
    let isReplaced = false
    try {
      for await (const { event } of requestMany(
        ports.dispatch,
        'attach',
        { ...this.pair, afterSeq, window: true, exclusive: this.#opening?.isExclusive ?? false },
        signal,
      )) {
        if (event?.$case === 'stream') await this.#event(event.value)
        else if (event?.$case === 'message') this.#turnMessage = event.value
        else if (event?.$case === 'state' && !isFirst) await this.#change(event.value, signal)
        else if (event?.$case === 'state') {
          isReplaced = await this.#activate(event.value, signal)
          if (isReplaced) break
          isFirst = false
          await this.#applySnapshot(event.value, afterSeq, signal)
          store.act({ type: 'set', change: { place, isLinkLost: false, followers: event.value.followers } })
          if (place === 'process' && event.value.followers > 1) print(store, [OPEN_ELSEWHERE])
          onStanding()
          this.#shown.resolve()
          this.#connected.resolve()
          const { agent } = this.pair
          void keepWatching(() => watchServers({ ...this.#options, agent }, until), until)
          void keepWatching(() => watchOthers(this.#options, until), until)
        }
      }
    } finally {
      stop.abort()
    }
    if (isReplaced) return await this.#follow({ anew: false, mayStart: true }, onStanding, signal)
    throw new CrabError('unavailable', 'Cannot follow the conversation: its event stream ended')
  }

  /**
   * Makes the requested session the active one if another one is; returns whether it did. The attachment, which is
   * exclusive, has made certain that no other window is moved by it.
   */
  async #activate(state: AttachState, signal: AbortSignal): Promise<boolean> {
    const { session } = this.#opening ?? {}
    if (session === undefined || session === state.session?.id) return false
    await request(this.#options.ports.dispatch, 'activateSession', { session }, signal)
    this.#opening = { ...this.#opening!, session: undefined }
    return true
  }

  /** Brings the screen up to date with the snapshot that the daemon sends after connecting. */
  async #applySnapshot(state: AttachState, afterSeq: number, signal: AbortSignal): Promise<void> {
    await this.#options.whenSettled()
    signal.throwIfAborted()
    const { store, ports } = this.#options
    const isResumed = !this.#opening && afterSeq > 0 && state.resumedAfter === afterSeq
    if (isResumed) {
      store.act({ type: 'asks-listed', asks: state.asks, of: 'here' })
      return
    }
    const { turn } = store.get()
    if (turn && turn.runId !== '' && turn.runId !== state.runId) store.act(TURN_LEFT)
    await this.#showOrCatchUp(state, signal)
    this.#viewport.seq = state.resumedAfter
    this.#runId = state.runId
    for (const [runId, end] of this.#ends) if (runId !== state.runId) end.resolve()
    if (state.runId === '') return this.#options.onTurnOver()
    await this.#options.own.claim(state.runId, undefined)
    const since = Date.parse(state.runStartedAt)
    const isPartial = Number.isNaN(since) // an older daemon does not say it
    const now = isPartial ? ports.now() : Math.min(since, ports.now())
    store.act({ type: 'turn-started', runId: state.runId, now, isUnderWay: true, isPartial })
    store.act({ type: 'asks-listed', asks: state.asks, of: 'here' })
  }

  async #showOrCatchUp(state: AttachState, signal: AbortSignal): Promise<void> {
    const { store } = this.#options
    const isSame = !this.#opening && state.session?.id === store.get().session
    if (!isSame) return this.#show(state, this.#opening ?? ELSEWHERE, signal)
    if (state.session === undefined) return
    const { dispatch } = this.#options.ports
    const tail = { session: state.session.id, upto: state.upto, most: MAX_MISSED }
    const { messages } = await fetchLastMessages(dispatch, tail, signal)
    const missed = this.#viewport.missing(messages)
    if (missed.length > 0) {
      print(store, [{ kind: 'rule', text: 'meanwhile' }, ...toBlocks(missed)])
    }
    this.#viewport.stored(state.upto)
  }

  /** Applies a change: another active conversation, another title or model, or a compaction. */
  async #change(state: AttachState, signal: AbortSignal): Promise<void> {
    await this.#options.whenSettled()
    signal.throwIfAborted()
    const { store } = this.#options
    const { session, title, summary, followers } = store.get()
    if (state.followers !== followers) store.act({ type: 'set', change: { followers: state.followers } })
    if (state.session === undefined) return
    if (state.session.id !== session) return this.#show(state, ELSEWHERE, signal)
    const shown = titleFor(store.get(), state.session)
    if (shown !== title && shown !== '') store.act({ type: 'set', change: { title: shown } })
    this.#showChoice(state.session)
    this.#noticeRewind(state.session)
    const isKnown = state.session.summary === summary || this.#summaries.has(state.session.summary)
    this.#summaries.add(state.session.summary)
    if (isKnown) return
    store.act({ type: 'set', change: { summary: state.session.summary } })
    const isPrinted = this.#isCompacted
    this.#isCompacted = false
    if (isPrinted) return
    print(store, [{ kind: 'rule', text: 'compacted: a summary replaced the history' }])
  }

  /** Shows the model and effort that another window chose for the conversation. */
  #showChoice({ model, effort }: SessionInfo): void {
    const { store } = this.#options
    const { chosenModel = '', chosenEffort = '', choiceScope: scope } = store.get()
    if (scope !== 'stored' || (model === chosenModel && effort === chosenEffort)) return
    store.act({ type: 'choice', model: model || undefined, effort: effort || undefined, scope })
  }

  /** Says that messages were dropped, in this window or another one: they stay above in the scrollback. */
  #noticeRewind({ messageCount }: SessionInfo): void {
    const dropped = this.#messageCount - messageCount
    this.#messageCount = messageCount
    if (dropped <= 0) return
    const { store } = this.#options
    const text = `went back: ${pluralize(dropped, 'message')} dropped`
    print(store, [{ kind: 'rule', text }])
    const usage = { ...store.get().usage, last: undefined }
    store.act({ type: 'set', change: { usage } })
  }

  async #show(state: AttachState, opening: Opening, signal: AbortSignal): Promise<void> {
    this.#messageCount = state.session?.messageCount ?? 0
    await showConversation(this.#options, { pair: this.pair, state, opening }, signal)
    if (this.#opening) await restoreDraft(this.#options, { pair: this.pair, state }, signal)
    this.#opening = undefined
    this.#session = state.session?.id
    this.#viewport.stored(state.upto)
  }

  async #event(event: StreamEvent): Promise<void> {
    if (!this.#viewport.take(event)) return
    if (event.event?.$case === 'start') await this.#begin(event.event.value)
    const { store, ports } = this.#options
    store.act({ type: 'stream', event, now: ports.now() })
    if (event.event?.$case === 'compaction' && event.event.value.state === CompactionState.DONE)
      this.#isCompacted = true
    if (event.event?.$case === 'start') {
      this.#session = event.event.value.sessionId
      this.#markLookedAt()
    }
    if (event.event?.$case === 'end') this.#end()
  }

  async #begin({ runId, messageSeq }: StreamStart): Promise<void> {
    const { store, own, ports } = this.#options
    const message = this.#turnMessage?.seq === messageSeq ? this.#turnMessage : undefined
    this.#turnMessage = undefined
    this.#runId = runId
    if (messageSeq > 0) this.#viewport.stored(messageSeq)
    const isOwn = await own.claim(runId, message?.content)
    const received = isOwn || !message ? undefined : toUserMessage(message)
    const now = message ? Date.parse(message.ts) || ports.now() : ports.now()
    store.act({ type: 'turn-started', runId, now: Math.min(now, ports.now()), received })
  }

  #end(): void {
    this.#lastEnded = this.#runId
    this.#ends.get(this.#runId)?.resolve()
    this.#ends.delete(this.#runId)
    this.#runId = ''
    this.#markLookedAt()
    this.#options.onTurnOver()
  }

  /** Records that the user has seen the conversation up to now. */
  #markLookedAt(): void {
    if (this.#session !== undefined) void this.#options.ports.memory.markLookedAt(this.#session)
  }

  #lose(): void {
    const { store } = this.#options
    if (store.get().place !== 'daemon' || store.get().isLinkLost) return
    this.#connected = Promise.withResolvers()
    this.#connected.promise.catch(() => undefined)
    store.act({ type: 'set', change: { isLinkLost: true } })
  }

  #endAll(): void {
    for (const end of this.#ends.values()) end.resolve()
    this.#ends.clear()
  }
}

/**
 * The delays between attempts to reconnect, and the number of attempts before a daemon is started: one that
 * is restarting needs a moment.
 */
const RETRY_DELAYS_MS = [100, 200, 400, 800, 2_000, 5_000] as const
const TRIES_BEFORE_START = 3
/** The largest number of stored messages that are searched for missed ones. */
const MAX_MISSED = 200

const ELSEWHERE: Opening = { as: 'elsewhere' }

/** A process knows the turns of its own windows only. */
const OPEN_ELSEWHERE: Block = {
  kind: 'notice',
  tone: 'warning',
  text: "Another window has this conversation open. Without a daemon, windows do not show each other's messages",
  hint: 'the agent sees the messages of both; to see them all, open the conversation again',
}

const TURN_LEFT = {
  type: 'turn-detached',
  text: 'The daemon stopped during this turn. Finished steps are saved',
  tone: 'warning',
} as const

function toUserMessage({ content, attachments }: SessionMessage): { text: string; files: readonly string[] } {
  return { text: toTypedText(content), files: attachments.map(({ name, mediaType }) => name || mediaType) }
}

function print(store: ChatStore, blocks: readonly Block[]): void {
  for (const block of blocks) store.act({ type: 'print', block })
}
