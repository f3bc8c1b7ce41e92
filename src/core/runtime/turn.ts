import { toCancelledError } from '../base/abortable.ts'
import { type CrabError, toCrabError } from '../base/errors.ts'
import { addUsage, type Message, type Usage } from '../base/message.ts'
import type { ModelRequest, Provider, ToolSpec } from '../provider/types.ts'
import type { NewLine } from '../storage/types.ts'
import type { AgentEvent, StopReason } from './events.ts'
import { toRequestMessages } from './history.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import type { SelectedTools } from './selected-tools.ts'
import type { Steers } from './steers.ts'
import { type Draft, emptyDraft, followStep, rejectCalls, toAssistantMessage } from './step.ts'
import { notMet, repairRequest, schemaProblem } from './structured.ts'
import { type FinishedCall, remoteNames, runToolCalls, type ToolContext, toolsByName } from './tool-calls.ts'
import { toToolChoice } from './tool-choice.ts'
import { stepLines, toAnswerLines, usedLines } from './turn-lines.ts'
import type { TurnSettings } from './turn-request.ts'

/** Everything one turn needs, decided before it starts. */
export interface TurnPlan {
  /** Who speaks: the agent, or its guest. */
  speaker: string
  /** The speaker's name when it is a guest. */
  guest: string | undefined
  request: Omit<ModelRequest, 'messages' | 'tools' | 'toolChoice' | 'system'>
  /** Makes the system prompt, once; the user may be asked meanwhile. */
  system(signal: AbortSignal): Promise<string>
  /** The tools of this turn, and again when a tool changed them; may wait for what they come from. */
  offer(signal: AbortSignal): Promise<readonly ToolSpec[]>
  /** What the conversation has selected of them. */
  selection: SelectedTools
  /** What the client asks for, and what the agent's file says where there are tools; for the first model call. */
  toolChoice: { asked: string | undefined; usual: string | undefined }
  maxTurns: number
  settings: TurnSettings
  tools: ToolContext
  provider: Provider
  conversation: LeasedConversation
  /** What is said to the turn while it runs. */
  steers: Steers
  /** Asked at its end: whether what it cannot take up is told before; else that waits on in `steers`. */
  returnsSteers(): boolean
}

/**
 * Runs a turn whose user message is already durable, up to and including `end`.
 *
 * Steps are committed whole: an assistant message together with the results of its tool calls. When the turn is
 * cancelled, or whoever iterates leaves, what the model had said is kept (a guest's is dropped, decision 37).
 * Steers are taken up before each model call, and a turn that would end goes on with them; those it cannot take up are
 * told right before `end`, if the plan says so. Whoever iterates no longer is not told: they wait on in `plan.steers`.
 */
export async function* runTurn(plan: TurnPlan, signal: AbortSignal): AsyncGenerator<AgentEvent> {
  const turn = new Turn(plan)
  try {
    yield* turn.run(signal)
  } catch (reason) {
    yield* plan.tools.channel.drain()
    if (signal.aborted) yield* turn.fail('cancelled', toCancelledError(signal))
    else yield* turn.fail('failed', toCrabError(reason))
  } finally {
    if (!turn.isOver) await turn.keepPartial('cancelled')
  }
}

class Turn {
  readonly #plan: TurnPlan
  /** Its last line is written, or could not be. */
  isOver = false
  #draft: Draft = emptyDraft()
  #usage: Usage | undefined
  #calls = 0
  #tools: readonly ToolSpec[] = []
  #mustOffer = true
  #system: string | undefined
  /** The rejected answer and the request to mend it, at their place in the history; sent, never stored. */
  #repair: { at: number; messages: Message[] } | undefined

  constructor(plan: TurnPlan) {
    this.#plan = plan
  }

