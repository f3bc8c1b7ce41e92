import { toCancelledError } from '../base/abortable.ts'
import { type CrabError, toCrabError } from '../base/errors.ts'
import { estimateMessageTokens } from '../base/estimate-tokens.ts'
import { addUsage, type Message, type Usage } from '../base/message.ts'
import type { ModelRequest, Provider, ToolSpec } from '../provider/types.ts'
import type { NewLine } from '../storage/types.ts'
import type { SessionHistory } from './conversation.ts'
import type { AgentEvent, StopReason } from './events.ts'
import { toRequestMessages } from './history.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import type { SelectedTools } from './selected-tools.ts'
import type { Steers } from './steers.ts'
import { type Draft, emptyDraft, followStep, rejectCalls, toAssistantMessage } from './step.ts'
import { notMet, repairRequest, schemaProblem } from './structured.ts'
import { type FinishedCall, remoteNames, runToolCalls, type ToolContext, toolsByName } from './tool-calls.ts'
import { toToolChoice } from './tool-choice.ts'
import type { TurnCompaction } from './turn-compaction.ts'
import { stepLines, toAnswerLines, usedLines } from './turn-lines.ts'
import type { TurnSettings } from './turn-request.ts'

/** Everything that one turn needs, decided before it starts. */
export interface TurnPlan {
  /** The agent that speaks, or its guest. */
  speaker: string
  /** The speaker's name when it is a guest. */
  guest: string | undefined
  request: Omit<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'system'>
  /** Builds the system prompt, once per turn; may ask the user questions. */
  system(signal: AbortSignal): Promise<string>
  /** Returns the section of the system prompt about the current mode; empty when there is none. */
  modePrompt(): string
  /**
   * Returns the tools of this turn; called again when a tool changed them. May wait for the servers that
   * provide them.
   */
  offer(signal: AbortSignal): Promise<readonly ToolSpec[]>
  /** The tools that the conversation has selected. */
  selection: SelectedTools
  /**
   * The client's choice, and the agent file's, which applies when there are tools; for the first model call.
   */
  toolChoice: { requested: string | undefined; default: string | undefined }
  maxTurns: number
  settings: TurnSettings
  tools: ToolContext
  provider: Provider
  conversation: LeasedConversation
  /** The messages that steer the turn while it runs. */
  steers: Steers
  /** Compacts the conversation before it exceeds the context window; undefined when the client did not ask for it. */
  compaction: TurnCompaction | undefined
  /**
   * Queried when the turn ends: whether an event returns the steering messages that came too late; otherwise
   * they stay in `steers`.
   */
  returnsSteers(): boolean
}

/**
 * Runs a turn whose user message is already durable, up to and including `end`; the consumer must read it to
 * the end, and aborts it to cancel it (see tapEvents()).
 *
 * Steps are committed whole: an assistant message together with the results of its tool calls. When the turn
 * is cancelled, the text of the unfinished model call is kept; a guest's is dropped (ADR 0060).
 *
 * Steering messages are taken up before each model call, and a turn that would end continues with them. Those
 * that come too late are yielded directly before `end` as long as `plan.returnsSteers()` says so, else they
 * stay in `plan.steers`.
 */
export async function* runTurn(plan: TurnPlan, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const turn = new Turn(plan)
  try {
    yield* turn.run(signal)
  } catch (reason) {
    yield* plan.tools.channel.drain()
    if (signal.aborted) yield* turn.fail('cancelled', toCancelledError(signal))
    else yield* turn.fail('failed', toCrabError(reason))
  }
}

class Turn {
  readonly #plan: TurnPlan
  #draft: Draft = emptyDraft()
  #usage: Usage | undefined
  /** The size of the conversation that the provider reported last, not that of a guest's request, and the number of messages it counted. */
  #counted: SessionHistory['counted']
  #calls = 0
  #tools: readonly ToolSpec[] = []
  #mustOffer = true
  #system: string | undefined
  /** The rejected answer and the request to repair it, with their place in the history; sent, never stored. */
  #repair: { at: number; messages: Message[] } | undefined

  constructor(plan: TurnPlan) {
    this.#plan = plan
  }

