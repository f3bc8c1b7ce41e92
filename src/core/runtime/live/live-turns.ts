import { abortable } from '../../base/abortable.ts'
import { type CrabError, toCrabError } from '../../base/errors.ts'
import { TurnSummary } from '../../base/turn-summary.ts'
import type { Denial } from '../asks.ts'
import type { AgentEvent, TurnStart } from '../events.ts'
import type { Runtime } from '../runtime.ts'
import { tapEvents } from '../tap-events.ts'
import type { TurnRequest } from '../turn-request.ts'
import { Journal } from './journal.ts'
import type { Journals } from './journals.ts'
import { brokenEnd, closingEvents, foldAgentEvent, type Origin, type RunEnd, type TurnRun } from './run.ts'
import { Runs } from './runs.ts'

/** An event of a turn, with its number in the conversation. */
export interface NumberedEvent {
  seq: number
  event: AgentEvent
}

/** A run that has started. */
export type StartedRun = TurnRun & { readonly start: TurnStart }

/** Receives every event of every turn as it happens. It must not throw; its work is not awaited. */
export type TurnObserver = (run: StartedRun, event: AgentEvent) => void

/** The dependencies of the live turns of a process. */
export interface LiveTurnsOptions {
  runtime(signal: AbortSignal): Promise<Pick<Runtime, 'turn'>>
  journals: Journals
  observers: readonly TurnObserver[]
  /** Aborted when this process ends, which cancels detached turns. */
  shutdown: AbortSignal
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** The place where a run's events are. */
interface JournalPosition {
  journal: Journal
  /** The position of its first event. */
  position: number
}

interface LiveRun {
  run: TurnRun
  /** The complete request, including the run id; it is not retained after the run. */
  request: TurnRequest
  started: PromiseWithResolvers<JournalPosition>
  /** Whether the client has received the run's id: its end is then recorded even when it never starts. */
  isIdKnown?: boolean
  /** Set once the run has started. */
  journal?: Journal
}

/**
 * All turns of a process: they are numbered, can be followed, and outlive their clients when detached (ADR
 * 0110).
 *
 * Every turn that starts ends here, exactly once and however it ended, for its client, its followers, its
 * observers and those who wait for it (ADR 0171). No question of a turn is open at its end.
 */
export class LiveTurns {
  readonly #options: LiveTurnsOptions
  readonly #runs = new Runs()
  /** Turns that do not end when their client disconnects. */
  readonly #detached = new Set<Promise<void>>()
  readonly #cancel = new AbortController()

  constructor(options: LiveTurnsOptions) {
    this.#options = options
  }

  /** Returns the runs that have not ended, oldest first. */
  running(): TurnRun[] {
    return this.#runs.running()
  }

  /** Runs a turn for the consumer of the iterator; fails and is cancelled as Runtime.turn() is. */
  stream(request: TurnRequest, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    return this.#drive(this.#newRun(request, { detached: false }), signal)
  }

  /** Runs a turn for a client that reads only its end; fails and is cancelled as stream() is. */
  async complete(request: TurnRequest, signal: AbortSignal): Promise<RunEnd> {
    const live = this.#newRun(request, { detached: false })
    for await (const _ of this.#drive(live, signal)) {
      // the run has what was said
    }
    return { run: live.run, end: live.run.end! }
  }

