import { CrabError, toCrabError } from '../base/errors.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { entryRules } from '../config/entry-rules.ts'
import { deniedFilter, offerFilter } from '../policy/offer-filter.ts'
import { openWorkspace, resolvePath } from '../policy/paths.ts'
import { parseRule } from '../policy/pattern.ts'
import { resolveRules } from '../policy/resolve-rules.ts'
import type { Rule } from '../policy/types.ts'
import { fitEffort } from '../provider/efforts.ts'
import type { ModelRequest, ToolSpec } from '../provider/types.ts'
import type { Asks } from './asks.ts'
import type { EventChannel } from './event-channel.ts'
import { hasGuests } from './history.ts'
import type { ContextTurn, Hook, ToolsTurn } from './hook.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import { Permissions } from './permission.ts'
import { describePlanMode, presentsPlan } from './plan-mode.ts'
import type { RuntimeOptions, TurnConfig } from './runtime-options.ts'
import { SelectedTools } from './selected-tools.ts'
import type { Steers } from './steers.ts'
import { systemPrompt } from './system-prompt.ts'
import type { ToolContext } from './tool-calls.ts'
import type { TurnPlan } from './turn.ts'
import { TurnAsks } from './turn-asks.ts'
import { TurnCompaction } from './turn-compaction.ts'
import type { TurnRequest, TurnSettings } from './turn-request.ts'

/** The inputs of a turn: who answers, with which model and rules. */
export interface TurnInputs extends OpenTurn {
  agent: AgentConfig
  /** The agent including the MCP servers that the client attached. */
  toolAgent: AgentConfig
  model: string
  /** The directory that the client chose, without links; undefined when it chose none. */
  workspace: string | undefined
  /** Added directories, links resolved. */
  roots: readonly string[]
  /** The rules of the turn's client, and those of the agent's file. */
  rules: { flags: readonly Rule[]; agent: readonly Rule[] }
}

/** A turn whose conversation is leased. */
export interface OpenTurn {
  /** The configuration when the turn began. */
  config: TurnConfig
  asks: Asks
  /** The folder for tool output that is too long for an answer. */
  spillDir: string
  /** The folder for backups of changed files; undefined when none are kept. */
  keepDir: string | undefined
  conversation: LeasedConversation
  /** The directory that the turn works in. */
  cwd: string
  steers: Steers
  /** The events of the turn, including those before its model is called. */
  channel: EventChannel
  runId: string
  /** Aborted when the turn is over, however it ended. */
  turnOver: AbortSignal
}

/** Decides everything about a turn whose conversation is leased, before its model is called. */
export async function planTurn(
  options: RuntimeOptions,
  inputs: TurnInputs,
  request: TurnRequest,
): Promise<TurnPlan> {
  const { hook } = options
  const { agent, toolAgent, model, conversation, cwd } = inputs
  const { provider } = inputs.config
  const { settings } = request
  const guest = request.guest === undefined ? undefined : agent.name
  const { messages } = conversation.history
  const withheld = new Map<string, ToolSpec>()
  const keeps = toolFilter(inputs, request, withheld)
  const tools = await createToolContext({ options, inputs, request, cwd, withheld })
  const system = (signal: AbortSignal) =>
    systemPrompt(agent, {
      override: settings.system,
      hook,
      cwd,
      turn: { ...contextTurn(tools, request, signal), roots: inputs.roots },
      keeps: hasTools(request) ? keeps : () => false,
      guest: guest !== undefined,
      side: settings.side ?? false,
      hasGuests: hasGuests(messages),
    })
  const selection = new SelectedTools(conversation.history.tools)
  const isPlanning = () => tools.permissions.mode === 'plan'
  const canPresent = presentsPlan(request)
  let firstChoice = request.toolChoice ?? agent.tool_choice
  const turn = (signal: AbortSignal) => ({
    emit: tools.channel.push,
    signal,
    turnOver: inputs.turnOver,
    trust: request.trust,
    session: conversation.id,
    keeps,
    toolChoice: firstChoice,
    selection,
    presentsPlan: isPlanning() && canPresent,
  })
  const offer = async (signal: AbortSignal) => {
    const offered = await offeredTools(hook, toolAgent, turn(signal))
    firstChoice = undefined // it applies to the first model call only
    return offered
  }
  return {
    speaker: agent.name,
    guest,
    system,
    modePrompt: () => (isPlanning() && guest === undefined ? describePlanMode(canPresent) : ''),
    request: {
      model,
      thinking: settings.thinking ?? agent.thinking,
      ...effortFor(inputs, settings),
      ...optional(request),
    },
    offer: async (signal) => (hasTools(request) ? await offer(signal) : []),
    selection,
    toolChoice: { requested: request.toolChoice, default: agent.tool_choice },
    maxTurns: limitTurns(request, agent.max_iterations),
    settings,
    tools,
    provider,
    conversation,
    steers: inputs.steers,
    compaction: toTurnCompaction(options, inputs, request),
    returnsSteers: () => request.returnsSteers?.() ?? false,
  }
}

