import { CrabError } from '../base/errors.ts'
import { NO_USAGE } from '../base/message.ts'
import { type Once, once } from '../base/once.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import type { ModelRequest, Provider, ToolChoice, ToolSpec } from '../provider/types.ts'
import { type Pair, SESSION_VERSION, type SessionHeader } from '../storage/types.ts'
import { scopeOf } from './composite-hook.ts'
import type { AgentEvent } from './events.ts'
import { type Beginning, HeldConversation, type Place } from './held-conversation.ts'
import { hasGuests } from './history.ts'
import type { Hook } from './hook.ts'
import { systemPrompt } from './system-prompt.ts'
import { runTurn, type TurnPlan } from './turn.ts'
import type { ToolMode, TurnRequest } from './turn-request.ts'

/** Where agents come from. `create: false` gives the default agent without writing it. */
export interface Agents {
  get(name: string, options?: { create?: boolean }): Promise<AgentConfig>
}

/** What the runtime is made of. */
export interface RuntimeOptions {
  agents: Agents
  provider: Provider
  hook: Hook
  /** Conversations that last. */
  place: Place
  /** Conversations that are forgotten. */
  scratch: Place
  /** Working directory of a new conversation whose client named none. */
  defaultCwd: string
  /** Milliseconds since 1970. */
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** Drives agents: conversations by (agent, sender), turns, tools. Opens no socket, reads no clock. */
export class Runtime implements AsyncDisposable {
  readonly #options: RuntimeOptions
  /** Agents the hook knows, or is being told of, by id. */
  readonly #known = new Map<string, { agent: AgentConfig; registered: Once<void> }>()

  constructor(options: RuntimeOptions) {
    this.#options = options
  }

  /**
   * Runs one turn of (agent, sender) and yields its events, `end` last; turns of one pair run one after another.
   *
   * Throws before `start` when it cannot begin (unknown agent, no model, no disk): then nothing happened.
   * Leaving the iteration, or aborting, cancels the model call and the tools, and keeps what was said.
   */
  async *turn(request: TurnRequest, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const { hook, newId } = this.#options
    const stop = new AbortController()
    const either = AbortSignal.any([signal, stop.signal])
    try {
      const agent = await this.#agent(request.agent, request)
      const speaker = request.guest === undefined ? agent : await this.#agent(request.guest, request)
      const speech = this.#prepare(speaker, request)
      await using conversation = await this.#hold(agent, request, either)
      const plan = await this.#plan({ ...speech, conversation }, request)
      const { model } = speech
      const sessionId = conversation.id
      const tell = (event: AgentEvent) => {
        hook.onEvent?.(agent.name, sessionId, event)
        return event
      }
      yield tell({ type: 'start', agent: speaker.name, runId: newId(), sessionId, model })
      for (const message of conversation.warnings) yield tell({ type: 'notice', message })
      for await (const event of runTurn(plan, either)) yield tell(event)
    } finally {
      stop.abort()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { agent, registered } of this.#known.values()) {
      if (registered.made !== undefined) await this.#options.hook.onUnregisterAgent?.(agent)
    }
    this.#known.clear()
  }

  /** The agent as hooks built it, known to them. */
  async #agent(name: string, request: TurnRequest): Promise<AgentConfig> {
    const { agents, hook } = this.#options
    const stored = await agents.get(name, { create: !request.settings.ephemeral })
    const agent = hook.onBuildAgent?.(stored) ?? stored
    await this.#register(agent)
    return agent
  }

  /** Tells the hook of an agent, once; whoever needs the agent meanwhile waits. */
  async #register(agent: AgentConfig): Promise<void> {
    const known = this.#known.get(agent.id)
    const registered = known?.registered ?? once(async () => this.#options.hook.onRegisterAgent?.(agent))
    if (!known) this.#known.set(agent.id, { agent, registered })
    await registered.get()
  }

