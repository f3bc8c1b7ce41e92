import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ToolOutput } from '../../core/runtime/hook.ts'
import type { OnProgress } from '../connection/request-clock.ts'
import type { ElicitationHandler } from '../elicitation/types.ts'
import type { Peer } from '../peers/peer.ts'
import type { RemoteTool } from './remote-tool.ts'
import { toToolOutput } from './results.ts'
import { listRequired } from './tool-schema.ts'

/** A call of a tool that its caller may make. */
export interface ToolCallOptions {
  peer: Peer
  entry: McpEntry
  /** Remote name. */
  tool: string
  args: JsonObject
  /** Where a long answer goes. */
  spillDir: string
  onProgress: OnProgress
  /** Answers what the server wants to know; without it that is declined. */
  elicit?: ElicitationHandler
  /** Keys of the call's `_meta`. */
  meta?: JsonObject | undefined
  /** As for a result. */
  attachesAll?: boolean
}

/**
 * Calls a tool and gives its answer. What the server says against the call is an answer too; fails with `unavailable`
 * when it is not there, `timeout`, `missing` when it has no such tool any more, or as the signal says.
 */
export async function callTool(options: ToolCallOptions, signal: AbortSignal): Promise<ToolOutput> {
  const { peer, entry, tool, args, spillDir: folder, onProgress, elicit, meta, attachesAll = false } = options
  const { timeoutMs, limitBytes } = getCallLimits(entry)
  try {
    const result = await peer.call({ name: tool, args, timeoutMs, onProgress, elicit, meta }, signal)
    const spill = { server: entry.name, tool, folder }
    return await toToolOutput(result, { limitBytes, spill, attachesAll })
  } catch (reason) {
    if (signal.aborted || !(reason instanceof CrabError)) throw reason
    if (reason.kind === 'tool')
      return { output: `${entry.name} refused the call: ${reason.message}`, isError: true }
    throw explain(reason, entry.name, tool)
  }
}

/** How long a server may take to answer, and how much of that a model is shown. */
export function getCallLimits({
  timeout_ms: timeoutMs = CALL_TIMEOUT_MS,
  output_limit: limitBytes = OUTPUT_LIMIT,
}: McpEntry) {
  return { timeoutMs, limitBytes }
}

/** Throws `invalid` for arguments that a server would refuse: those it must have and does not get. */
export function checkArguments(tool: RemoteTool, args: JsonObject): void {
  const { inputSchema: schema } = tool
  const missing = listRequired(schema).filter((name) => !Object.hasOwn(args, name))
  if (missing.length === 0) return
  const names = missing.map((name) => JSON.stringify(name)).join(', ')
  throw new CrabError(
    'invalid',
    `Cannot call ${tool.name}: ${names} ${missing.length > 1 ? 'are' : 'is'} missing`,
    hintFor(missing, args, schema),
  )
}

/** What was most likely misspelt. */
function hintFor(
  missing: readonly string[],
  args: JsonObject,
  { properties }: JsonObject,
): { hint?: string } {
  const known = isObject(properties) ? properties : {}
  for (const name of Object.keys(args).filter((one) => !Object.hasOwn(known, one))) {
    const hint = didYouMean(name, missing)
    if (hint !== undefined) return { hint: `for "${name}" ${hint}` }
  }
  return {}
}

/** A failure of a server, as a sentence that names it. What no agent declares under that name yet cannot be pinged. */
export function toUnavailable(
  server: string,
  { kind, message, hint }: CrabError,
  agent: string | undefined,
): CrabError {
  const of = agent === DEFAULT_AGENT ? '' : ` -a ${agent}`
  const advice = hint ?? (agent === undefined ? undefined : `crabtalk mcp ping ${server}${of} tries it again`)
  const options = advice === undefined ? {} : { hint: advice }
  const isLasting = kind === 'credentials' || kind === 'config' // trying again does not help
  return new CrabError(
    isLasting ? kind : 'unavailable',
    `Cannot use the MCP server "${server}": ${message}`,
    options,
  )
}

function explain(reason: CrabError, server: string, tool: string): CrabError {
  const { kind, message, hint } = reason
  const what = `Cannot call ${tool} of the MCP server "${server}"`
  return new CrabError(kind, `${what}: ${message}`, { cause: reason, ...(hint && { hint }) })
}

const CALL_TIMEOUT_MS = 60_000
const OUTPUT_LIMIT = 256 * 1024
