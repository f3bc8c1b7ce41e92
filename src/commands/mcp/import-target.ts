import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { McpPeerState } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { Attached } from '../../daemon/attach.ts'
import { readServerFile } from '../../edge/entries/read-server-file.ts'
import { addEntries, locateScopedFile } from './scoped.ts'

/** The agent or the mcp.toml that gets imported servers, as it was when it was read. */
export interface ImportTarget {
  /** The agent, or the path of the file. */
  name: string
  /** Its entries, without secrets. */
  existing: readonly McpEntry[]
  /** Whether it fills in `${NAME}` in arguments and addresses. */
  isExpanded: boolean
  /** Adds all entries in one change. */
  add(entries: readonly McpEntry[], signal: AbortSignal): Promise<void>
}

/** Reads an agent. Its addition fails when the agent has changed since. */
export async function readAgentTarget(
  { dispatch }: Attached,
  name: string,
  signal: AbortSignal,
): Promise<ImportTarget> {
  const info = await request(dispatch, 'getAgent', { name }, signal)
  const view = await request(dispatch, 'mcpView', { agent: info.name }, signal)
  const { mcps = [] }: { mcps?: McpEntry[] } = JSON.parse(info.config)
  const { servers = [], generation } = view.agents[0] ?? {}
  const invalid = servers.find(
    ({ name, state, source }) =>
      state === McpPeerState.INVALID &&
      source.startsWith('agents/') &&
      mcps.every((one) => one.name !== name),
  )
  // replacing the entries would remove one that could not be read
  if (invalid)
    throw new CrabError(
      'config',
      `Cannot import into ${info.name}: its server "${invalid.name}" is invalid`,
      { hint: 'correct or remove it first: crabtalk config check names the line' },
    )
  const add = async (entries: readonly McpEntry[], signal: AbortSignal) => {
    const message = {
      agent: info.name,
      configs: [...mcps, ...entries].map((entry) => JSON.stringify(entry)),
      ...(generation !== undefined && { generation }),
    }
    await request(dispatch, 'replaceMcps', message, signal)
  }
  return { name: info.name, existing: mcps, isExpanded: false, add }
}

/** Reads the mcp.toml of --scope; it may not exist yet. Throws `config` when it cannot be read. */
export async function readScopedTarget(options: ParsedOptions, host: Host): Promise<ImportTarget> {
  const file = await locateScopedFile(options, host)
  const { scope, path, projectDir } = file
  const read = await readServerFile(path, { scope, uid: host.uid, linkRoot: projectDir })
  const [problem] = read?.problems ?? []
  if (problem) throw new CrabError('config', `Cannot import into ${path}: ${problem.message}`)
  const existing = (read?.servers ?? []).map(({ name, table }) => ({ ...table, name }) as McpEntry)
  const add = (entries: readonly McpEntry[], signal: AbortSignal) =>
    addEntries({ host, file, entries: entries.map((entry) => ({ ...entry })) }, signal)
  return { name: path, existing, isExpanded: true, add }
}
