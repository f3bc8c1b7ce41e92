import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError, toCrabError } from '../base/errors.ts'
import { type Log, silentLog } from '../base/log.ts'
import { type AgentConfig, hasRules } from '../config/agent-schema.ts'
import type { ProjectServerFile } from '../config/project-server-file.ts'
import { type Pair, SESSION_VERSION, type SessionHeader } from '../storage/types.ts'
import { type Compaction, compactConversation } from './compaction.ts'
import { breakDownRequest, type RequestBreakdown } from './context-view.ts'
import { type ConversationModel, findConversationModel, toModelLine } from './conversation-model.ts'
import { EventChannel } from './event-channel.ts'
import type { AgentEvent } from './events.ts'
import { KnownAgents } from './known-agents.ts'
import { type ConversationStart, LeasedConversation, readConversation } from './leased-conversation.ts'
import { prepareTurn } from './prepare-turn.ts'
import { type Preprocess, preprocessor } from './preprocess.ts'
import type { RuntimeOptions, TurnConfig } from './runtime-options.ts'
import { SelectedTools } from './selected-tools.ts'
import { SessionServers } from './session-servers.ts'
import { shownError } from './shown-error.ts'
import { shownEvents } from './shown-events.ts'
import { deletesSideConversation, openSideConversation, toSideQuestion } from './side-question.ts'
import { Steers } from './steers.ts'
import { systemPrompt } from './system-prompt.ts'
import { tapEvents } from './tap-events.ts'
import { type ProposedTitle, proposeTitle } from './title.ts'
import { runTurn, type TurnPlan } from './turn.ts'
import { withConversationModel } from './turn-model.ts'
import { hasTools, type OpenTurn, planTurn, usersToolFilter } from './turn-plan.ts'
import type { CompactionRequest, TurnRequest } from './turn-request.ts'
import { workingDirectory } from './working-directory.ts'

/** The session whose next request is viewed. */
export interface ContextRequest {
  session: string
  /** The current name of its agent. */
  agent: string
  model?: string
  cwd?: string
}

/** Drives agents: conversations by (agent, sender), turns, tools. Opens no socket, reads no clock. */
export class Runtime implements AsyncDisposable {
  readonly #options: RuntimeOptions
  /** Folders of tool output of conversations that are not stored; deleted with this runtime. */
  readonly #unsaved = new Set<string>()
  readonly #known: KnownAgents
  readonly #servers: SessionServers
  readonly #log: Log

  constructor(options: RuntimeOptions) {
    this.#options = options
    this.#known = options.known ?? new KnownAgents(options.hook)
    this.#servers = new SessionServers(options.hook)
    this.#log = options.log ?? silentLog
  }