  /** What can be refused before anything is written. */
  #prepare(agent: AgentConfig, request: TurnRequest): Speech {
    const { provider, hook } = this.#options
    const { settings, guest } = request
    if (request.content.trim() === '' && !settings.attachments?.length) {
      throw new CrabError('invalid', 'Cannot run a turn: the message is empty') // providers refuse it, for ever after
    }
    const model = settings.model ?? agent.model ?? provider.defaultModel()
    provider.prepare(model)
    if (settings.maxCostUsd !== undefined && provider.costUsd(model, NO_USAGE) === undefined) {
      throw new CrabError('config', `Cannot keep to a cost limit: the price of ${model} is not known`, {
        hint: 'give input_usd and output_usd with the model in config.toml',
      })
    }
    const tools = offeredTools(hook, agent, guest === undefined ? settings.tools : 'none')
    const usual = tools.length > 0 ? agent.tool_choice : undefined
    return { agent, model, tools, toolChoice: toToolChoice(request.toolChoice ?? usual, tools) }
  }

  async #hold(agent: AgentConfig, request: TurnRequest, signal: AbortSignal): Promise<HeldConversation> {
    const { place, scratch, hook, defaultCwd, now } = this.#options
    const { ephemeral, attachments } = request.settings
    const content = (await hook.preprocess?.(agent, request.content)) ?? request.content
    const pair: Pair = { agentId: agent.id, sender: request.sender }
    const header: SessionHeader = {
      v: SESSION_VERSION,
      agent: agent.name,
      agent_id: agent.id,
      created_by: request.sender,
      created_at: new Date(now()).toISOString(),
      cwd: request.cwd ?? defaultCwd,
    }
    const entry = { kind: 'entry', role: 'user', content } as const
    const first = attachments?.length ? { ...entry, attachments: [...attachments] } : entry
    const beginning: Beginning = { pair, header, first }
    return HeldConversation.take(ephemeral ? scratch : place, beginning, signal)
  }

  async #plan(speech: Speech & { conversation: HeldConversation }, request: TurnRequest): Promise<TurnPlan> {
    const { hook, provider, now } = this.#options
    const { agent, model, tools, toolChoice, conversation } = speech
    const { settings, sender } = request
    const guest = request.guest === undefined ? undefined : agent.name
    const cwd = request.cwd ?? conversation.header.cwd
    const system = await systemPrompt(agent, {
      override: settings.system,
      hook,
      cwd,
      guest: guest !== undefined,
      hasGuests: hasGuests(conversation.messages),
    })
    const dispatch = { agent, sender, session: conversation.id, cwd, env: settings.env ?? {} }
    return {
      speaker: agent.name,
      guest,
      request: { model, system, tools, thinking: settings.thinking ?? agent.thinking, ...optional(settings) },
      toolChoice,
      maxTurns: settings.maxTurns ?? agent.max_iterations,
      settings,
      tools: { hook, offered: new Set(tools.map((tool) => tool.name)), dispatch, now },
      provider,
      conversation,
    }
  }
}

/** Who answers, and with what. */
interface Speech {
  agent: AgentConfig
  model: string
  tools: readonly ToolSpec[]
  toolChoice: ToolChoice | undefined
}

/** The tools an agent is shown, which are those it may call (decision 23). */
function offeredTools(hook: Hook, agent: AgentConfig, mode: ToolMode = 'all'): ToolSpec[] {
  if (mode === 'none') return []
  const scoped = new Set(scopeOf(hook, agent).tools)
  const named = new Set(agent.tools)
  const schema = hook.schema?.() ?? []
  const isOffered = ({ name, readOnly = false }: ToolSpec) =>
    scoped.has(name) && (named.size === 0 || named.has(name)) && (mode === 'all' || readOnly)
  return schema.filter(isOffered)
}

function optional(settings: TurnRequest['settings']): Partial<ModelRequest> {
  const { schema, retries } = settings
  return { ...(schema && { schema }), ...(retries !== undefined && { retries }) }
}

function toToolChoice(choice: string | undefined, tools: readonly ToolSpec[]): ToolChoice | undefined {
  if (choice === undefined || choice === '') return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (tools.some((tool) => tool.name === choice)) return { tool: choice }
  throw new CrabError('invalid', `Cannot require the tool "${choice}": the agent has no such tool`, {
    hint: tools.length > 0 ? `its tools are ${tools.map((tool) => tool.name).join(', ')}` : 'it has no tools',
  })
}
