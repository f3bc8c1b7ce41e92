import { isContextOverflow } from '../base/context-overflow.ts'
import { toCrabError } from '../base/errors.ts'
import { estimateMessageTokens, estimateTokens } from '../base/estimate-tokens.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { Provider, ToolSpec } from '../provider/types.ts'
import { type Compaction, compactConversation } from './compaction.ts'
import type { SessionHistory } from './conversation.ts'
import type { AgentEvent } from './events.ts'
import type { LeasedConversation } from './leased-conversation.ts'

/** The dependencies of the automatic compaction of a turn. */
export interface TurnCompactionOptions {
  /** The agent with the model of the turn, which writes the summary. */
  agent: AgentConfig
  model: string
  provider: Provider
  conversation: LeasedConversation
  memory: MemoryStore
  /** The share of the context window from which the conversation is compacted. */
  at: number
  now(): number
}

/** The parts of a request apart from its messages. */
export interface RequestFrame {
  system: string
  tools: readonly ToolSpec[]
}

/**
 * Compacts the conversation of a running turn before a model call that would not fit (ADR 0188). The messages
 * that the model has not answered yet stay word for word.
 */
export class TurnCompaction {
  readonly #options: TurnCompactionOptions
  /** The size that the provider reported last, and the number of messages it counted. */
  #counted: SessionHistory['counted']
  /** Whether a compaction has run, or failed, since the last model call. */
  #isSettled = false
  #hasRecovered = false

  constructor(options: TurnCompactionOptions) {
    this.#options = options
    this.#counted = options.conversation.history.counted
  }

  /** Records the size that the provider counted in a model call. The results of its tools are not included. */
  called(counted: SessionHistory['counted']): void {
    this.#isSettled = false
    this.#counted = counted
  }

  /** Whether the next request would exceed the limit, and a compaction could help. */
  isDue(frame: RequestFrame): boolean {
    const { at } = this.#options
    const window = this.#window()
    if (this.#isSettled || window === undefined) return false
    const size = this.#measure(frame)
    return (
      size > at * window &&
      this.#hasOlderMessages() &&
      this.#estimateGain(frame, size) > MIN_GAIN_SHARE * window
    )
  }

  /** Whether a model call that failed may succeed after a compaction; true at most once in a turn. */
  canRecover(reason: unknown): boolean {
    if (this.#hasRecovered || !isContextOverflow(toCrabError(reason))) return false
    this.#hasRecovered = true
    return this.#hasOlderMessages()
  }

  /** Compacts the conversation and yields its events; returns undefined when that fails. Throws when aborted. */
  async *run(frame: RequestFrame, signal: AbortSignal): AsyncGenerator<AgentEvent, Compaction | undefined> {
    this.#isSettled = true
    const context = this.#window()
    const before = this.#measure(frame)
    yield { type: 'compaction', state: 'started', before, context }
    try {
      const compaction = await compactConversation({ ...this.#options, keepFrom: this.#keepFrom() }, signal)
      this.#counted = undefined
      const after = this.#measure(frame)
      yield { type: 'compaction', state: 'done', before, after, context, archive: compaction.archive }
      return compaction
    } catch (reason) {
      if (signal.aborted) throw reason
      yield { type: 'compaction', state: 'failed', before, context, error: toCrabError(reason) }
      return undefined
    }
  }

  #window(): number | undefined {
    const { provider, model } = this.#options
    return provider.facts(model).context
  }

  /** Estimates the tokens of the next request, as far as possible from what the provider counted. */
  #measure(frame: RequestFrame): number {
    const { messages } = this.#options.conversation.history
    const fresh = messages.slice(this.#counted?.messages ?? 0)
    const known = this.#counted?.tokens ?? measureFrame(frame)
    return fresh.reduce((sum, message) => sum + estimateMessageTokens(message), known)
  }

  /** Estimates the tokens that a compaction can free: not those of the frame, the summary and what stays. */
  #estimateGain(frame: RequestFrame, size: number): number {
    const { messages, lines, archive } = this.#options.conversation.history
    const from = this.#keepFrom() ?? Number.POSITIVE_INFINITY
    const staying = messages.filter((_, at) => lines[at]! >= from || (at === 0 && archive !== undefined))
    return size - measureFrame(frame) - staying.reduce((sum, one) => sum + estimateMessageTokens(one), 0)
  }

  #hasOlderMessages(): boolean {
    const { messages, lines, archive } = this.#options.conversation.history
    const from = this.#keepFrom() ?? Number.POSITIVE_INFINITY
    const older = messages.filter((_, at) => lines[at]! < from).length
    return older > (archive ? 1 : 0)
  }

  /** Returns the line of the first message to keep: of the unfinished step, or else of the unanswered message. */
  #keepFrom(): number | undefined {
    const { history } = this.#options.conversation
    const { messages, lines } = history
    const total = messages.reduce((sum, message) => sum + estimateMessageTokens(message), 0)
    const most = Math.min(total / 2, (this.#window() ?? Number.POSITIVE_INFINITY) * MAX_KEPT_SHARE)
    const question = messages.findLastIndex(({ role }) => role !== 'user') + 1
    const step =
      messages[question - 1]?.role === 'tool'
        ? messages.findLastIndex(({ role }, at) => at < question && role === 'assistant')
        : question
    for (const start of [step, question]) {
      const size = messages.slice(start).reduce((sum, message) => sum + estimateMessageTokens(message), 0)
      if (start < messages.length && start > 0 && size <= most) return lines[start]
    }
    return undefined
  }
}

function measureFrame({ system, tools }: RequestFrame): number {
  const specs = tools.map(({ name, description, parameters }) => [name, description, parameters])
  return estimateTokens(system) + estimateTokens(JSON.stringify(specs))
}

/** The minimum share of the context window that a compaction must free to be worth a model call. */
const MIN_GAIN_SHARE = 0.05
/** The maximum share of the context window for messages that are kept after the summary. */
const MAX_KEPT_SHARE = 0.25
