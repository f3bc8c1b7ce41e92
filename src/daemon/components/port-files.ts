import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMissingFile } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { componentEntry } from '../../core/config/component.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import { type McpEntry, mcpEntry } from '../../core/config/mcp-entry.ts'
import { checkValue } from '../../core/config/schema.ts'

/** What a port file says: a server, or why it is none. */
export interface PortFileEntry {
  /** That of the file. */
  name: string
  /** Relative to the home. */
  file: string
  /** Another one when the file was written again. */
  version: string
  server: { entry: McpEntry } | { problem: string }
}

/**
 * The components that announce themselves in a folder (RFC 0043), by name: `<name>.port` holds a port number, and
 * `<name>.key`, if there is one, a bearer token. The daemon's own port file is none of them. Never fails: a folder that
 * cannot be read has none.
 */
export function readPortFiles(folder: string): PortFileEntry[] {
  const components: PortFileEntry[] = []
  for (const file of filesIn(folder)) {
    const read = readPortFile(folder, file)
    if (read === undefined) continue
    const servers = components.filter(({ server }) => 'entry' in server)
    const taken = 'entry' in read.server ? findNameClash(servers, read.name) : undefined
    const server = taken === undefined ? read.server : { problem: `its name is taken by ${taken}${SUFFIX}` }
    components.push({ ...read, server })
  }
  return components
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.') && file !== OWN)
      .toSorted()
  } catch {
    return [] // whoever needs the folder says what is wrong with it
  }
}

/** Undefined for one that went away meanwhile. */
function readPortFile(folder: string, file: string): PortFileEntry | undefined {
  const stem = basename(file, SUFFIX)
  const port = readSmall(join(folder, file))
  if (port === undefined) return undefined
  const key = readSmall(join(folder, `${stem}.key`))
  const name = stem.replace(/\p{C}/gu, '?')
  const version = `${port.version} ${key?.version ?? ''}`
  return { name, file: `run/${name}${SUFFIX}`, version, server: toServer(stem, port, key) }
}

function toServer(name: string, port: Small, key: Small | undefined): PortFileEntry['server'] {
  if ('problem' in port) return { problem: port.problem }
  if (key && 'problem' in key) return { problem: `its key: ${key.problem}` }
  const number = Number(/^(\d{1,5})\r?\n?$/.exec(port.text)?.[1] ?? 0)
  if (number < 1 || number > 65_535) return { problem: NO_PORT }
  const token = key?.text.trim()
  const outcome = checkValue(mcpEntry, componentEntry({ name, port: number, ...(token && { key: token }) }))
  if (outcome.ok) return { entry: outcome.value }
  return { problem: outcome.problems.map(({ message }) => message).join('; ') }
}

type Small = { version: string } & ({ text: string } | { problem: string })

/** A file of one line; opens nothing that blocks or fills the memory. Undefined when there is none. */
function readSmall(path: string): Small | undefined {
  try {
    const found = statSync(path)
    const version = `${found.ino}:${found.mtimeMs}:${found.size}`
    if (!found.isFile() || found.size > MAX_BYTES) return { version, problem: NO_PORT }
    return { version, text: readFileSync(path, 'utf8') }
  } catch (reason) {
    return isMissingFile(reason)
      ? undefined
      : { version: '', problem: `it cannot be read (${getErrorCode(reason)})` }
  }
}

const SUFFIX = '.port'
/** Where this daemon itself listens, not as an MCP server. */
const OWN = 'crabtalk.port'
const NO_PORT = 'it does not hold a port number'
const MAX_BYTES = 8 * 1024
