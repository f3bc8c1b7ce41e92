import type { Host } from '../../cli/host.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { findUnfilledValues, toUnfilledText } from '../../core/config/unfilled-values.ts'
import { findClearTextCredentials } from '../../mcp/entry-facts.ts'

/** Describes the placeholders that are left in the entry of a server, with the command that fills them in. */
function unfilledTexts({ agent, entry }: { agent: string; entry: McpEntry }) {
  return findUnfilledValues(entry).map((one) => toUnfilledText(entry.name, agent, one))
}

/** Lists what is wrong with an entry although its server may start: placeholders, and tokens sent unencrypted. */
export function listEntryWarnings({ agent, entry }: { agent: string; entry: McpEntry }) {
  const host = findClearTextCredentials(entry)
  const message = `the credentials of ${entry.name} are sent unencrypted to ${host}, where others can read them`
  return [
    ...unfilledTexts({ agent, entry }),
    ...(host === undefined ? [] : [{ message, hint: 'use an address with https://' }]),
  ]
}

/** Writes a warning and its hint to standard error. */
export function printWarning(host: Host, message: string, hint: string): void {
  host.stderr.write(`crabtalk: warning: ${sanitize(message)}\n  hint: ${sanitize(hint)}\n`)
}
