import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Channel } from '../../core/policy/trust.ts'
import type { AgentInfo, ListConversationsMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { Handlers } from '../../core/protocol/dispatch.ts'
import { EntryReader } from '../../core/runtime/entry-reader.ts'
import { turnLeaseName } from '../../core/runtime/leased-conversation.ts'
import type { RunningWork } from '../../core/runtime/running-turns.ts'
import { deleteSession } from '../../core/runtime/sessions.ts'
import type { Services } from '../services.ts'
import { resolveAgentId } from './agent-id.ts'
import { createAgent, deleteAgent, getAgent, listAgents, renameAgent, updateAgent } from './agents.ts'
import { handleListAsks, replyToAsk } from './asks.ts'
import { attachTo } from './attach.ts'
import { guarded } from './callers.ts'
import { handleCompact } from './compact.ts'
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
import { mcpTrace, subscribeMcpEvents } from './mcp-events.ts'
import { handleListModels, handleListSkills } from './models-skills.ts'
import type { RequestContext } from './request-context.ts'
import { listActiveConversations, readActivity, waitRun } from './runs.ts'
import {
  findSession,
  generateTitle,
  handleActivateSession,
  handleForkSession,
  handleNewSession,
  handleSetTitle,
  listArchives,
  setSessionCwd,
  setSessionModel,
} from './sessions.ts'
import { handleKill, steerSession } from './steering.ts'
import { turnConflict } from './turn-conflict.ts'
import { handleSend, stream } from './turns.ts'

/**
 * Returns the handlers of all operations for messages that arrive on `channel`, each restricted to its
 * callers.
 */
export function handlers(
  services: Services,
  channel: Channel,
  host: HostHandlers = {},
  client?: RequestContext['client'],
): Handlers {
  return guarded({ ...operations({ services, channel, client }), ...host }, services, channel)
}

/** The operations that only a host that embeds the daemon can serve. */
export type HostHandlers = Pick<Handlers, 'extension'>

function operations(served: RequestContext): Handlers {
  const { services, channel } = served
  const { agents, stores } = services
  const { storage } = stores
  const entries = new EntryReader(storage)
  const listBefore = channel === 'process' ? undefined : {} // callers in this process may change what they get
  return {
    ping: async () => {},
    auth: async () => {},
    hello: (message) => hello(services, channel, message),
    getStats: (_, signal) => getStats(services, signal),
    shutdown: async () => shutdown(services),
    send: (message, signal) => handleSend(served, message, signal),
    stream: (message, signal) => stream(served, message, signal),
    attach: (message, signal) => attachTo(served, message, signal),
    waitRun: (message, signal) => waitRun(services, message, signal),
    steerSession: (message) => steerSession(served, message),
    kill: (message) => handleKill(served, message),
    replyToAsk: async (message) => replyToAsk(served, message),
    listAsks: async (message) => handleListAsks(served, message),
    listMcps: async ({ agent }, signal) => (await import('./mcp.ts')).listMcps(services, agent, signal),
    upsertMcp: async (message, signal) => (await import('./mcp.ts')).upsertMcp(services, message, signal),
    deleteMcp: async (message) => (await import('./mcp.ts')).deleteMcp(services, message),
    subscribeMcpEvents: (_, signal) => subscribeMcpEvents(services, signal),
    mcpTrace: (message, signal) => mcpTrace(services, message, signal),
    replaceMcps: async (message, signal) => (await import('./mcp.ts')).replaceMcps(services, message, signal),
    mcpView: async (message, signal) => (await import('./mcp-view.ts')).mcpView(services, message, signal),
    mcpAction: async (message, signal) =>
      (await import('./mcp-action.ts')).mcpAction(services, message, signal),
    policyExplain: async (message, signal) =>
      (await import('./policy.ts')).policyExplain(served, message, signal),
    listRules: async (message) => (await import('./rules.ts')).listRules(services, message),
    changeRule: async (message, signal) => (await import('./rules.ts')).changeRule(services, message, signal),
    listModels: (message, signal) => handleListModels(services, message, signal),
    setActiveModel: async (message, signal) =>
      (await import('./active-model.ts')).setActiveModel(services, message, signal),
    listAgents: () => listAgents(agents),
    getAgent: ({ name }) => getAgent(agents, name),
    createAgent: async (message) => syncAgent(services, await createAgent(agents, message)),
    updateAgent: async (message) => syncAgent(services, await updateAgent(agents, message)),
    renameAgent: async (message, signal) => syncAgent(services, await renameAgent(services, message, signal)),
    deleteAgent: ({ name }, signal) => deleteAgent(services, name, signal),
    listSkills: (message) => handleListSkills(services, message),
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
      const more = { agentNames, activity: readActivity(services) }
      return listConversations(storage, await withAgentId(services, filter), more, listBefore)
    },
    getConversationHistory: ({ filePath }) => getConversationHistory(storage, filePath),
    async deleteConversation({ filePath }, signal) {
      await refuseWhileRunning(services, filePath)
      await deleteSession(stores, filePath, signal)
      const { cache, undo } = services.node.paths
      for (const aside of [join(cache, 'output'), undo]) {
        await rm(join(aside, filePath), { recursive: true, force: true }) // spilled output and undo files of its tools
      }
    },
    listMessages: (message) => listMessages(entries, message),
    getSession: (message) => findSession(services, message),
    newSession: (message, signal) => handleNewSession(served, message, signal),
    forkSession: (message, signal) => handleForkSession(services, message, signal),
    activateSession: (message, signal) => handleActivateSession(services, message, signal),
    setTitle: (message, signal) => handleSetTitle(services, message, signal),
    setSessionCwd: (message, signal) => setSessionCwd(services, message, signal),
    setSessionModel: (message, signal) => setSessionModel(services, message, signal),
    generateTitle: (message, signal) => generateTitle(services, message, signal),
    listArchives: (message) => listArchives(services, message),
    usageReport: async (message, signal) =>
      (await import('./usage.ts')).reportUsage(services, message, signal),
    compact: (message, signal) => handleCompact(served, message, signal),
    subscribeEvents: (message, signal) => subscribeEvents(services, message, signal),
    subscribeEvent: (message, signal) => subscribeEvent(services, message, signal),
    unsubscribeEvent: ({ id }, signal) => unsubscribeEvent(services, id, signal),
    listSubscriptions: () => listSubscriptions(services),
    publishEvent: (message) => publishEvent(services, message),
    traceEvent: async (message) => traceEvent(services, message),
    contextView: async (message, signal) =>
      (await import('./context-view.ts')).handleContextView(services, message, signal),
    sessionDiff: async (message, signal) =>
      (await import('./rewind.ts')).handleSessionDiff(services, message, signal),
    rewind: async (message, signal) => (await import('./rewind.ts')).handleRewind(services, message, signal),
    undoCompaction: async (message, signal) =>
      (await import('./rewind.ts')).handleUndoCompaction(services, message, signal),
    undo: async (message, signal) => (await import('./undo.ts')).handleUndo(services, message, signal),
  }
}

/** Resolves with the agent after hooks were notified of its change. */
async function syncAgent({ agentSync }: Pick<Services, 'agentSync'>, agent: AgentInfo): Promise<AgentInfo> {
  await agentSync.changed(agent.name)
  return agent
}

/**
 * Throws `conflict` while a turn runs: waiting for it silently would look like a hang, and the user can wait
 * or end it.
 */
async function refuseWhileRunning(
  services: Pick<Services, 'node' | 'running' | 'findHolder'>,
  session: string,
): Promise<void> {
  const holder = await services.findHolder(turnLeaseName(session))
  if (!holder) return
  const runs = ({ conversation }: RunningWork) => conversation.id === session
  throw turnConflict(services, 'Cannot delete the conversation', { pid: holder.pid, runs })
}

async function withAgentId(services: Pick<Services, 'agents' | 'stores'>, filter: ListConversationsMsg) {
  return filter.agent === '' ? filter : { ...filter, agentId: await resolveAgentId(services, filter.agent) }
}