  async *run(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    for (;;) {
      this.#draft = emptyDraft()
      if (this.#mustOffer) yield* this.#offer(signal)
      yield* this.#takeUpSteers()
      yield* this.#compactIfDue(signal)
      const draft = this.#draft
      if (!(yield* this.#ask(draft, signal))) continue
      const { usage } = draft
      this.#addUsage(usage)
      const counted = this.#plan.conversation.history.messages.length + 1 // with the answer
      if (this.#plan.guest === undefined)
        this.#counted = usage && { tokens: usage.input + usage.output, messages: counted }
      if (this.#plan.guest !== undefined && draft.calls.length > 0) yield rejectCalls(this.#plan.guest, draft)
      if (draft.calls.length > 0) yield* this.#act(signal)
      if (usage) yield this.#usageEvent(usage)
      this.#plan.compaction?.called(this.#counted)
      const stop = await this.#afterStep(draft)
      if (typeof stop === 'string' && !this.#canContinue(stop)) return yield* this.#finish(stop)
      if (typeof stop === 'string') await this.#keepAnswer(stop)
      else if (stop) yield stop
    }
  }

  async *#offer(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    this.#mustOffer = false
    const { system, offer, tools } = this.#plan
    const work = Promise.all([this.#system ?? system(signal), offer(signal)])
    const [prompt, offered] = yield* tools.channel.during(work)
    this.#system = prompt
    this.#tools = offered
  }

  /** Calls the model; returns false when the request was too long and the conversation has been compacted. */
  async *#ask(draft: Draft, signal: AbortSignal): AsyncGenerator<AgentEvent, boolean> {
    try {
      yield* followStep(this.#callModel(signal), this.#plan.speaker, draft)
      return true
    } catch (reason) {
      const isUnanswered = draft.content === '' && draft.calls.length === 0 && !signal.aborted
      if (!isUnanswered || !this.#plan.compaction?.canRecover(reason)) throw reason
      if (!(yield* this.#compact(signal))) throw reason
      return false
    }
  }

  async *#compactIfDue(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const frame = { system: this.#system ?? '', tools: this.#tools }
    if (!this.#repair && this.#plan.compaction?.isDue(frame)) yield* this.#compact(signal)
  }

  async *#compact(signal: AbortSignal): AsyncGenerator<AgentEvent, boolean> {
    const frame = { system: this.#system ?? '', tools: this.#tools }
    const compaction = yield* this.#plan.compaction!.run(frame, signal)
    this.#addUsage(compaction?.usage)
    if (compaction) this.#counted = undefined
    this.#repair = undefined
    return compaction !== undefined
  }

  #addUsage(usage: Usage | undefined): void {
    if (usage) this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage
  }

  /** Ends the turn with a failure; the text of the unfinished model call is kept. */
  async *fail(stop: 'cancelled' | 'failed', error: CrabError): AsyncGenerator<AgentEvent> {
    const lost = await this.#keepPartial(stop).then(() => undefined, toCrabError)
    yield* this.#end(stop, lost ?? error)
  }

  /** Stores the text of an unfinished model call, and that the turn is over. */
  async #keepPartial(stop: 'cancelled' | 'failed'): Promise<void> {
    const { guest, conversation } = this.#plan
    const { content } = this.#draft
    const lines: NewLine[] = [this.#done(stop)]
    if (content !== '' && guest === undefined) {
      lines.unshift({ kind: 'entry', role: 'assistant', content, stop_reason: stop })
    }
    this.#draft = emptyDraft()
    await conversation.append(lines)
  }

  #callModel(signal: AbortSignal) {
    const { provider, request, conversation, toolChoice } = this.#plan
    const { at, messages: repair } = this.#repair ?? { at: 0, messages: [] }
    const messages = toRequestMessages(conversation.history.messages.toSpliced(at, 0, ...repair))
    const tools = this.#tools
    const choiceName = toolChoice.requested ?? (tools.length > 0 ? toolChoice.default : undefined)
    const choice = this.#calls === 0 ? toToolChoice(choiceName, tools) : undefined
    this.#calls++
    const system = [this.#system ?? '', this.#plan.modePrompt()].filter(Boolean).join('\n\n')
    return provider.complete(
      { ...request, system, tools, messages, ...(choice && { toolChoice: choice }) },
      signal,
    )
  }

  /** Runs the step's tool calls and commits the step. */
  async *#act(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { calls } = this.#draft
    const tools = toolsByName(this.#tools)
    yield {
      type: 'tool-start',
      calls: calls.map((call) => ({ ...call, ...remoteNames(tools.get(call.name)) })),
    }
    const answers: FinishedCall[] = []
    const onAnswer = (answer: FinishedCall) => void answers.push(answer)
    const offerAgain = () => {
      this.#mustOffer = true
    }
    const step = { offered: this.#tools, context: this.#plan.tools, onAnswer, offerAgain }
    try {
      for await (const event of runToolCalls(calls, step, signal)) {
        if (answers.length === calls.length) await this.#commit(answers)
        yield 'type' in event ? event : toResultEvent(event)
      }
    } finally {
      await this.#commit(answers) // the effects of tools must be recorded, however the step ends
    }
    signal.throwIfAborted()
    yield { type: 'tools-complete' }
  }

  /** Stores the step, once; an interrupted call has a result too. */
  async #commit(answers: readonly FinishedCall[]): Promise<void> {
    if (this.#draft.calls.length === 0) return
    const { conversation, selection } = this.#plan
    await conversation.append([...stepLines(this.#assistant(), answers), ...usedLines(selection)])
    this.#draft = emptyDraft()
  }

  /**
   * Returns why the turn ends after this step, or an event to emit before it continues; undefined to continue
   * without one.
   */
  async #afterStep(draft: Draft): Promise<StopReason | AgentEvent | undefined> {
    const { settings, maxTurns } = this.#plan
    const acted = draft.calls.length > 0
    if (!acted && draft.finish !== 'stop') return toStopReason(draft.finish)
    const problem =
      acted || !settings.schema ? undefined : await schemaProblem(draft.content, settings.schema)
    if (!acted && !problem) return 'stop'
    if (problem && this.#repair) throw notMet(problem)
    if (this.#calls >= maxTurns) return 'max_turns'
    if (this.#exceedsMaxCost()) return 'max_cost'
    if (!problem) return undefined
    const messages: Message[] = [this.#assistant(), { role: 'user', content: repairRequest(problem) }]
    this.#repair = { at: this.#plan.conversation.history.messages.length, messages }
    const message = `The answer does not meet the schema (${problem}); asking once more`
    return { type: 'notice', isOwn: true, message }
  }

  async *#takeUpSteers(): AsyncGenerator<AgentEvent> {
    const { steers, conversation } = this.#plan
    const taken = await steers.takeUp((lines) => conversation.append(lines))
    for (const content of taken) yield { type: 'user-steered', content }
  }

  /**
   * Whether a turn that would end has steering messages to answer and may continue. If not, `steers` accepts
   * no more messages, unless a limit ends the turn.
   */
  #canContinue(stop: StopReason): boolean {
    if (stop === 'max_turns' || stop === 'max_cost') return false
    if (this.#calls >= this.#plan.maxTurns || this.#exceedsMaxCost()) return false
    return !this.#plan.steers.closeIfEmpty()
  }

  /** Stores an answer that does not end the turn; the next step begins directly after it. */
  async #keepAnswer(stop: StopReason): Promise<void> {
    this.#repair = undefined // the next answer gets its own repair
    await this.#plan.conversation.append(toAnswerLines(this.#assistant(), stop === 'length'))
  }

  async *#finish(stop: StopReason): AsyncGenerator<AgentEvent> {
    const lines = toAnswerLines(this.#assistant(), stop === 'length')
    const { conversation, selection } = this.#plan
    await conversation.append([...lines, ...usedLines(selection), this.#done(stop)])
    yield* this.#end(stop, undefined)
  }

  #usageEvent(usage: Usage): AgentEvent {
    const { provider, request } = this.#plan
    const { context } = provider.facts(request.model)
    return { type: 'usage', usage, ...(context !== undefined && { context }) }
  }

  #assistant(): Message {
    return toAssistantMessage(this.#draft, this.#plan.guest)
  }

  /** Returns the size of the stored conversation: what the provider counted, and an estimate of what came since. */
  #contextTokens(): number | undefined {
    if (this.#counted === undefined) return undefined
    const { tokens, messages } = this.#counted
    const fresh = this.#plan.conversation.history.messages.slice(messages)
    return fresh.reduce((sum, message) => sum + estimateMessageTokens(message), tokens)
  }

  #done(stop: StopReason): NewLine {
    const contextTokens = this.#contextTokens()
    return {
      kind: 'event',
      event: 'done',
      model: this.#plan.request.model,
      usage: this.#usage,
      stop_reason: stop,
      ...(contextTokens !== undefined && { context_tokens: contextTokens }),
    }
  }

  *#end(stopReason: StopReason, error: CrabError | undefined): Generator<AgentEvent> {
    const { speaker, request, steers } = this.#plan
    const next = () => (this.#plan.returnsSteers() ? steers.giveBack() : undefined)
    for (let content = next(); content !== undefined; content = next()) {
      yield { type: 'steer-returned', content }
    }
    const costUsd = this.#costUsd()
    yield {
      type: 'end',
      agent: speaker,
      model: request.model,
      usage: this.#usage,
      turns: this.#calls,
      stopReason,
      costUsd,
      error,
    }
  }

  #costUsd(): number | undefined {
    const { provider, request } = this.#plan
    return this.#usage && provider.costUsd(request.model, this.#usage)
  }

  #exceedsMaxCost(): boolean {
    const limit = this.#plan.settings.maxCostUsd
    return limit !== undefined && (this.#costUsd() ?? 0) >= limit
  }
}

function toResultEvent({ call, result, durationMs }: FinishedCall): AgentEvent {
  const { output, isError, diff, denial } = result
  const shown = { callId: call.id, output, durationMs, isError, ...(diff !== undefined && { diff }) }
  return { type: 'tool-result', ...shown, ...(denial && { denial }) }
}

function toStopReason(finish: Draft['finish']): StopReason {
  return finish === 'length' || finish === 'refused' ? finish : 'other'
}
