import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import type { ConversationInfo } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { Panel } from '../overlays/types.ts'
import { type AgentsFacts, agentsPanel, type EndedConversation, readAgentsTarget } from './agents-panel.ts'
import { findPanel, printNotice, showOverlay } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/agents [NAME]`: shows what all agents do, live, or talks to an agent. */
export async function showAgents(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { ports } = context
  const { agents, problems } = await request(context.dispatch, 'listAgents', {}, signal)
  for (const problem of problems) printNotice(context, 'warning', problem)
  const named = agents.find(({ name }) => name === args)
  if (named) return context.openAgent(named.name)
  if (args !== '') return printNotice(context, 'warning', `No agent is named "${args}"`, '/agents lists them')
  const reader = new AgentsReader(context, agents, await ports.memory.readLookedAt())
  void ports.memory.markLookedAt(VIEW)
  showOverlay(context, { ...toPanel(await reader.read(signal), context), refresher: reader })
  void refreshWhileOpen(reader, context)
}

/** `/background`: puts the running turn into the background and starts a new conversation. */
export async function background(_args: string, context: SlashContext): Promise<void> {
  if (!context.state().turn)
    return printNotice(
      context,
      'info',
      'No turn is running',
      '/agents shows the turns of other conversations',
    )
  await context.startNewConversation()
}

/** Carries out a key of the agents view. */
export async function actOnAgents(
  { value, key = '' }: { value: string; key?: string | undefined },
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  const target = readAgentsTarget(value)
  if (!target) return
  if (key === 'x' && target.kind === 'conversation') {
    const note = (await endTurn(target, context, signal))
      ? 'The turn was interrupted'
      : 'No turn is running there'
    const panel = findPanel(context, 'agents')
    if (panel) showOverlay(context, { ...panel, note })
    return
  }
  if (key === 'x') return
  showOverlay(context, undefined)
  if (key === 'n' || target.kind === 'agent') return context.startNewConversation(target.agent)
  if (target.session !== context.state().session) await context.openConversation(target.session)
}

/** Interrupts the turn of a conversation; returns false when none is running in it. */
async function endTurn(
  { agent, sender, session }: { agent: string; sender: string; session: string },
  { dispatch }: SlashContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  if (!conversations.some((one) => one.session === session)) return false
  await request(dispatch, 'kill', { agent, sender }, signal)
  return true
}

/**
 * Reads what the view shows. The ended conversations are read again when a turn has started or ended, and on every
 * tenth refresh, because a turn may start and end between two refreshes.
 */
class AgentsReader {
  readonly #context: SlashContext
  readonly #agents: AgentsFacts['agents']
  readonly #lastLines = new Map<string, string>()
  /** The time when this view was opened last, before now. */
  readonly #viewedAt: number
  #running = ''
  #reads = 0
  #ended: Pick<AgentsFacts, 'ended' | 'moreEnded'> = { ended: [], moreEnded: 0 }

  constructor(context: SlashContext, agents: AgentsFacts['agents'], looked: ReadonlyMap<string, number>) {
    this.#context = context
    this.#agents = agents
    this.#viewedAt = looked.get(VIEW) ?? 0
  }

  async read(signal: AbortSignal): Promise<AgentsFacts> {
    const { dispatch } = this.#context
    const [{ conversations: active }, { asks }] = await Promise.all([
      request(dispatch, 'listActiveConversations', {}, signal),
      request(dispatch, 'listAsks', {}, signal),
    ])
    const running = active.map(({ session }) => session).join('\n')
    if (running !== this.#running || this.#reads++ % READS_PER_LIST === 0)
      this.#ended = await this.#readEnded(new Set(active.map(({ session }) => session)), signal)
    this.#running = running
    return { active, asks, ...this.#ended, agents: this.#agents }
  }

  async #readEnded(
    running: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<Pick<AgentsFacts, 'ended' | 'moreEnded'>> {
    const { dispatch, ports, state } = this.#context
    const looked = await ports.memory.readLookedAt()
    const { conversations } = await request(dispatch, 'listConversations', { limit: MAX_LISTED }, signal)
    const { session } = state()
    const unwatchedSince = Math.max(this.#viewedAt, ports.now() - UNWATCHED_MS)
    const isNews = ({ filePath, updatedAt, messageCount }: ConversationInfo) =>
      filePath !== session &&
      !running.has(filePath) &&
      messageCount > 0 &&
      Date.parse(updatedAt) > (looked.get(filePath) ?? unwatchedSince)
    const news = conversations.filter(isNews)
    const ended: EndedConversation[] = []
    for (const info of news.slice(0, MAX_ENDED)) {
      ended.push({ info, lastLine: await this.#readLastLine(info, signal) })
    }
    return { ended, moreEnded: news.length - ended.length }
  }

  async #readLastLine(
    { filePath: session, updatedAt }: ConversationInfo,
    signal: AbortSignal,
  ): Promise<string> {
    const key = `${session} ${updatedAt}`
    const known = this.#lastLines.get(key)
    if (known !== undefined) return known
    const { dispatch } = this.#context
    const { total } = await request(dispatch, 'listMessages', { session, limit: 1 }, signal)
    const last = { session, offset: Math.max(0, total - 1), limit: 1 }
    const { messages } = await request(dispatch, 'listMessages', last, signal)
    const line = (messages[0]?.content ?? '').trimEnd().split('\n').at(-1) ?? ''
    this.#lastLines.set(key, line)
    return line
  }
}

const MAX_LISTED = 200
const MAX_ENDED = 10
/** The name under which the windows store when the view was opened last. */
const VIEW = 'agents-view'
/** The age up to which a conversation that no chat has shown is listed, such as the run of a schedule. */
const UNWATCHED_MS = 24 * 3_600_000
/** The ended conversations are read again on every tenth refresh, even if no turn has started or ended. */
const READS_PER_LIST = 10
/** The time, in milliseconds, between two looks while the view is open. */
const REFRESH_MS = 1_000

/** Keeps the view current until it is closed; one that is opened again has a reader of its own. */
async function refreshWhileOpen(reader: AgentsReader, context: SlashContext): Promise<void> {
  const { lifetime } = context
  const getOwn = () => {
    const panel = findPanel(context, 'agents')
    return panel?.refresher === reader ? panel : undefined
  }
  try {
    while (getOwn()) {
      await sleep(REFRESH_MS, undefined, { signal: lifetime, ref: false })
      if (!getOwn()) return
      const facts = await reader.read(lifetime)
      const current = getOwn()
      const fresh = current && { ...toPanel(facts, context, current), refresher: reader }
      if (fresh && JSON.stringify(fresh) !== JSON.stringify(current)) showOverlay(context, fresh)
    }
  } catch (reason) {
    const open = getOwn()
    if (open && !lifetime.aborted) showOverlay(context, { ...open, note: toCrabError(reason).message })
  }
}

function toPanel(facts: AgentsFacts, { state, ports }: SlashContext, before?: Panel): Panel {
  const { session } = state()
  return agentsPanel(facts, { session, now: ports.now(), abbreviate: ports.abbreviate }, before)
}
