import type { TracedEvent } from '../core/bus/event-trace.ts'
import type { AgentEvent } from '../core/runtime/events.ts'
import type { StartedRun } from '../core/runtime/live/live-turns.ts'

/** An event of this process; `at` is in milliseconds since the epoch. */
export type DaemonEvent =
  | { type: 'turn'; at: number; run: StartedRun; event: AgentEvent }
  | { type: 'published'; event: TracedEvent }
