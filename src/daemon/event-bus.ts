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

/** What the events of a daemon start, and what came of them. */
export interface DaemonBus {
  bus: EventBus
  trace: EventTrace
  /** Publishes how turns end, and follows those that events began. */
  observe: TurnObserver
}

export interface DaemonBusOptions {
  log: Log
  subscriptions: SubscriptionStore
  /** Is told of what is published. */
  events: Broadcast<DaemonEvent>
  live(): LiveTurns
  /** Aborted with the process. */
  over: AbortSignal
  now(): number
}

/** The event bus of a daemon: its subscriptions begin turns of its agents (RFC 0121). */
export function openBus(options: DaemonBusOptions): DaemonBus {
  const { subscriptions: store, events, live, log, over, now } = options
  const trace = new EventTrace()
  const published = (event: TracedEvent) => events.tell({ type: 'published', event })
  const bus = new EventBus({ store, trace, fire, published, log, over, now, newId: newUlid })
  return { bus, trace, observe: observer({ bus, trace, log }) }

  async function fire({ runId, agent, sender, content, eventId, depth }: Firing): Promise<void> {
    const request = { runId, agent, sender, content, trust: 'unattended', settings: {} } as const
    await live().detach(request, { eventId, depth })
    const onEnd = ({ end }: { end: EndEvent }) => trace.ended(runId, ...toTurnOutcome(end))
    void live()
      .wait(runId, over)
      .then(onEnd, (reason: unknown) => trace.ended(runId, 'failed', toCrabError(reason).message))
  }
}

/**
 * Publishes `agent:<name>:done` with the last text of a turn that went well, `agent:<name>:failed` with why one did not.
 *
 * Guests only speak in another agent's conversation, and what is not stored is nobody else's: both publish nothing.
 */
function observer({ bus, trace, log }: { bus: EventBus; trace: EventTrace; log: Log }): TurnObserver {
  /** Where the text of the last model call begins. */
  const lastText = new WeakMap<object, number>()
  return (run, event) => {
    if (event.type === 'start') trace.began(run.id)
    if (event.type === 'text-start') lastText.set(run, run.text.length)
    if (event.type !== 'end' || !isPublished(run)) return
    const [state, why] = toTurnOutcome(event)
    const text = state === 'done' ? run.text.slice(lastText.get(run) ?? 0) : why
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

/** Whether a turn went well, and why not. */
function toTurnOutcome({ error, stopReason }: EndEvent): ['done' | 'failed', string] {
  if (error) return ['failed', error.message]
  const shortfall = SHORTFALLS[stopReason]
  return shortfall === undefined ? ['done', ''] : ['failed', shortfall]
}

/** Of turns that end without an error and yet not as they should. */
const SHORTFALLS: Partial<Record<Extract<AgentEvent, { type: 'end' }>['stopReason'], string>> = {
  length: "The answer was cut at the model's output limit",
  refused: 'The model refused to answer',
  max_turns: 'The turn was ended at its limit of model calls',
  max_cost: 'The turn was ended at its cost limit',
  cancelled: 'The turn was cancelled',
  failed: 'The turn failed',
}
