import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Channel } from '../../core/policy/trust.ts'
import type { AgentInfo, ListConversationsMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { Handlers } from '../../core/protocol/dispatch.ts'
import { EntryReader } from '../../core/runtime/entry-reader.ts'
import { turnOf } from '../../core/runtime/held-conversation.ts'
import type { Running } from '../../core/runtime/running-turns.ts'
import { deleteSession } from '../../core/runtime/sessions.ts'
import type { Services } from '../services.ts'
import { listActiveConversations } from './active-conversations.ts'
import { agentIdOf } from './agent-id.ts'
import { createAgent, deleteAgent, getAgent, listAgents, renameAgent, updateAgent } from './agents.ts'
import { listAsks, replyToAsk } from './asks.ts'
import { attachTo } from './attach.ts'
import { guarded } from './callers.ts'
import { compact } from './compact.ts'
import { getConversationHistory, listConversations, listMessages } from './conversations.ts'
import { getStats, hello, shutdown } from './daemon.ts'
import {
  listSubscriptions,
  publishEvent,
  subscribeEvent,
  subscribeEvents,
  traceEvent,
  unsubscribeEvent,
} from './events.ts'
import { subscribeMcpEvents } from './mcp-events.ts'
import { mcpTrace } from './mcp-trace.ts'
import { listModels } from './models.ts'
import { waitRun } from './runs.ts'
import type { Served } from './served.ts'
import {
  activateSession,
  findSession,
  forkSession,
  generateTitle,
  listArchives,
  newSession,
  setTitle,
} from './sessions.ts'
import { listSkills } from './skills.ts'
import { kill, steerSession } from './steering.ts'
import { turnConflict } from './turn-conflict.ts'
import { send, stream } from './turns.ts'

/** The operations of the protocol over one node's services, for messages that come by that channel, each for its callers. */
export function handlers(
  services: Services,
  channel: Channel,
  host: HostHandlers = {},
  client?: Served['client'],
): Handlers {
  return guarded({ ...operations({ services, channel, client }), ...host }, services, channel)
}

/** What only a host that embeds the daemon can do. */
export type HostHandlers = Pick<Handlers, 'extension'>

function operations(served: Served): Handlers {
  const { services, channel } = served
  const { agents, place } = services
  const { storage } = place
  const entries = new EntryReader(storage)
  return {
    ping: async () => {},
    auth: async () => {},
    hello: (message) => hello(services, channel, message),
    getStats: (_, signal) => getStats(services, signal),
    shutdown: async () => shutdown(services),
    send: (message, signal) => send(served, message, signal),
    stream: (message, signal) => stream(served, message, signal),
    attach: (message, signal) => attachTo(served, message, signal),
    waitRun: (message, signal) => waitRun(services, message, signal),
    steerSession: (message) => steerSession(served, message),
    kill: (message) => kill(served, message),
    replyToAsk: async (message) => replyToAsk(served, message),
    listAsks: async (message) => listAsks(served, message),
    listMcps: async ({ agent }, signal) => (await import('./mcp.ts')).listMcps(services, agent, signal),
    upsertMcp: async (message, signal) => (await import('./mcp.ts')).upsertMcp(services, message, signal),
    deleteMcp: async (message) => (await import('./mcp.ts')).deleteMcp(services, message),
    subscribeMcpEvents: (_, signal) => subscribeMcpEvents(services, signal),
    mcpTrace: (message, signal) => mcpTrace(services, message, signal),
    replaceMcps: async (message, signal) => (await import('./mcp.ts')).replaceMcps(services, message, signal),
    mcpView: async ({ agent }, signal) => (await import('./mcp-view.ts')).mcpView(services, agent, signal),
    mcpAction: async (message, signal) =>
      (await import('./mcp-action.ts')).mcpAction(services, message, signal),
    policyExplain: async (message, signal) =>
      (await import('./policy.ts')).policyExplain(served, message, signal),
    listModels: (message, signal) => listModels(services, message, signal),
    setActiveModel: async (message, signal) =>
      (await import('./active-model.ts')).setActiveModel(services, message, signal),
    listAgents: () => listAgents(agents),
    getAgent: ({ name }) => getAgent(agents, name),
    createAgent: async (message) => known(services, await createAgent(agents, message)),
    updateAgent: async (message) => known(services, await updateAgent(agents, message)),
    renameAgent: async (message, signal) => known(services, await renameAgent(services, message, signal)),
    deleteAgent: ({ name }, signal) => deleteAgent(services, name, signal),
    listSkills: (message) => listSkills(services, message),
    reload: (_, signal) => services.reloads.all(signal),
    searchSessions: async (message, signal) =>
      (await import('./search-sessions.ts')).searchSessions(served, message, signal),
    searchMemory: async (message) => (await import('./memory.ts')).searchMemory(services, message),
    listMemory: async (message) => (await import('./memory.ts')).listMemory(services, message),
    memoryOp: async (message, signal) => (await import('./memory.ts')).memoryOp(services, message, signal),
    replaceMemory: async (message, signal) =>
      (await import('./memory.ts')).replaceMemory(services, message, signal),
    listActiveConversations: (message) => listActiveConversations(services, message),
    listConversations: async (filter) => {
      const agentNames = new Map((await agents.list()).agents.map(({ id, name }) => [id, name]))
      return listConversations(storage, await withAgentId(services, filter), agentNames)
    },
    getConversationHistory: ({ filePath }) => getConversationHistory(storage, filePath),
    async deleteConversation({ filePath }, signal) {
      await refuseWhileRunning(services, filePath)
      await deleteSession(place, filePath, signal)
      const { cache, undo } = services.node.paths
      for (const aside of [join(cache, 'output'), undo]) {
        await rm(join(aside, filePath), { recursive: true, force: true }) // what its tools put aside
      }
    },
    listMessages: (message) => listMessages(entries, message),
    getSession: (message) => findSession(services, message),
    newSession: (message, signal) => newSession(served, message, signal),
    forkSession: (message, signal) => forkSession(services, message, signal),
    activateSession: (message, signal) => activateSession(services, message, signal),
    setTitle: (message, signal) => setTitle(services, message, signal),
    generateTitle: (message, signal) => generateTitle(services, message, signal),
    listArchives: (message) => listArchives(services, message),
    compact: (message, signal) => compact(served, message, signal),
    subscribeEvents: (message, signal) => subscribeEvents(services, message, signal),
    subscribeEvent: (message, signal) => subscribeEvent(services, message, signal),
    unsubscribeEvent: ({ id }, signal) => unsubscribeEvent(services, id, signal),
    listSubscriptions: () => listSubscriptions(services),
    publishEvent: (message) => publishEvent(services, message),
    traceEvent: async (message) => traceEvent(services, message),
    undo: async (message, signal) => (await import('./undo.ts')).undo(services, message, signal),
  }
}

/** The agent, once hooks know of its change. */
async function known({ roster }: Services, agent: AgentInfo): Promise<AgentInfo> {
  await roster.changed(agent.name)
  return agent
}

/** Waiting for a turn without a word would look like hanging; the person can wait, or end it. */
async function refuseWhileRunning(services: Services, session: string): Promise<void> {
  const holder = await services.holderOf(turnOf(session))
  if (!holder) return
  const runs = ({ conversation }: Running) => conversation.id === session
  throw turnConflict(services, 'Cannot delete the conversation', { pid: holder.pid, runs })
}

async function withAgentId(services: Services, filter: ListConversationsMsg) {
  return filter.agent === '' ? filter : { ...filter, agentId: await agentIdOf(services, filter.agent) }
}
