import { CrabError } from '../../core/base/errors.ts'
import type { AgentStore } from '../../core/config/agents.ts'
import type { SessionSummary } from '../../core/storage/types.ts'

/**
 * Resolves the current name of the agent of a stored session, by which its next turn is requested.
 *
 * Throws `missing` when that agent was deleted, even if another agent has its name now.
 */
export async function resolveSessionAgent(
  agents: Pick<AgentStore, 'idOf' | 'list'>,
  { id, agent, agentId }: Pick<SessionSummary, 'id' | 'agent' | 'agentId'>,
): Promise<string> {
  const namesake = await findAgentId(agents, agent)
  if (namesake === agentId) return agent
  const renamed = (await agents.list()).agents.find((one) => one.id === agentId)
  if (renamed) return renamed.name
  const other = namesake === undefined ? '' : `, and today's "${agent}" is a different agent`
  throw new CrabError(
    'missing',
    `Cannot continue the conversation: its agent "${agent}" was deleted${other}`,
    {
      hint: `crabtalk conversation show ${id} shows its messages`,
    },
  )
}

async function findAgentId(agents: Pick<AgentStore, 'idOf'>, name: string): Promise<string | undefined> {
  try {
    return await agents.idOf(name)
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'missing') return undefined
    throw reason
  }
}
