/** How many agents have called one another, through servers of agents, before this process or this turn. */
export const DEPTH_VARIABLE = 'CRABTALK_MCP_DEPTH'

/** Agents that call one another, through servers of agents, at most. */
export const MAX_AGENT_DEPTH = 4

/** The depth that an environment says; 0 for none, and for what is no depth. */
export function readDepth(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[DEPTH_VARIABLE] ?? ''
  return /^\d{1,4}$/.test(text) ? Number(text) : 0
}

/** What a call tells its server of the depth of the turn that makes it; nothing in a turn that no server of agents began. */
export function toDepthMeta(
  env: Readonly<Record<string, string | undefined>>,
): { [DEPTH_META]: number } | undefined {
  const depth = readDepth(env)
  return depth === 0 ? undefined : { [DEPTH_META]: depth }
}

/** The depth that a call says; 0 when it says none. */
export function readMetaDepth(meta: Readonly<Record<string, unknown>> | undefined): number {
  const depth = meta?.[DEPTH_META]
  return typeof depth === 'number' && depth > 0 ? depth : 0
}

/** Key of the `_meta` of a call. */
const DEPTH_META = 'crabtalk/depth'
