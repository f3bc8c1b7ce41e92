import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../base/errors.ts'
import { NO_USAGE } from '../base/message.ts'
import { type Once, once } from '../base/once.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { openWorkspace, resolvePath } from '../policy/paths.ts'
import { parseRule } from '../policy/pattern.ts'
import { resolveRules } from '../policy/resolve-rules.ts'
import type { Rule } from '../policy/types.ts'
import type { ModelRequest, Provider, ToolSpec } from '../provider/types.ts'
import { type Pair, SESSION_VERSION, type SessionHeader } from '../storage/types.ts'
import { Asks } from './asks.ts'
import { EventChannel } from './event-channel.ts'
import type { AgentEvent } from './events.ts'
import { type Beginning, HeldConversation, type Place } from './held-conversation.ts'
import { hasGuests } from './history.ts'
import type { Hook, ToolsTurn } from './hook.ts'
import { Permissions } from './permission.ts'
import { systemPrompt } from './system-prompt.ts'
import type { ToolSetting } from './tool-calls.ts'
import { runTurn, type TurnPlan } from './turn.ts'
import { TurnAsks } from './turn-asks.ts'
import type { TurnRequest, TurnSettings } from './turn-request.ts'

/** Where agents come from. `create: false` gives the default agent without writing it. */
export interface Agents {
  get(name: string, options?: { create?: boolean }): Promise<AgentConfig>
  /** The rules of permission in the agent's file. */
  rules(name: string): Promise<Rule[]>
  /** Adds a rule that allows to the agent's file; one that is there stays. */
  addRule(name: string, rule: string): Promise<void>
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
  /** The person's own directory; empty when there is none. */
  homeDir: string
  /** Where tools may put what is too long for an answer; a folder per conversation is made in it. */
  spill: string
  /** The rules of permission that hold for every agent. */
  rules: readonly Rule[]
  /** How long a question waits for an answer, milliseconds. */
  askTimeoutMs: number
  /** Milliseconds since 1970. */
  now(): number
  /** A fresh ULID. */
  newId(): string
}

/** Drives agents: conversations by (agent, sender), turns, tools. Opens no socket, reads no clock. */
export class Runtime implements AsyncDisposable {
  readonly #options: RuntimeOptions
  /** The questions that wait for an answer now. */
  readonly asks: Asks
  /** What tools put aside for conversations that are not stored; gone with this runtime. */
  readonly #unsaved = new Set<string>()
  /** Agents the hook knows, or is being told of, by id. */
  readonly #known = new Map<string, { agent: AgentConfig; registered: Once<void> }>()

  constructor(options: RuntimeOptions) {
    this.#options = options
    this.asks = new Asks({ timeoutMs: options.askTimeoutMs })
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
      const speech = await this.#prepare(speaker, request)
      await using conversation = await this.#hold(agent, request, either)
      const { model } = speech
      const sessionId = conversation.id
      const runId = newId()
      const plan = await this.#plan({ ...speech, conversation, runId, turnOver: stop.signal }, request)
      const tell = (event: AgentEvent) => {
        hook.onEvent?.(agent.name, sessionId, event)
        return event
      }
      yield tell({ type: 'start', agent: speaker.name, runId, sessionId, model })
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
    for (const folder of this.#unsaved) await rm(folder, { recursive: true, force: true })
  }

  /** The agent as hooks built it; without its MCP servers when the turn does without them. */
  async #agent(name: string, request: TurnRequest): Promise<AgentConfig> {
    const { agents, hook } = this.#options
    const stored = await agents.get(name, { create: !request.settings.ephemeral })
    const agent = hook.onBuildAgent?.(stored) ?? stored
    if (request.settings.noMcp) return { ...agent, mcps: [] }
    if (hasTools(request)) await this.#register(agent)
    return agent
  }

  /** Tells the hook of an agent, once for each form it takes; whoever needs the agent meanwhile waits. */
  async #register(agent: AgentConfig): Promise<void> {
    const known = this.#known.get(agent.id)
    const isSame = known !== undefined && isDeepStrictEqual(known.agent, agent)
    const registered = isSame ? known.registered : once(async () => this.#tell(agent, known?.registered))
    if (!isSame) this.#known.set(agent.id, { agent, registered })
    await registered.get()
  }

