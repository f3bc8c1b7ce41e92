import type { Denial } from '../asks.ts'
import type { AgentEvent } from '../events.ts'

/** The calls that a run made of one tool. */
export interface ToolTally {
  name: string
  /** Empty for a built-in tool. */
  server: string
  calls: number
  errors: number
  ms: number
}

/** A call that was not permitted. */
export interface DeniedCall {
  name: string
  server: string
  denial: Denial
}

/** Counts the tool calls of one run, for a summary after it ends. */
export class RunTally {
  readonly #open = new Map<string, { name: string; server: string }>()
  readonly #tools = new Map<string, ToolTally>()
  readonly #denied: DeniedCall[] = []

  /** The tools in order of their first result. */
  get tools(): readonly ToolTally[] {
    return [...this.#tools.values()]
  }

  /** The denied calls, oldest first, at most 1,000. */
  get denied(): readonly DeniedCall[] {
    return this.#denied
  }

  take(event: AgentEvent): void {
    if (event.type === 'tool-start') {
      for (const { id, name, server = '' } of event.calls) this.#open.set(id, { name, server })
    }
    if (event.type === 'tool-result') this.#count(event)
  }

  #count({ callId, durationMs, isError, denial }: Extract<AgentEvent, { type: 'tool-result' }>): void {
    const { name, server } = this.#open.get(callId) ?? { name: callId, server: '' }
    this.#open.delete(callId)
    const tally = this.#tools.get(name) ?? { name, server, calls: 0, errors: 0, ms: 0 }
    tally.calls++
    tally.ms += durationMs
    if (isError) tally.errors++
    this.#tools.set(name, tally)
    if (denial && this.#denied.length < MAX_DENIED) this.#denied.push({ name, server, denial })
  }
}

const MAX_DENIED = 1_000
