import type { ListConversationsMsg } from '../../core/protocol/crabtalk.generated.ts'
import type { Handlers } from '../../core/protocol/dispatch.ts'
import { deleteSession, forkSession } from '../../core/runtime/sessions.ts'
import type { Services } from '../compose.ts'
import { createAgent, deleteAgent, getAgent, listAgents, renameAgent, updateAgent } from './agents.ts'
import { getConversationHistory, getSession, listConversations, listMessages } from './conversations.ts'
import { listModels } from './models.ts'
import { send, stream } from './turns.ts'

/** The operations of the protocol over one node's services: conversion only, no policy. */
export function handlers(services: Services): Partial<Handlers> {
  const { agents, place } = services
  const { storage } = place
  return {
    ping: async () => {},
    send: (message, signal) => send(services, message, signal),
    stream: (message, signal) => stream(services, message, signal),
    listModels: async (_, signal) => listModels(await (await services.models(signal)).list()),
    listAgents: () => listAgents(agents),
    getAgent: ({ name }) => getAgent(agents, name),
    createAgent: (message) => createAgent(agents, message),
    updateAgent: (message) => updateAgent(agents, message),
    renameAgent: (message) => renameAgent(agents, message),
    deleteAgent: ({ name }) => deleteAgent(services, name),
    listConversations: async (filter) =>
      listConversations(storage, await withAgentId(services, filter), services.now()),
    getConversationHistory: ({ filePath }) => getConversationHistory(storage, filePath),
    deleteConversation: ({ filePath }, signal) => deleteSession(place, filePath, signal),
    listMessages: (message) => listMessages(storage, message),
    getSession: ({ session }) => getSession(storage, session),
    async forkSession({ session, upto }, signal) {
      const now = new Date(services.now())
      return getSession(storage, await forkSession(place, { id: session, upto, now }, signal))
    },
  }
}

/** A filter by an agent's name as one by its id: a session belongs to the id, whatever the agent was called. */
async function withAgentId({ agents }: Services, filter: ListConversationsMsg) {
  return filter.agent === '' ? filter : { ...filter, agentId: await agents.idOf(filter.agent) }
}
