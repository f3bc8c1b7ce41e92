import { CrabError, toCrabError } from '../base/errors.ts'
import type { AgentConfig } from '../config/agent-schema.ts'
import { entryRules } from '../config/entry-rules.ts'
import { offerFilter } from '../policy/offer-filter.ts'
import { openWorkspace, resolvePath } from '../policy/paths.ts'
import { parseRule } from '../policy/pattern.ts'
import { resolveRules } from '../policy/resolve-rules.ts'
import type { Rule } from '../policy/types.ts'
import type { ModelRequest, ToolSpec } from '../provider/types.ts'
import type { Asks } from './asks.ts'
import type { EventChannel } from './event-channel.ts'
import { hasGuests } from './history.ts'
import type { ContextTurn, Hook, ToolsTurn } from './hook.ts'
import type { LeasedConversation } from './leased-conversation.ts'
import { Permissions } from './permission.ts'
import type { RuntimeOptions, TurnConfig } from './runtime-options.ts'
import { SelectedTools } from './selected-tools.ts'
import type { Steers } from './steers.ts'
import { systemPrompt } from './system-prompt.ts'
import type { ToolContext } from './tool-calls.ts'
import type { TurnPlan } from './turn.ts'
import { TurnAsks } from './turn-asks.ts'
import type { TurnRequest, TurnSettings } from './turn-request.ts'

/** Who answers, and with what. */
export interface TurnInputs extends OpenTurn {
  agent: AgentConfig
  /** The agent as its tools know it. */
  toolAgent: AgentConfig
  model: string
  /** The directory that the client chose, without links; undefined when it chose none. */
  workspace: string | undefined
  /** Of the turn's client, and of the agent's file. */
  rules: { flags: readonly Rule[]; ofAgent: readonly Rule[] }
}

/** A turn whose conversation is held. */
export interface OpenTurn {
  /** As it was when the turn began. */
  setting: TurnConfig
  asks: Asks
  /** Where the conversation's tools may put what is too long for an answer. */
  spillDir: string
  /** Where what files were before is kept; undefined: nothing is. */
  keepDir: string | undefined
  conversation: LeasedConversation
  /** The directory that the turn works in. */
  cwd: string
  steers: Steers
  /** What is told of the turn, also before its model is called. */
  channel: EventChannel
  runId: string
  /** Aborted when the turn is over, however it ended. */
  turnOver: AbortSignal
}

/** Decides everything about a turn whose conversation is held, before its model is called. */
export async function planTurn(
  options: RuntimeOptions,
  speech: TurnInputs,
  request: TurnRequest,
): Promise<TurnPlan> {
  const { hook } = options
  const { agent, toolAgent, model, conversation, cwd } = speech
  const { provider } = speech.setting
  const { settings } = request
  const guest = request.guest === undefined ? undefined : agent.name
  const { messages } = conversation.history
  const keeps = toolFilter(speech, request)
  const tools = await toolSetting({ options, speech, request, cwd })
  const system = (signal: AbortSignal) =>
    systemPrompt(agent, {
      override: settings.system,
      hook,
      cwd,
      turn: contextTurn(tools, request, signal),
      keeps: hasTools(request) ? keeps : () => false,
      guest: guest !== undefined,
      hasGuests: hasGuests(messages),
    })
  const selection = new SelectedTools(conversation.history.tools)
  let wanted = request.toolChoice ?? agent.tool_choice
  const turn = (signal: AbortSignal) => ({
    tell: tools.channel.push,
    signal,
    over: speech.turnOver,
    trust: request.trust,
    session: conversation.id,
    keeps,
    wanted,
    selection,
  })
  const offer = async (signal: AbortSignal) => {
    const offered = await offeredTools(hook, toolAgent, turn(signal))
    wanted = undefined // it is for the first model call
    return offered
  }
  return {
    speaker: agent.name,
    guest,
    system,
    request: { model, thinking: settings.thinking ?? agent.thinking, ...optional(settings) },
    offer: async (signal) => (hasTools(request) ? await offer(signal) : []),
    selection,
    toolChoice: { asked: request.toolChoice, usual: agent.tool_choice },
    maxTurns: limitTurns(request, agent.max_iterations),
    settings,
    tools,
    provider,
    conversation,
    steers: speech.steers,
    returnsSteers: () => request.returnsSteers?.() ?? false,
  }
}

