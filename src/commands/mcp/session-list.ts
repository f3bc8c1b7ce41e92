import type { Host } from '../../cli/host.ts'
import { printTable } from '../../cli/print.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { redactWords } from '../../core/base/secrets/redact.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { hasServerFiles } from '../../edge/entries/has-server-files.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { viewFileServers } from './file-servers.ts'

/** A server that a file gives to sessions in this directory, as `mcp list` shows it. */
export interface SessionServerEntry {
  name: string
  state: string
  /** The reason why it is not used; empty when it is. */
  reason: string
  hint: string | undefined
  /** Undefined when they were never listed. */
  tools: number | undefined
  /** Absolute. */
  file: string
  /** The words of the command line, or the address, with placeholders and without secrets. */
  words: readonly string[]
  isRemote: boolean
}

/** Reads the servers of files for this directory, and their problems; `own` are those of the agent, which come first. */
export async function readSessionServers(
  host: Host,
  { dispatch, agent, own }: { dispatch: Dispatch; agent: string; own: readonly { name: string }[] },
  signal: AbortSignal,
): Promise<{ entries: readonly SessionServerEntry[]; problems: readonly string[] }> {
  const place = toSessionPlace(host)
  if (!hasServerFiles(place)) return { entries: [], problems: [] }
  const { findSessionServers } = await import('../../edge/entries/session-servers.ts')
  const { servers, problems } = await findSessionServers(place, openResolver(host))
  const views = await viewFileServers(dispatch, { agent, servers }, signal)
  const entries = views.map(({ found, state, reason, tools }): SessionServerEntry => {
    const { server, hint } = found
    const { command, args = [], url } = server.table
    const words = url === undefined ? [command, ...(Array.isArray(args) ? args : [args])] : [url]
    const isTaken = found.entry !== undefined && findNameClash(own, server.name) !== undefined
    return {
      name: server.name,
      state: isTaken ? 'unused' : state,
      reason: isTaken ? 'the agent has one of that name' : reason,
      hint: found.entry ? undefined : hint,
      tools,
      file: server.file,
      words: redactWords(words.filter((word) => word !== undefined).map(String)),
      isRemote: url !== undefined,
    }
  })
  return { entries, problems: problems.map(({ message }) => message) }
}

/** Prints the table of these servers, and why some are not used. */
export async function printSessionServers(host: Host, entries: readonly SessionServerEntry[]): Promise<void> {
  const rows = entries.map(({ name, state, file, words }) => [name, state, file, words.join(' ')])
  await printTable(host, ['NAME', 'STATE', 'FILE', 'COMMAND'], rows)
  for (const { name, reason, hint } of entries) {
    if (reason === '') continue
    host.stderr.write(sanitize(`crabtalk: ${name}: ${reason}${hint === undefined ? '' : ` (${hint})`}\n`))
  }
}

/** Converts such a server to its `--json` form, which is that of an agent's server. */
export function toJsonSessionServer(server: SessionServerEntry) {
  const { name, state, reason, file, words, isRemote, tools } = server
  const [first = null, ...args] = words
  return {
    agent: null,
    name,
    state,
    error: reason || null,
    tools: tools ?? null,
    transport: isRemote ? 'http' : 'stdio',
    command: isRemote ? null : first,
    args: isRemote ? [] : args,
    url: isRemote ? first : null,
    source: file,
  }
}
