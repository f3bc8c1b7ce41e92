import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { findTaint } from './find-taint.ts'

/** A call that a model wants to make. */
export interface TaintedCall {
  entry: McpEntry
  /** The remote name. */
  tool: string
  args: JsonObject
  /** The input schema of the tool; undefined when the tool is no longer known. */
  schema: JsonObject | undefined
  /** Notifies the turn's client. */
  notice(message: string): void
}

/**
 * Keeps secrets from a server: throws `denied` when the arguments of a call contain one, naming only its
 * location; with `taint_policy = "warn"` it sends a notice instead. With `off`, or `taint_scanning = false`,
 * nothing is scanned.
 */
export async function refuseTaint(call: TaintedCall, signal: AbortSignal): Promise<void> {
  const { entry, tool, args, schema, notice } = call
  const { taint_scanning: isScanned = true, taint_policy: policy = 'block' } = entry
  if (!isScanned || policy === 'off') return
  const taint = await findTaint(args, schema, signal)
  if (!taint) return
  const where = taint.path === '' ? 'the arguments' : `the argument ${taint.path}`
  const found = `${where} ${taint.why}`
  if (policy === 'warn') {
    notice(`The call of ${tool} of the MCP server "${entry.name}" is sent although ${found}`)
    return
  }
  throw new CrabError(
    'denied',
    `Cannot call ${tool} of the MCP server "${entry.name}": ${found}, so nothing was sent`,
    {
      hint: `leave it out; the user can allow such calls with taint_policy = "warn" in the entry of "${entry.name}"`,
    },
  )
}
