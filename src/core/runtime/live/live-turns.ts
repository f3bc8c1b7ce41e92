import { abortable } from '../../base/abortable.ts'
import { toCrabError } from '../../base/errors.ts'
import type { AgentEvent, TurnStart } from '../events.ts'
import type { Runtime } from '../runtime.ts'
import type { TurnRequest } from '../turn-request.ts'
import { Journal } from './journal.ts'
import type { Journals } from './journals.ts'
import { applyEvent, brokenEnd, clientLeft, type Origin, type RunEnd, type TurnRun } from './run.ts'
import { Runs } from './runs.ts'

/** An event of a turn, counted in its conversation. */
export interface NumberedEvent {
  seq: number
  event: AgentEvent
}

/** A run that has begun. */
export type StartedRun = TurnRun & { readonly start: TurnStart }

/** Is told of every event of every turn, when it happens. It must not throw, and nobody waits for it. */
export type TurnObserver = (run: StartedRun, event: AgentEvent) => void

export interface LiveTurnsOptions {
  runtime(signal: AbortSignal): Promise<Pick<Runtime, 'turn'>>
  journals: Journals
  observers: readonly TurnObserver[]
  /** Aborted when this process ends, which cancels detached turns. */
  over: AbortSignal
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** Where the events of a run are told. */
interface JournalPosition {
  journal: Journal
  /** Of its first event. */
  position: number
}

interface LiveRun {
  run: TurnRun
  /** Whole; only while it runs. */
  request: TurnRequest
  begun: PromiseWithResolvers<JournalPosition>
  /** Its id was told: how it ends is to be known, also when it never begins. */
  isTold?: boolean
  /** Of one that has begun. */
  journal?: Journal
}

/** All turns of a process: counted, followed by whoever wants to, and outliving their clients where that is asked for. */
export class LiveTurns {
  readonly #options: LiveTurnsOptions
  readonly #runs = new Runs()
  /** Turns that nobody's hanging up cancels. */
  readonly #detached = new Set<Promise<void>>()
  readonly #cancel = new AbortController()

  constructor(options: LiveTurnsOptions) {
    this.#options = options
  }

  /** Those that have not ended, oldest first. */
  running(): TurnRun[] {
    return this.#runs.running()
  }

  /** Runs a turn for whoever iterates; fails and is cancelled as Runtime.turn(). */
  stream(request: TurnRequest, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    return this.#drive(this.#newRun(request, { detached: false }), signal)
  }

  /**
   * Begins a turn that goes on whoever leaves, and gives its id when nothing refuses it any more: it may wait for its
   * conversation then. `follow` brings its events, for one reader, also when it failed before its start.
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
      live.isTold = true
      accepted.resolve()
    }
    const done = this.#pump(live).then(accepted.resolve, accepted.reject)
    this.#detached.add(done)
    void done.then(() => this.#detached.delete(done))
    await accepted.promise
    return { id: live.run.id, follow: (signal) => this.#follow(live, signal) }
  }

  /** How a run ends. Throws `missing` for one that is not known any more. */
  wait(id: string, signal: AbortSignal): Promise<RunEnd> {
    return this.#runs.wait(id, signal)
  }

  /** A run as it stands. Throws `missing` for one that is not known any more. */
  get(id: string): TurnRun {
    return this.#runs.get(id)
  }

  /** Cancels all detached turns, also those that begin later. */
  cancelDetached(): void {
    this.#cancel.abort()
  }

  /** Resolves when no detached turn runs any more. */
  async settled(): Promise<void> {
    while (this.#detached.size > 0) await Promise.all(this.#detached)
  }

  #newRun(request: TurnRequest, more: { detached: boolean; origin?: Origin | undefined }): LiveRun {
    const id = request.runId ?? this.#options.newId()
    const begun = Promise.withResolvers<JournalPosition>()
    begun.promise.catch(() => {}) // whoever began the turn is told, too
    const state = { start: undefined, text: '', end: undefined }
    const { agent, sender, trust, guest, settings } = request
    const who = { id, agent, sender, trust, guest, ephemeral: settings.ephemeral ?? false }
    const run: TurnRun = { ...who, origin: undefined, ...more, ...state }
    this.#runs.add(run)
    return { run, request: { ...request, runId: id }, begun }
  }

  async *#follow({ run, begun }: LiveRun, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    const { journal, position } = await abortable(begun.promise, signal)
    for await (const told of journal.read(position, signal)) {
      if (told.type !== 'event' || told.runId !== run.id) continue
      yield { seq: told.seq, event: told.event }
      if (told.event.type === 'end') return
    }
  }

  async #pump(live: LiveRun): Promise<void> {
    live.request.returnsSteers = () => (live.journal?.readers ?? 0) > 0
    for await (const _ of this.#drive(live, AbortSignal.any([this.#options.over, this.#cancel.signal]))) {
      // whoever follows it reads the journal
    }
  }

  async *#drive(live: LiveRun, signal: AbortSignal): AsyncGenerator<NumberedEvent> {
    const { run, request, begun } = live
    let kept: ({ journal: Journal } & Disposable) | undefined
    let failure = clientLeft() // unless it fails
    try {
      const runtime = await this.#options.runtime(signal)
      for await (const event of runtime.turn(request, signal)) {
        if (event.type === 'start') {
          kept = this.#begin(request, event)
          live.journal = kept.journal
          begun.resolve({ journal: kept.journal, position: kept.journal.end })
        }
        yield { seq: this.#emit(run, event, kept!.journal), event }
      }
    } catch (reason) {
      failure = toCrabError(reason)
      begun.reject(reason)
      throw reason
    } finally {
      if (kept && !run.end) this.#emit(run, brokenEnd(run, failure), kept.journal)
      else if (!run.start && live.isTold) this.#runs.end(run, brokenEnd(run, failure))
      else if (!run.start) this.#runs.refuse(run, failure)
      kept?.[Symbol.dispose]()
    }
  }

  /** What is not stored is nobody else's to follow. */
  #begin(request: TurnRequest, start: TurnStart): { journal: Journal } & Disposable {
    if (request.settings.ephemeral) {
      return { journal: new Journal({ maxBytes: UNSAVED_BYTES }), [Symbol.dispose]: () => {} }
    }
    const pair = { agentId: start.primary.id, sender: request.sender }
    const kept = this.#options.journals.running(pair)
    const { attachments = [] } = request.settings
    const at = this.#options.now()
    const message = { line: start.line, content: request.content, attachments, at }
    kept.journal.append({ type: 'message', runId: start.runId, message })
    return kept
  }

  #emit(run: TurnRun, event: AgentEvent, journal: Journal): number {
    applyEvent(run, event)
    const seq = journal.event(run.id, event)
    for (const observe of this.#options.observers) observe(run as StartedRun, event)
    if (event.type === 'end') this.#runs.end(run, event)
    if (event.type === 'start' || event.type === 'end') journal.append({ type: 'changed' })
    return seq
  }
}

const UNSAVED_BYTES = 1024 * 1024
