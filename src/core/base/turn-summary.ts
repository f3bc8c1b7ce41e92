/** The calls of one tool in a turn. */
export interface ToolSummary {
  name: string
  /** Empty for a built-in tool. */
  server: string
  calls: number
  errors: number
  ms: number
}

/** A call that was not permitted, with its reason. */
export interface DeniedCall<Reason> {
  name: string
  server: string
  denial: Reason
}

/** The part of a tool's result that is counted. */
interface CountedResult<Reason> {
  callId: string
  durationMs: number
  isError: boolean
  denial?: Reason | undefined
}

/**
 * The texts and tool calls of one turn. `Reason` is the reason of a denied call, in the vocabulary of the
 * events that are counted: see foldAgentEvent() for the runtime and foldTurnEvent() for the wire.
 */
export class TurnSummary<Reason> {
  /** The text of each model call that produced text. */
  readonly texts: string[] = []
  /** The tools by name, in the order of their first result. */
  readonly tools = new Map<string, ToolSummary>()
  /** The denied calls, oldest first. */
  readonly denied: DeniedCall<Reason>[] = []
  readonly #maxDenied: number
  /** The calls of the current step. */
  #calls = new Map<string, { name: string; server: string }>()
  #isTextOpen = false

  constructor({ maxDenied = Number.POSITIVE_INFINITY }: { maxDenied?: number } = {}) {
    this.#maxDenied = maxDenied
  }

  /** The texts, separated by blank lines. */
  get text(): string {
    return this.texts.join('\n\n')
  }

  get lastText(): string {
    return this.texts.at(-1) ?? ''
  }

  addText(delta: string): void {
    if (delta === '') return
    if (this.#isTextOpen) this.texts.push((this.texts.pop() ?? '') + delta)
    else this.texts.push(delta)
    this.#isTextOpen = true
  }

  /** Removes the last texts, because the model broke off and answers again. */
  discardTexts(count: number): void {
    this.texts.splice(Math.max(0, this.texts.length - count))
    this.#isTextOpen = false
  }

  /** Makes the next text a new one. */
  closeText(): void {
    this.#isTextOpen = false
  }

  /** The names of the calls of the current step that have no result yet. */
  get runningCalls(): string[] {
    return [...this.#calls.values()].map(({ name }) => name)
  }

  /** Begins a step with all of its calls. */
  startCalls(calls: Iterable<{ id: string; name: string; server: string }>): void {
    this.#calls = new Map()
    for (const { id, name, server } of calls) this.#calls.set(id, { name, server })
  }

  finishCall({ callId, durationMs, isError, denial }: CountedResult<Reason>): void {
    const { name, server } = this.#calls.get(callId) ?? { name: callId, server: '' }
    this.#calls.delete(callId)
    const tool = this.tools.get(name) ?? { name, server, calls: 0, errors: 0, ms: 0 }
    tool.calls++
    tool.ms += durationMs
    if (isError) tool.errors++
    this.tools.set(name, tool)
    if (denial && this.denied.length < this.#maxDenied) this.denied.push({ name, server, denial })
  }
}
