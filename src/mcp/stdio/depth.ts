/**
 * The environment variable with the number of agents that have called one another through `crabtalk mcp
 * serve` before this process or turn.
 */
export const DEPTH_VARIABLE = 'CRABTALK_MCP_DEPTH'

/** The maximum depth of agents that call one another through served agents. */
export const MAX_AGENT_DEPTH = 4

/** Reads the depth from an environment; 0 when it is missing or invalid. */
export function readDepth(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[DEPTH_VARIABLE] ?? ''
  return /^\d{1,4}$/.test(text) ? Number(text) : 0
}

/**
 * Returns the `_meta` entry that passes the depth of the calling turn to a server; undefined when the depth
 * is 0.
 */
export function toDepthMeta(
  env: Readonly<Record<string, string | undefined>>,
): { [DEPTH_META]: number } | undefined {
  const depth = readDepth(env)
  return depth === 0 ? undefined : { [DEPTH_META]: depth }
}

/** Reads the depth from the `_meta` of a call; 0 when it is missing or invalid. */
export function readMetaDepth(meta: Readonly<Record<string, unknown>> | undefined): number {
  const depth = meta?.[DEPTH_META]
  return typeof depth === 'number' && depth > 0 ? depth : 0
}

/** The key in the `_meta` of a call. */
const DEPTH_META = 'crabtalk/depth'