  async #tell(agent: AgentConfig, before: Once<void> | undefined): Promise<void> {
    await before?.made?.catch(() => undefined) // its own turn reports it
    await this.#options.hook.onRegisterAgent?.(agent)
  }

  /** What can be refused before anything is written. */
  async #prepare(agent: AgentConfig, request: TurnRequest): Promise<Omit<Speech, keyof Begun>> {
    const { provider, agents } = this.#options
    const { settings } = request
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
    const rules = [...flagRules(settings), ...(await agents.rules(agent.name))]
    return { agent, model, rules }
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

  async #plan(speech: Speech, request: TurnRequest): Promise<TurnPlan> {
    const { hook, provider } = this.#options
    const { agent, model, conversation } = speech
    const { settings } = request
    const guest = request.guest === undefined ? undefined : agent.name
    const { messages } = conversation.history
    const cwd = request.cwd ?? conversation.header.cwd
    const system = await systemPrompt(agent, {
      override: settings.system,
      hook,
      cwd,
      guest: guest !== undefined,
      hasGuests: hasGuests(messages),
    })
    const tools = await this.#toolSetting(speech, request, cwd)
    const turn = (signal: AbortSignal): ToolsTurn => ({ tell: tools.channel.tell, signal })
    return {
      speaker: agent.name,
      guest,
      request: { model, system, thinking: settings.thinking ?? agent.thinking, ...optional(settings) },
      offer: async (signal) => (hasTools(request) ? offeredTools(hook, agent, settings, turn(signal)) : []),
      toolChoice: { asked: request.toolChoice, usual: agent.tool_choice },
      maxTurns: settings.maxTurns ?? agent.max_iterations,
      settings,
      tools,
      provider,
      conversation,
    }
  }

  async #toolSetting(speech: Speech, request: TurnRequest, cwd: string): Promise<ToolSetting> {
    const { hook, agents, homeDir, spill, now, newId } = this.#options
    const { agent, conversation, runId, turnOver } = speech
    const { settings, sender, trust } = request
    const session = conversation.id
    const channel = new EventChannel()
    const workspace = await openWorkspace(cwd).catch(() => cwd) // what needs it says that it is gone
    const place = { workspace, homeDir }
    const aside = join(spill, session)
    const spillDir = await resolvePath(aside, place).catch(() => aside) // as paths of actions are
    if (settings.ephemeral) this.#unsaved.add(spillDir)
    const turn = { agent: agent.name, sender, session, runId }
    const asks = new TurnAsks({ asks: this.asks, onAsk: settings.onAsk ?? 'deny', channel, turn, newId, now })
    const given = [...speech.rules, ...conversation.history.grants, ...(hook.rules?.(agent) ?? [])]
    const rules = await resolveRules([...given, ...this.#options.rules], place)
    const permissions = new Permissions({
      setting: { ...place, trust, readable: [spillDir], mode: settings.mode ?? 'ask', rules },
      asks,
      record: (decision) => conversation.append([{ kind: 'event', event: 'permission', ...decision }]),
      addRule: (rule) => agents.addRule(agent.name, rule),
      notice: (message) => channel.tell({ type: 'notice', message }),
    })
    return {
      hook,
      permissions,
      asks,
      channel,
      request: { agent, cwd: workspace },
      dispatch: { sender, session, env: settings.env ?? {}, spillDir, turnOver },
      files: new Map(conversation.history.files),
      now,
    }
  }
}

/** Who answers, and with what. */
interface Speech extends Begun {
  agent: AgentConfig
  model: string
  /** Of the turn's client and of the agent's file. */
  rules: readonly Rule[]
}

/** A turn whose conversation is held. */
interface Begun {
  conversation: HeldConversation
  runId: string
  /** Aborted when the turn is over, however it ended. */
  turnOver: AbortSignal
}

/** The rules a client gives for one turn. Throws `invalid` for one that is none. */
function flagRules(settings: TurnSettings): Rule[] {
  const rules = (['allow', 'ask', 'deny'] as const).flatMap((effect) =>
    (settings[effect] ?? []).map((pattern): Rule => ({ effect, pattern, source: `--${effect}` })),
  )
  for (const { pattern } of rules) parseRule(pattern)
  return rules
}

/** Guests only speak. */
function hasTools({ guest, settings }: TurnRequest): boolean {
  return guest === undefined && settings.tools !== 'none'
}

/** The tools an agent is shown, which are those it may call (decision 23). */
async function offeredTools(
  hook: Hook,
  agent: AgentConfig,
  { tools: mode = 'all' }: TurnSettings,
  turn: ToolsTurn,
): Promise<ToolSpec[]> {
  const named = new Set(agent.tools)
  const schema = (await hook.schema?.(agent, turn)) ?? []
  return schema.filter(
    ({ name, readOnly = false }) => (named.size === 0 || named.has(name)) && (mode === 'all' || readOnly),
  )
}

function optional(settings: TurnRequest['settings']): Partial<ModelRequest> {
  const { schema, retries } = settings
  return { ...(schema && { schema }), ...(retries !== undefined && { retries }) }
}
