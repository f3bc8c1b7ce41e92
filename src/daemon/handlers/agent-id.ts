import type { Services } from '../services.ts'

/**
 * The id that sessions of an agent bear, whatever it was called then; one of a deleted agent still has its last name.
 * Throws `missing` for a name that neither an agent nor a session has.
 */
export async function resolveAgentId({ agents, place }: Services, name: string): Promise<string> {
  try {
    return await agents.idOf(name)
  } catch (reason) {
    const left = (await place.storage.listSessions({})).find((session) => session.agent === name)
    if (!left) throw reason
    return left.agentId
  }
}