  async *run(signal: AbortSignal): AsyncGenerator<AgentEvent> {
    for (;;) {
      this.#draft = emptyDraft()
      if (this.#mustOffer) yield* this.#offer(signal)
      yield* this.#takeUpSteers()
      const draft = this.#draft
      yield* followStep(this.#callModel(signal), this.#plan.speaker, draft)
      const { usage } = draft
      if (usage) this.#usage = this.#usage ? addUsage(this.#usage, usage) : usage
      if (this.#plan.guest !== undefined && draft.calls.length > 0) yield rejectCalls(this.#plan.guest, draft)
      if (draft.calls.length > 0) yield* this.#act(signal)
      if (usage) yield this.#usageEvent(usage)
      const stop = await this.#afterStep(draft)
      if (typeof stop === 'string' && !this.#goesOn(stop)) return yield* this.#finish(stop)
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

  /** Ends the turn with a failure; what was said before it is kept. */
  async *fail(stop: 'cancelled' | 'failed', error: CrabError): AsyncGenerator<AgentEvent> {
    const lost = await this.keepPartial(stop).then(() => undefined, toCrabError)
    yield* this.#end(stop, lost ?? error)
  }

  /** Keeps the text of an unfinished model call. */
  async keepPartial(stop: 'cancelled' | 'failed'): Promise<void> {
    const { guest, conversation } = this.#plan
    const { content } = this.#draft
    this.isOver = true
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
    const wanted = toolChoice.asked ?? (tools.length > 0 ? toolChoice.usual : undefined)
    const choice = this.#calls === 0 ? toToolChoice(wanted, tools) : undefined
    this.#calls++
    const system = this.#system ?? ''
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
    const step = { offered: this.#tools, setting: this.#plan.tools, onAnswer, offerAgain }
    try {
      for await (const event of runToolCalls(calls, step, signal)) {
        if (answers.length === calls.length) await this.#commit(answers)
        yield 'type' in event ? event : toResultEvent(event)
      }
    } finally {
      await this.#commit(answers) // whoever follows the turn may have left; what tools did must not be forgotten
    }
    signal.throwIfAborted()
    yield { type: 'tools-complete' }
  }

  /** Stores the step, once; a call that was interrupted has an answer, too. */
  async #commit(answers: readonly FinishedCall[]): Promise<void> {
    if (this.#draft.calls.length === 0) return
    const { conversation, selection } = this.#plan
    await conversation.append([...stepLines(this.#assistant(), answers), ...usedLines(selection)])
    this.#draft = emptyDraft()
  }

  /** Why the turn is over after this step, or what to say before it goes on; undefined to just go on. */
  async #afterStep(draft: Draft): Promise<StopReason | AgentEvent | undefined> {
    const { settings, maxTurns } = this.#plan
    const acted = draft.calls.length > 0
    if (!acted && draft.finish !== 'stop') return toStopReason(draft.finish)
    const problem =
      acted || !settings.schema ? undefined : await schemaProblem(draft.content, settings.schema)
    if (!acted && !problem) return 'stop'
    if (problem && this.#repair) throw notMet(problem)
    if (this.#calls >= maxTurns) return 'max_turns'
    if (this.#isTooDear()) return 'max_cost'
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

  /** Whether a turn that would end has more to answer, and may; if not, and it is over, nothing can be said to it any more. */
  #goesOn(stop: StopReason): boolean {
    if (stop === 'max_turns' || stop === 'max_cost') return false
    if (this.#calls >= this.#plan.maxTurns || this.#isTooDear()) return false
    return !this.#plan.steers.closeIfEmpty()
  }

  /** Stores an answer that does not end the turn; the next step begins right behind it. */
  async #keepAnswer(stop: StopReason): Promise<void> {
    this.#repair = undefined // the next answer may be mended, too
    await this.#plan.conversation.append(toAnswerLines(this.#assistant(), stop === 'length'))
  }

  async *#finish(stop: StopReason): AsyncGenerator<AgentEvent> {
    const lines = toAnswerLines(this.#assistant(), stop === 'length')
    const { conversation, selection } = this.#plan
    await conversation.append([...lines, ...usedLines(selection), this.#done(stop)])
    this.isOver = true
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

  #done(stop: StopReason): NewLine {
    return {
      kind: 'event',
      event: 'done',
      model: this.#plan.request.model,
      usage: this.#usage,
      stop_reason: stop,
    }
  }

  *#end(stopReason: StopReason, error: CrabError | undefined): Generator<AgentEvent> {
    const { speaker, request, steers } = this.#plan
    const isTold = this.#plan.returnsSteers()
    const next = () => (isTold ? steers.giveBack() : undefined)
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

  #isTooDear(): boolean {
    const limit = this.#plan.settings.maxCostUsd
    return limit !== undefined && (this.#costUsd() ?? 0) >= limit
  }
}

function toResultEvent({ call, result, durationMs }: FinishedCall): AgentEvent {
  const { output, isError, denial } = result
  return { type: 'tool-result', callId: call.id, output, durationMs, isError, ...(denial && { denial }) }
}

function toStopReason(finish: Draft['finish']): StopReason {
  return finish === 'length' || finish === 'refused' ? finish : 'other'
}
