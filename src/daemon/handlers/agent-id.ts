import type { Services } from '../services.ts'

/**
 * Resolves the id that the sessions of an agent carry, even if it had another name then. A deleted agent is
 * found by its last name. Throws `missing` when neither an agent nor a session has that name.
 */
export async function resolveAgentId(
  { agents, stores }: Pick<Services, 'agents' | 'stores'>,
  name: string,
): Promise<string> {
  try {
    return await agents.idOf(name)
  } catch (reason) {
    const left = (await stores.storage.listSessions({})).find((session) => session.agent === name)
    if (!left) throw reason
    return left.agentId
  }
}
