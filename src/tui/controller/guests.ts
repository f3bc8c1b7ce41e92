import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { Completion } from '../text/prompt-state.ts'
import { cleanLine } from '../view/clean.ts'

/** Returns the agent that a message such as `@reviewer look at this` is for; undefined for the conversation's own. */
export async function findGuest(
  text: string,
  { dispatch, agent }: { dispatch: ChatPorts['dispatch']; agent: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const name = /^@([^\s@/"]+)\s+\S/.exec(text)?.[1]
  if (name === undefined || name === agent) return undefined
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  return agents.some((one) => one.name === name) ? name : undefined
}

/** Returns the other agents whose name starts with the query, for the menu of `@`. Never rejects. */
export async function findGuests(
  query: string,
  { dispatch, agent }: { dispatch: ChatPorts['dispatch']; agent: string },
  signal: AbortSignal,
): Promise<Completion[]> {
  const { agents } = await request(dispatch, 'listAgents', {}, signal).catch(() => ({ agents: [] }))
  return agents
    .filter(({ name }) => name !== agent && name.startsWith(query))
    .map(({ name, description }) => ({
      value: name,
      detail: cleanLine(description === '' ? 'agent' : `agent · ${description}`),
    }))
}
