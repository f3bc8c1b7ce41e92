import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type AgentConfig, DEFAULT_AGENT } from '../../core/config/agent-schema.ts'
import { type AgentStore, redact } from '../../core/config/agents.ts'
import type {
  AgentInfo,
  AgentList,
  CreateAgentMsg,
  RenameAgentMsg,
  UpdateAgentMsg,
} from '../../core/protocol/crabtalk.generated.ts'

/** `list_agents`: by name. */
export async function listAgents(agents: AgentStore): Promise<AgentList> {
  return { agents: (await agents.list()).map(toAgentInfo) }
}