/** Returns the automatic compaction of a stored turn whose client asked for it; guests have none. */
function toTurnCompaction(
  { stores: { memory }, now }: RuntimeOptions,
  { agent, model, conversation, config: { provider } }: TurnInputs,
  { guest, settings: { compactAt: at, ephemeral, side } }: TurnRequest,
): TurnCompaction | undefined {
  if (at === undefined || !memory || ephemeral || side || guest !== undefined) return undefined
  return new TurnCompaction({ agent: { ...agent, model }, model, provider, conversation, memory, at, now })
}

/** Returns the reasoning effort of a turn: the client's, else the agent's, else that of config.toml. */
function effortFor(
  { model, agent, config }: Pick<TurnInputs, 'model' | 'agent' | 'config'>,
  { effort: requested }: TurnSettings,
): Pick<ModelRequest, 'effort'> {
  const effort = fitEffort(model, { requested, usual: agent.effort ?? config.effort })
  return effort === undefined ? {} : { effort }
}

/** Computes the most model calls of a turn: an untrusted turn may lower the agent's limit, but not raise it. */
function limitTurns({ settings, trust }: TurnRequest, limit: number): number {
  const requested = settings.maxTurns ?? limit
  return trust === 'remote' ? Math.min(requested, limit) : requested
}

/**
 * Resolves the directory that a client chose for a turn, following links. Throws `invalid` when it does not
 * exist.
 */
export async function resolveWorkspace(cwd: string): Promise<string> {
  return await openWorkspace(cwd).catch((reason: unknown) => {
    const { message } = toCrabError(reason)
    const hint = 'choose the absolute path of a directory that exists'
    throw new CrabError('invalid', message, { cause: reason, hint })
  })
}

/** Builds what the hooks that describe the working directory see of the turn. */
function contextTurn(
  { asks, channel }: ToolContext,
  { trust, settings }: TurnRequest,
  signal: AbortSignal,
): ContextTurn {
  const notice = (message: string) => channel.push({ type: 'notice', message })
  const { ephemeral = false, asksTrust = false } = settings
  if (!asksTrust || trust !== 'local') return { trust, ephemeral, notice, signal }
  const ask: ContextTurn['ask'] = async (questions) => {
    const end = await asks.put({ kind: 'trust', questions, permission: undefined }, signal)
    return end?.answers
  }
  return { trust, ephemeral, notice, signal, ask }
}

async function createToolContext(at: {
  options: RuntimeOptions
  inputs: TurnInputs
  request: TurnRequest
  cwd: string
  withheld: ReadonlyMap<string, ToolSpec>
}): Promise<ToolContext> {
  const { options, inputs, request, cwd, withheld } = at
  const { hook, agents, homeDir, now, newId } = options
  const { agent, conversation, runId, turnOver, spillDir, keepDir, channel } = inputs
  const { settings, sender, trust } = request
  const session = conversation.id
  // The tools that need it report that it is gone.
  const workspace = inputs.workspace ?? (await openWorkspace(cwd).catch(() => cwd))
  const place = { workspace, homeDir }
  // Resolved, because the paths of actions are.
  const readable = [await resolvePath(spillDir, place).catch(() => spillDir)]
  const turn = { agent: agent.name, sender, trust, session, runId }
  const { onAsk = 'deny', isAttended = false } = settings
  const asks = new TurnAsks({ asks: inputs.asks, onAsk, isAttended, channel, turn, newId, now })
  const rules = await resolveRules(allRules(inputs), place)
  const files = new Map(conversation.history.files)
  const permissions = new Permissions({
    seen: files,
    context: {
      ...place,
      roots: inputs.roots,
      trust,
      readable,
      mode: settings.mode ?? agent.mode ?? 'ask',
      rules,
    },
    asks,
    record: (decision) => conversation.append([{ kind: 'event', event: 'permission', ...decision }]),
    addRule: (rule) => agents.addRule(agent.name, rule),
    notice: (message) => channel.push({ type: 'notice', message }),
  })
  return {
    hook,
    permissions,
    asks,
    channel,
    request: { agent: inputs.toolAgent, cwd: workspace, roots: inputs.roots, env: settings.env ?? {} },
    dispatch: { sender, trust, session, runId, env: settings.env ?? {}, spillDir, keepDir, turnOver },
    files,
    introduced: new Set(conversation.history.messages.flatMap(({ introduces = [] }) => introduces)),
    withheld,
    now,
  }
}