  /**
   * Starts a turn that continues when clients leave, and returns its id once it is accepted; it may still
   * wait for its conversation then. `follow` yields its events to one reader; it throws the failure of a turn
   * that never started.
   *
   * Fails as Runtime.turn() does before `start`.
   */
  async detach(
    request: TurnRequest,
    origin?: Origin,
  ): Promise<{ id: string; follow(signal: AbortSignal): AsyncGenerator<NumberedEvent> }> {
    const accepted = Promise.withResolvers<void>()
    const live = this.#newRun({ ...request, accepted: () => accept() }, { detached: true, origin })
    const accept = () => {
      live.isIdKnown = true
      accepted.resolve()
    }
    const done = this.#pump(live).then(accepted.resolve, accepted.reject)
    this.#detached.add(done)
    void done.then(() => this.#detached.delete(done))
    await accepted.promise
    return { id: live.run.id, follow: (signal) => this.#follow(live, signal) }
  }

  /** Waits for a run to end. Throws `missing` for an unknown or evicted run. */
  wait(id: string, signal: AbortSignal): Promise<RunEnd> {
    return this.#runs.wait(id, signal)
  }

  /** Returns the current state of a run. Throws `missing` for an unknown or evicted run. */
  get(id: string): TurnRun {
    return this.#runs.get(id)
  }

  /** Cancels all detached turns, including those that start later. */
  cancelDetached(): void {
    this.#cancel.abort()
  }

  /** Resolves when no detached turn runs any more. */
  async settled(): Promise<void> {
    while (this.#detached.size > 0) await Promise.all(this.#detached)
  }

  #newRun(request: TurnRequest, more: { detached: boolean; origin?: Origin | undefined }): LiveRun {
    const id = request.runId ?? this.#options.newId()
    const started = Promise.withResolvers<JournalPosition>()
    started.promise.catch(() => {}) // the failure is also reported to the caller that started the turn
    const summary = new TurnSummary<Denial>({ maxDenied: MAX_DENIED })
    const unset = { start: undefined, startedAt: undefined, retry: undefined, end: undefined }
    const state = { ...unset, summary, openAsks: new Set<string>() }
    const { agent, sender, trust, guest, settings } = request
    const who = { id, agent, sender, trust, guest, ephemeral: settings.ephemeral ?? false }
    const run: TurnRun = { ...who, origin: undefined, ...more, ...state }
    this.#runs.add(run)
    return { run, request: { ...request, runId: id }, started }
  }

  async *#follow({ run, started }: LiveRun, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    const { journal, position } = await abortable(started.promise, signal)
    for await (const entry of journal.read(position, signal)) {
      if (entry.type !== 'event' || entry.runId !== run.id) continue
      yield { seq: entry.seq, event: entry.event }
      if (entry.event.type === 'end') return
    }
  }

  async #pump(live: LiveRun): Promise<void> {
    live.request.returnsSteers = () => (live.journal?.readers ?? 0) > 0
    for await (const _ of this.#drive(live, AbortSignal.any([this.#options.shutdown, this.#cancel.signal]))) {
      // followers read the journal
    }
  }

  /** Yields the events of a run; one whose consumer leaves is cancelled, and still read to its end. */
  #drive(live: LiveRun, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    const left = new AbortController()
    const { returnsSteers = () => false } = live.request
    live.request.returnsSteers = () => !left.signal.aborted && returnsSteers()
    const events = this.#run(live, AbortSignal.any([signal, left.signal]))
    return tapEvents(events, { cancel: (reason) => left.abort(reason) })
  }

  async *#run(live: LiveRun, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    const { run, request, started } = live
    let opened: ({ journal: Journal } & Disposable) | undefined
    try {
      const runtime = await this.#options.runtime(signal)
      for await (const event of runtime.turn(request, signal)) {
        if (event.type === 'start') {
          run.startedAt = this.#options.now()
          opened = this.#openJournal(request, event, run.startedAt)
          live.journal = opened.journal
          started.resolve({ journal: opened.journal, position: opened.journal.end })
        }
        const closing = event.type === 'end' ? closingEvents(run, event) : []
        for (const closed of closing) yield this.#emit(run, closed, opened!.journal)
        yield this.#emit(run, event, opened!.journal)
      }
    } catch (reason) {
      started.reject(reason)
      this.#endBroken(live, toCrabError(reason), opened?.journal)
      throw reason
    } finally {
      opened?.[Symbol.dispose]()
    }
  }

  /** Ends a run that could not end itself: it never started, or one of its observers threw. */
  #endBroken({ run, isIdKnown = false }: LiveRun, failure: CrabError, journal: Journal | undefined): void {
    const end = brokenEnd(run, failure)
    const last = run.end ? [] : [...closingEvents(run, end), end]
    if (journal) for (const event of last) this.#emit(run, event, journal)
    else if (!run.start && isIdKnown) this.#runs.end(run, end)
    else if (!run.start) this.#runs.refuse(run, failure)
  }

  /**
   * Opens the journal of a run; a turn that is not stored gets a private one that no other client can follow.
   */
  #openJournal(request: TurnRequest, start: TurnStart, at: number): { journal: Journal } & Disposable {
    if (request.settings.ephemeral) {
      return { journal: new Journal({ maxBytes: UNSAVED_BYTES }), [Symbol.dispose]: () => {} }
    }
    const pair = { agentId: start.primary.id, sender: request.sender }
    const opened = this.#options.journals.running(pair)
    const { attachments = [] } = request.settings
    const message = { line: start.line, content: request.content, attachments, at }
    opened.journal.append({ type: 'message', runId: start.runId, message })
    return opened
  }

  #emit(run: TurnRun, event: AgentEvent, journal: Journal): NumberedEvent {
    foldAgentEvent(run, event)
    const seq = journal.event(run.id, event)
    for (const observe of this.#options.observers) observe(run as StartedRun, event)
    if (event.type === 'end') this.#runs.end(run, event)
    if (event.type === 'start' || event.type === 'end') journal.append({ type: 'changed' })
    return { seq, event }
  }
}

const UNSAVED_BYTES = 1024 * 1024
/** The most denied calls of a run that are remembered. */
const MAX_DENIED = 1_000