  /**
   * Runs one turn of (agent, sender) and yields its events, `end` last; turns of one pair run one after
   * another.
   *
   * Throws before `start` when it cannot begin (unknown agent, no model, no disk); nothing has happened then.
   * Leaving the iteration, or aborting, cancels the model call and the tools, and keeps what was said.
   */
  async *turn(sent: TurnRequest, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const stop = new AbortController()
    const kill = new AbortController()
    const left = new AbortController()
    const either = AbortSignal.any([signal, kill.signal, left.signal, stop.signal])
    const config = this.#options.config()
    try {
      const agent = await this.#agent(sent.agent, sent)
      const { request, warnings } = await this.#withConversationModel(agent, sent)
      const speaker = request.guest === undefined ? agent : await this.#agent(request.guest, request)
      const inputs = await prepareTurn(speaker, request, { config, agents: this.#options.agents })
      const toolAgent = await this.#withAttachedServers(speaker, request)
      request.accepted?.()
      const channel = new EventChannel()
      const reader = request.guest === undefined ? toolAgent : agent
      const preprocessing = { ...this.#options, unsaved: this.#unsaved }
      const prepare = preprocessor(preprocessing, request, { agent: reader, channel, signal: either })
      await using conversation = await this.#lease(agent, request, { prepare, signal: either })
      await using _copy = request.settings.side
        ? deletesSideConversation(this.#options.scratch, conversation)
        : undefined
      const cwd = await this.#cwd(agent, request, request.cwd ?? conversation.header.cwd)
      const openTurn = this.#openTurn({ conversation, cwd, prepare, channel, config }, request, stop.signal)
      await using _running = this.#enter({ agent, request, openTurn, signal: either, kill })
      const returnsSteers = () => !left.signal.aborted && (request.returnsSteers?.() ?? false)
      const plan = await planTurn(
        this.#options,
        { ...inputs, toolAgent, ...openTurn },
        { ...request, returnsSteers },
      )
      const line = request.settings.ephemeral ? 0 : conversation.lastLine
      const events = this.#events(plan, { ...openTurn, line, primary: agent, warnings }, either)
      const shown = shownEvents(events, request.trust, this.#log)
      yield* tapEvents(shown, {
        observe: (event) => this.#options.hook.onEvent?.(agent.name, conversation.id, event),
        cancel: (reason) => left.abort(reason),
      })
    } catch (reason) {
      throw shownError(toCrabError(reason), sent.trust, this.#log)
    } finally {
      stop.abort()
    }
  }

  /**
   * Archives the history of a pair's active session, or of another one, and replaces it by a summary (ADR 0087). Waits for a
   * running turn, and turns wait for it.
   *
   * Throws `missing` for a pair without a conversation, `invalid` when there is nothing to archive; see
   * compactConversation().
   */
  async compact(
    { agent: name, sender, trust, model, session, focus }: CompactionRequest,
    signal: AbortSignal,
  ): Promise<Compaction> {
    const { stores, running, now } = this.#options
    const { provider } = this.#options.config()
    const found = await this.#buildAgent(name, { create: false })
    const pair: Pair = { agentId: found.id, sender }
    const id = session ?? (await stores.storage.activeSession(pair))
    if (id === undefined) throw new CrabError('missing', 'Cannot compact the conversation: it does not exist')
    if (!stores.memory)
      throw new CrabError('failed', 'Cannot compact the conversation: the agent has no memory')
    const kill = new AbortController()
    const either = AbortSignal.any([signal, kill.signal])
    await using conversation = await LeasedConversation.open(stores, { id, agent: found.name }, either)
    if (conversation.header.agent_id !== found.id)
      throw new CrabError('missing', `Cannot compact the conversation: "${found.name}" has no session ${id}`)
    const agent = withModel(found, model, conversation.history.chosen)
    using _running = running.enter({
      pair,
      agent: found.name,
      trust,
      since: now(),
      conversation,
      signal: either,
      cancel: () => kill.abort(),
    })
    const plan = { agent, conversation, provider, memory: stores.memory, focus, now }
    return await compactConversation(plan, either)
  }

  /** Breaks the next request of a stored session down into its parts; calls no model and stores nothing. */
  async viewContext(
    { session, agent: name, model, cwd }: ContextRequest,
    signal: AbortSignal,
  ): Promise<RequestBreakdown> {
    const { stores, hook, agents } = this.#options
    const { provider, rules } = this.#options.config()
    const found = await this.#buildAgent(name, { create: false })
    const { header, history } = (await readConversation(stores, session, found.name)).conversation
    const agent = withModel(found, model, history.chosen)
    await this.#known.register(agent)
    const agentRules = hasRules(agent) ? await agents.rules(agent.name) : []
    const keeps = usersToolFilter(agent, [...history.grants, ...agentRules, ...rules])
    const turn = { trust: 'local' as const, notice: () => {}, signal }
    const ask = async () => undefined // undecided: files that a turn would ask about are not counted
    const system = await systemPrompt(agent, {
      ...{ override: undefined, hook, guest: false, side: false, hasGuests: false, keeps },
      ...{ cwd: cwd ?? header.cwd, turn: { ...turn, ephemeral: true, ask } },
    })
    const selection = new SelectedTools(history.tools)
    const toolsTurn = { ...turn, emit: () => {}, session, selection, keeps }
    const offered = ((await hook.schema?.(agent, toolsTurn)) ?? []).filter(keeps)
    const used = agent.model ?? provider.defaultModel()
    const window = provider.facts(used).context
    const memoryTools = hook.groups?.(agent).find(({ id }) => id === 'memory')?.tools ?? []
    return breakDownRequest({ model: used, window, system, tools: offered, memoryTools, history })
  }

  /**
   * Proposes a title for a session of that agent; stores nothing. Throws `invalid` when nothing was said in
   * it.
   */
  async proposeTitle(
    { session, agent: name, model }: { session: string; agent: string; model?: string },
    signal: AbortSignal,
  ): Promise<ProposedTitle> {
    const { stores } = this.#options
    const { provider } = this.#options.config()
    const { lines } = await stores.storage.read(session)
    const found = await this.#buildAgent(name, { create: false })
    const agent = withModel(found, model, findConversationModel(lines))
    return await proposeTitle({ provider, agent, lines }, signal)
  }

  #openTurn(
    {
      conversation,
      cwd,
      prepare,
      channel,
      config,
    }: {
      conversation: LeasedConversation
      cwd: string
      prepare: Preprocess
      channel: EventChannel
      config: TurnConfig
    },
    { settings, runId }: TurnRequest,
    turnOver: AbortSignal,
  ): OpenTurn {
    const { asks, spill, undo, newId } = this.#options
    const run = runId ?? newId()
    const spillDir = join(spill, conversation.id)
    if (settings.ephemeral) this.#unsaved.add(spillDir)
    const steers = new Steers(prepare)
    const keepDir = undo === undefined || settings.ephemeral ? undefined : join(undo, conversation.id, run)
    return { conversation, cwd, config, asks, steers, channel, runId: run, turnOver, spillDir, keepDir }
  }

  /**
   * Lets clients steer and stop the turn; a steering message that comes too late, and that no event returns
   * to its client, is stored.
   */
  #enter(turn: {
    agent: AgentConfig
    request: TurnRequest
    openTurn: OpenTurn
    signal: AbortSignal
    kill: AbortController
  }): AsyncDisposable {
    const { agent, request, openTurn, signal, kill } = turn
    const { conversation, steers } = openTurn
    const entered = this.#options.running.enter({
      pair: {
        agentId: agent.id,
        sender: request.settings.side ? conversation.header.created_by : request.sender,
      },
      agent: agent.name,
      trust: request.trust,
      since: this.#options.now(),
      conversation,
      runId: openTurn.runId,
      steers,
      signal,
      cancel: () => kill.abort(),
    })
    return {
      async [Symbol.asyncDispose]() {
        entered[Symbol.dispose]()
        steers.close()
        await steers.takeUp((lines) => conversation.append(lines))
      },
    }
  }

  async *#events(
    plan: TurnPlan,
    {
      runId,
      line,
      config: { warning },
      primary: { id, name },
      warnings,
    }: OpenTurn & { line: number; primary: AgentConfig; warnings: readonly string[] },
    signal: AbortSignal,
  ): AsyncGenerator<AgentEvent> {
    const { speaker, request, conversation } = plan
    const { model, effort } = request
    const turn = { agent: speaker, primary: { id, name }, runId, sessionId: conversation.id, model, line }
    yield { type: 'start', ...turn, ...(effort !== undefined && { effort }) }
    if (warning !== undefined) yield { type: 'notice', message: warning }
    for (const message of [...warnings, ...conversation.warnings]) yield { type: 'notice', message }
    yield* runTurn(plan, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers.forgetAll()
    for (const { id } of this.#known.all()) await this.#known.unregister(id)
    for (const folder of this.#unsaved) await rm(folder, { recursive: true, force: true })
  }

  /** Ends the servers of project files that are no longer trusted, after the turns that use them. */
  async releaseServers(isTrusted: (file: ProjectServerFile) => boolean): Promise<void> {
    await this.#servers.release(isTrusted)
  }

  /** Returns the agent as hooks built it. */
  async #buildAgent(name: string, { create }: { create: boolean }): Promise<AgentConfig> {
    const { agents, hook } = this.#options
    const stored = await agents.get(name, { create })
    return hook.onBuildAgent?.(stored) ?? stored
  }

  /** Returns the agent of a turn; without its MCP servers when the request excludes them. */
  async #agent(name: string, request: TurnRequest): Promise<AgentConfig> {
    const agent = await this.#buildAgent(name, { create: !request.settings.ephemeral })
    if (request.settings.noMcp) return { ...agent, mcps: [] }
    if (hasTools(request)) await this.#known.register(agent)
    return agent
  }

  /** Returns the agent with the MCP servers that the client attached to the conversation. */
  async #withAttachedServers(agent: AgentConfig, request: TurnRequest): Promise<AgentConfig> {
    const { mcps = [] } = request.settings
    if (hasTools(request) && mcps.length > 0) return await this.#servers.attach(agent, request.sender, mcps)
    if (request.guest === undefined) await this.#servers.detach(agent, request.sender)
    return agent
  }