/** Returns the rules that a client gives for one turn. Throws `invalid` for a malformed rule. */
export function flagRules(settings: Pick<TurnSettings, 'allow' | 'ask' | 'deny'>): Rule[] {
  const rules = (['allow', 'ask', 'deny'] as const).flatMap((effect) =>
    (settings[effect] ?? []).map(
      (pattern): Rule => ({ effect, pattern, source: `--${effect}`, projects: 'any' }),
    ),
  )
  for (const { pattern } of rules) parseRule(pattern)
  return rules
}

/** Returns the rules that come with the servers a client attaches. */
export function attachedRules({ mcps = [] }: Pick<TurnSettings, 'mcps'>): Rule[] {
  const rules = mcps.flatMap((entry) => entryRules(entry, () => `the entry of ${entry.name}`))
  return rules.map((rule): Rule => ({ ...rule, projects: 'any' }))
}

/** Whether the turn may use tools; guests never do. */
export function hasTools({ guest, settings }: TurnRequest): boolean {
  return guest === undefined && settings.tools !== 'none'
}

/**
 * Returns a predicate: whether the agent's file, the client, the trust class and the rules let the turn have a
 * tool. Tools of servers that a rule denies are collected in `withheld`.
 */
function toolFilter(
  inputs: TurnInputs,
  { settings, trust }: TurnRequest,
  withheld: Map<string, ToolSpec>,
): (tool: ToolSpec) => boolean {
  const { tools: mode = 'all', onAsk = 'deny' } = settings
  const canAsk = onAsk === 'client' || onAsk === 'park'
  const rules = allRules(inputs)
  const isOffered = offerFilter({ trust, rules, canAsk })
  const isDenied = deniedFilter({ trust, rules })
  const isNamed = namedFilter(inputs.toolAgent)
  return (tool) => {
    const { name, readOnly = false } = tool
    if (!isNamed(tool) || (mode !== 'all' && !readOnly) || !isOffered(tool)) return false
    if (!isDenied(tool)) return true
    withheld.set(name, tool)
    return false
  }
}

/** Returns a predicate: whether a turn of the user, under these rules, has a tool of the agent. */
export function usersToolFilter(agent: AgentConfig, rules: readonly Rule[]): (tool: ToolSpec) => boolean {
  const isNamed = namedFilter(agent)
  const isDenied = deniedFilter({ trust: 'local', rules })
  return (tool) => isNamed(tool) && !isDenied(tool)
}

/** Returns a predicate: whether the list of tools in the agent's file, if there is one, names a tool. */
function namedFilter({ tools }: Pick<AgentConfig, 'tools'>): (tool: ToolSpec) => boolean {
  const named = new Set(tools)
  return ({ name, isGuide = false }) => named.size === 0 || named.has(name) || isGuide
}

/** Returns every rule that could apply to a turn; its trust class decides which of them hold. */
function allRules({ rules: { flags, agent }, conversation, config }: TurnInputs): Rule[] {
  return [...flags, ...conversation.history.grants, ...agent, ...config.rules]
}

/** Returns the tools that an agent is shown, which are exactly those it may call (ADR 0072). */
async function offeredTools(
  hook: Hook,
  agent: AgentConfig,
  turn: ToolsTurn & Required<Pick<ToolsTurn, 'keeps'>>,
): Promise<ToolSpec[]> {
  const schema = (await hook.schema?.(agent, turn)) ?? []
  return schema.filter(turn.keeps)
}

function optional({ settings, sender, trust }: TurnRequest): Partial<ModelRequest> {
  const { schema, retries } = settings
  const isAlone = trust === 'unattended' || sender.startsWith('delegate:')
  const retryPolicy = settings.retryPolicy ?? (isAlone ? 'patient' : 'quick')
  return { retryPolicy, ...(schema && { schema }), ...(retries !== undefined && { retries }) }
}
