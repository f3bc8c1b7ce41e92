import type { TracedEvent } from '../core/bus/event-trace.ts'
import type { AgentEvent } from '../core/runtime/events.ts'
import type { StartedRun } from '../core/runtime/live/live-turns.ts'

/** Something that happened in a process; `at` is milliseconds since 1970. */
export type DaemonEvent =
  | { type: 'turn'; at: number; run: StartedRun; event: AgentEvent }
  | { type: 'published'; event: TracedEvent }
