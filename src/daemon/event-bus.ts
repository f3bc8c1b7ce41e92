import { toCrabError } from '../core/base/errors.ts'
import { newUlid } from '../core/base/ids.ts'
import type { Log } from '../core/base/log.ts'
import { EventBus, type Firing, MAX_EVENT_PAYLOAD_BYTES } from '../core/bus/event-bus.ts'
import { EventTrace, headBytes, type TracedEvent } from '../core/bus/event-trace.ts'
import type { SubscriptionStore } from '../core/bus/subscription-store.ts'
import { CLASS_RIGHTS } from '../core/policy/class-rights.ts'
import type { AgentEvent } from '../core/runtime/events.ts'
import type { Broadcast } from '../core/runtime/live/broadcast.ts'
import type { LiveTurns, TurnObserver } from '../core/runtime/live/live-turns.ts'
import type { EndEvent, TurnRun } from '../core/runtime/live/run.ts'
import type { DaemonEvent } from './daemon-event.ts'

/** The event bus of a daemon, with the trace of what its events started. */
export interface DaemonBus {
  bus: EventBus
  trace: EventTrace
  /** Publishes how turns end, and traces the turns that events started. */
  observe: TurnObserver
}

/** The dependencies of an event bus. */
export interface DaemonBusOptions {
  log: Log
  subscriptions: SubscriptionStore
  /** Receives every published event. */
  events: Broadcast<DaemonEvent>
  live(): LiveTurns
  /** Aborted when the process shuts down. */
  shutdown: AbortSignal
  now(): number
}

/** Opens the event bus of a daemon: its subscriptions start turns of its agents (ADR 0107). */
export function openBus(options: DaemonBusOptions): DaemonBus {
  const { subscriptions: store, events, live, log, shutdown, now } = options
  const trace = new EventTrace()
  const published = (event: TracedEvent) => events.publish({ type: 'published', event })
  const bus = new EventBus({ store, trace, fire, published, log, shutdown, now, newId: newUlid })
  return { bus, trace, observe: createObserver({ bus, trace, log }) }

  async function fire({ runId, agent, sender, content, eventId, depth }: Firing): Promise<void> {
    const request = { runId, agent, sender, content, trust: 'unattended', settings: {} } as const
    await live().detach(request, { eventId, depth })
    const onEnd = ({ end }: { end: EndEvent }) => trace.endRun(runId, ...toTurnOutcome(end))
    void live()
      .wait(runId, shutdown)
      .then(onEnd, (reason: unknown) => trace.endRun(runId, 'failed', toCrabError(reason).message))
  }
}

/**
 * Publishes `agent:<name>:done` with the final text of a successful turn, or `agent:<name>:failed` with the
 * reason of the failure.
 *
 * Nothing is published for turns of guests, which speak in another agent's conversation, for turns that are
 * not stored, and for turns of a class that may not publish.
 */
function createObserver({ bus, trace, log }: { bus: EventBus; trace: EventTrace; log: Log }): TurnObserver {
  return (run, event) => {
    if (event.type === 'start') trace.startRun(run.id)
    if (event.type !== 'end' || !isPublished(run)) return
    const [state, why] = toTurnOutcome(event)
    const text = state === 'done' ? run.summary.lastText : why
    const payload = headBytes(text, MAX_EVENT_PAYLOAD_BYTES)
    const source = `agent:${run.start.primary.name}:${state}`
    const depth = run.origin?.depth ?? 0
    void bus.publish({ source, payload, runId: run.id, depth }).catch((reason: unknown) => {
      const { kind, message } = toCrabError(reason)
      log('warn', 'event lost', { source, run: run.id, kind, reason: message })
    })
  }
}

function isPublished({ guest, ephemeral, trust }: TurnRun): boolean {
  return guest === undefined && !ephemeral && CLASS_RIGHTS[trust].publishes
}

/** Returns whether a turn succeeded, and the reason if it did not. */
function toTurnOutcome({ error, stopReason }: EndEvent): ['done' | 'failed', string] {
  if (error) return ['failed', error.message]
  const failureReason = FAILURE_REASONS[stopReason]
  return failureReason === undefined ? ['done', ''] : ['failed', failureReason]
}

/** The failure reasons of turns that end without an error and yet not normally. */
const FAILURE_REASONS: Partial<Record<Extract<AgentEvent, { type: 'end' }>['stopReason'], string>> = {
  length: "The answer was cut off at the model's output limit",
  refused: 'The model refused to answer',
  max_turns: 'The turn reached its limit of model calls',
  max_cost: 'The turn reached its cost limit',
  cancelled: 'The turn was cancelled',
  failed: 'The turn failed',
}
