import type { TracedEvent } from '../core/bus/event-trace.ts'
import type { AgentEvent } from '../core/runtime/events.ts'
import type { BegunRun } from '../core/runtime/live/live-turns.ts'

/** Something that happened in a process. */
export type Happening =
  | { type: 'turn'; run: BegunRun; event: AgentEvent }
  | { type: 'published'; event: TracedEvent }
