import { parseObject } from '../../core/base/json.ts'
import type { AgentInfo, ModelList } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

/** The model and effort that apply when nothing is chosen for the conversation. */
export interface UsualModel {
  model: string
  effort: string
  /** Whether the model is the agent's own. */
  isOwn: boolean
}

/** Reads the model and effort of an agent, or else the defaults. */
export async function readUsual(dispatch: Dispatch, name: string, signal: AbortSignal): Promise<UsualModel> {
  const [agent, list] = await Promise.all([
    findAgent(dispatch, name, signal),
    request(dispatch, 'listModels', {}, signal),
  ])
  return toUsual(agent, list)
}

/** Returns the model and effort of an agent, or else the defaults of the list. */
export function toUsual(agent: AgentInfo | undefined, { models, effort }: ModelList): UsualModel {
  const own = readAgentSetting(agent, 'effort')
  const active = models.find((one) => one.active)?.name ?? ''
  return {
    model: agent?.model || active,
    effort: typeof own === 'string' ? own : effort,
    isOwn: !!agent?.model,
  }
}

/** Returns the agent; undefined for the default agent before it has a file. */
export async function findAgent(
  dispatch: Dispatch,
  name: string,
  signal: AbortSignal,
): Promise<AgentInfo | undefined> {
  const { agents } = await request(dispatch, 'listAgents', {}, signal)
  return agents.find((one) => one.name === name)
}

/** Returns a setting of the agent's file; undefined when it has none. */
export function readAgentSetting(agent: AgentInfo | undefined, key: string): unknown {
  return parseObject(agent?.config ?? '')?.[key]
}
