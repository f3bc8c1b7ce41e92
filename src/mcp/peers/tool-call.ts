import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import type { ToolOutput } from '../../core/runtime/hook.ts'
import type { OnProgress } from '../connection/request-clock.ts'
import type { ElicitationHandler } from '../elicitation/types.ts'
import { LOGIN_COMMAND, toLoginCommand } from '../remote/login-hint.ts'
import type { RemoteTool } from '../tools/remote-tool.ts'
import { toToolOutput } from '../tools/results.ts'
import { listRequired } from '../tools/tool-schema.ts'
import type { Peer } from './peer.ts'

/** A tool call that was permitted. */
export interface ToolCallOptions {
  peer: Peer
  entry: McpEntry
  /** The name of the agent. */
  agent: string
  /** The remote name. */
  tool: string
  args: JsonObject
  /** The folder for output that is too long. */
  spillDir: string
  onProgress: OnProgress
  /** Answers the server's questions; without it they are declined. */
  elicit?: ElicitationHandler
  /** Keys of the call's `_meta`. */
  meta?: JsonObject | undefined
  /** Whether files of every kind are attached, as for a tool result. */
  attachesAll?: boolean
}

/**
 * Calls a tool and returns its output. A refusal by the server is output too. Throws `unavailable` when the
 * server is gone, `timeout`, `missing` when it no longer has the tool, or as the signal does.
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
    throw explain(reason, options)
  }
}

/** Returns the time limit of a call and the bytes of output that a model gets. */
export function getCallLimits({
  timeout_ms: timeoutMs = CALL_TIMEOUT_MS,
  output_limit: limitBytes = OUTPUT_LIMIT,
}: McpEntry) {
  return { timeoutMs, limitBytes }
}

/** Throws `invalid` when required arguments are missing, which the server would refuse. */
export function checkArguments(tool: RemoteTool, args: JsonObject): void {
  const { inputSchema: schema } = tool
  const missing = listRequired(schema).filter((name) => !Object.hasOwn(args, name))
  if (missing.length === 0) return
  const names = missing.map((name) => JSON.stringify(name)).join(', ')
  throw new CrabError(
    'invalid',
    `Cannot call ${tool.name}: ${names} ${missing.length > 1 ? 'are' : 'is'} missing`,
    suggestName(missing, args, schema),
  )
}

/** Suggests the argument that was probably misspelled. */
function suggestName(
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

/**
 * Converts a failure of a server to a sentence that names it. The hint to ping it is left out without an
 * agent, since an undeclared server cannot be pinged.
 */
export function toUnavailable(
  server: string,
  { kind, message, hint }: CrabError,
  agent: string | undefined,
): CrabError {
  const of = agent === DEFAULT_AGENT ? '' : ` -a ${agent}`
  const advice =
    completeHint(hint, server, agent) ??
    (agent === undefined ? undefined : `crabtalk mcp ping ${server}${of} tries it again`)
  const options = advice === undefined ? {} : { hint: advice }
  const isPermanent = kind === 'credentials' || kind === 'config' // retrying does not help
  return new CrabError(
    isPermanent ? kind : 'unavailable',
    `Cannot use the MCP server "${server}": ${message}`,
    options,
  )
}

/** Adds the server to the advice to log in; a server without an agent must be written first. */
function completeHint(
  hint: string | undefined,
  server: string,
  agent: string | undefined,
): string | undefined {
  if (hint !== LOGIN_COMMAND) return hint
  return agent === undefined
    ? `add it with --no-verify, then ${LOGIN_COMMAND} ${server}`
    : toLoginCommand(server, agent)
}

function explain(reason: CrabError, { entry, tool, agent }: ToolCallOptions): CrabError {
  const { kind, message } = reason
  const { name: server } = entry
  const hint = completeHint(reason.hint, server, agent)
  const what = `Cannot call ${tool} of the MCP server "${server}"`
  return new CrabError(kind, `${what}: ${message}`, { cause: reason, ...(hint && { hint }) })
}

const CALL_TIMEOUT_MS = 60_000
const OUTPUT_LIMIT = 256 * 1024
