import type { Host } from '../../cli/host.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { findUnfilledValues, toUnfilledText } from '../../core/config/unfilled-values.ts'

/** Describes the placeholders that are left in the entry of a server, with the command that fills them in. */
export function unfilledTexts({ agent, entry }: { agent: string; entry: McpEntry }) {
  return findUnfilledValues(entry).map((one) => toUnfilledText(entry.name, agent, one))
}

/** Writes a warning and its hint to standard error. */
export function printWarning(host: Host, message: string, hint: string): void {
  host.stderr.write(`crabtalk: warning: ${sanitize(message)}\n  hint: ${sanitize(hint)}\n`)
}