  /** Returns the request with the model and effort of its conversation. */
  async #withConversationModel(
    { id: agentId, name: agent }: AgentConfig,
    request: TurnRequest,
  ): ReturnType<typeof withConversationModel> {
    const { stores, scratch } = this.#options
    const { ephemeral, side } = request.settings
    const pair: Pair = { agentId, sender: request.sender }
    return await withConversationModel(
      { stores: ephemeral && !side ? scratch : stores, pair, agent },
      request,
    )
  }

  async #cwd(
    { id: agentId, name: agent }: AgentConfig,
    { sender, trust }: TurnRequest,
    chosen: string,
  ): Promise<string> {
    return await workingDirectory(this.#options, { pair: { agent, agentId, sender }, trust }, chosen)
  }

  async #lease(
    agent: AgentConfig,
    request: TurnRequest,
    { prepare, signal }: { prepare: Preprocess; signal: AbortSignal },
  ): Promise<LeasedConversation> {
    const { stores, scratch, now } = this.#options
    const { ephemeral, side, keepsModel, attachments: sent = [] } = request.settings
    const { attachments: found = [], ...prepared } = await prepare(request.content)
    const message = side ? { ...prepared, content: toSideQuestion(prepared.content) } : prepared
    const attachments = [...sent, ...found]
    const pair: Pair = { agentId: agent.id, sender: request.sender }
    const cwd = await this.#cwd(agent, request, request.cwd ?? this.#options.defaultCwd)
    const header: SessionHeader = {
      v: SESSION_VERSION,
      agent: agent.name,
      agent_id: agent.id,
      created_by: request.sender,
      created_at: new Date(now()).toISOString(),
      cwd,
    }
    const entry = { kind: 'entry', role: 'user', ...message } as const
    const first = attachments.length > 0 ? { ...entry, attachments } : entry
    const lead = keepsModel ? [toModelLine(request.settings)] : []
    const start: ConversationStart = { pair, header, lead, first }
    if (side)
      return openSideConversation({ stores, scratch }, { ...start, id: this.#options.newId() }, signal)
    return LeasedConversation.lease(ephemeral ? scratch : stores, start, signal)
  }
}

/** Returns the agent with the requested model, or else that of the conversation. */
function withModel(
  agent: AgentConfig,
  requested: string | undefined,
  chosen: ConversationModel | undefined,
): AgentConfig {
  const model = requested || chosen?.model
  return model === undefined ? agent : { ...agent, model }
}