/** Computes the most model calls of a turn: an untrusted turn may lower the agent's limit, and not raise it. */
function limitTurns({ settings, trust }: TurnRequest, limit: number): number {
  const asked = settings.maxTurns ?? limit
  return trust === 'remote' ? Math.min(asked, limit) : asked
}

/** The directory that a client chose for a turn, without links. Throws `invalid` when there is no such directory. */
export async function resolveWorkspace(cwd: string): Promise<string> {
  return await openWorkspace(cwd).catch((reason: unknown) => {
    const { message } = toCrabError(reason)
    const hint = 'choose the absolute path of a directory that exists'
    throw new CrabError('invalid', message, { cause: reason, hint })
  })
}

/** The turn as hooks see it that tell the model where it works. */
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

async function toolSetting(at: {
  options: RuntimeOptions
  speech: TurnInputs
  request: TurnRequest
  cwd: string
}): Promise<ToolContext> {
  const { options, speech, request, cwd } = at
  const { hook, agents, homeDir, now, newId } = options
  const { agent, conversation, runId, turnOver, spillDir, keepDir, channel } = speech
  const { settings, sender, trust } = request
  const session = conversation.id
  const workspace = speech.workspace ?? (await openWorkspace(cwd).catch(() => cwd)) // what needs it says that it is gone
  const place = { workspace, homeDir }
  const readable = [await resolvePath(spillDir, place).catch(() => spillDir)] // as paths of actions are
  const turn = { agent: agent.name, sender, trust, session, runId }
  const { onAsk = 'deny', isAttended = false } = settings
  const asks = new TurnAsks({ asks: speech.asks, onAsk, isAttended, channel, turn, newId, now })
  const rules = await resolveRules(allRules(speech), place)
  const files = new Map(conversation.history.files)
  const permissions = new Permissions({
    seen: files,
    setting: { ...place, trust, readable, mode: settings.mode ?? 'ask', rules },
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
    request: { agent: speech.toolAgent, cwd: workspace, env: settings.env ?? {} },
    dispatch: { sender, trust, session, runId, env: settings.env ?? {}, spillDir, keepDir, turnOver },
    files,
    now,
  }
}

/** The rules a client gives for one turn. Throws `invalid` for one that is none. */
export function flagRules(settings: Pick<TurnSettings, 'allow' | 'ask' | 'deny'>): Rule[] {
  const rules = (['allow', 'ask', 'deny'] as const).flatMap((effect) =>
    (settings[effect] ?? []).map((pattern): Rule => ({ effect, pattern, source: `--${effect}` })),
  )
  for (const { pattern } of rules) parseRule(pattern)
  return rules
}

/** The rules that come with the servers a client attaches. */
export function attachedRules({ mcps = [] }: Pick<TurnSettings, 'mcps'>): Rule[] {
  return mcps.flatMap((entry) => entryRules(entry, () => `the entry of ${entry.name}`))
}

/** Guests only speak. */
export function hasTools({ guest, settings }: TurnRequest): boolean {
  return guest === undefined && settings.tools !== 'none'
}

/** Returns the test of which tools a turn keeps by the agent's file, its client and its class. */
function toolFilter(speech: TurnInputs, { settings, trust }: TurnRequest): (tool: ToolSpec) => boolean {
  const { tools: mode = 'all', onAsk = 'deny' } = settings
  const named = new Set(speech.toolAgent.tools)
  const canAsk = onAsk === 'client' || onAsk === 'park'
  const isOffered = offerFilter({ trust, rules: allRules(speech), canAsk })
  return (tool) => {
    const { name, readOnly = false, isGuide = false } = tool
    return (named.size === 0 || named.has(name) || isGuide) && (mode === 'all' || readOnly) && isOffered(tool)
  }
}

/** Every rule there is for a turn; which of them hold is decided by its class. */
function allRules({ rules: { flags, ofAgent }, conversation, setting }: TurnInputs): Rule[] {
  return [...flags, ...conversation.history.grants, ...ofAgent, ...setting.rules]
}

/** The tools an agent is shown, which are those it may call (decision 23). */
async function offeredTools(
  hook: Hook,
  agent: AgentConfig,
  turn: ToolsTurn & Required<Pick<ToolsTurn, 'keeps'>>,
): Promise<ToolSpec[]> {
  const schema = (await hook.schema?.(agent, turn)) ?? []
  return schema.filter(turn.keeps)
}

function optional(settings: TurnRequest['settings']): Partial<ModelRequest> {
  const { schema, retries } = settings
  return { ...(schema && { schema }), ...(retries !== undefined && { retries }) }
}
