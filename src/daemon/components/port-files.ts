import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMissingFile } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import { componentEntry } from '../../core/config/component.ts'
import { findNameClash } from '../../core/config/mcp-declaration.ts'
import { type McpEntry, mcpEntry } from '../../core/config/mcp-entry.ts'
import { checkValue } from '../../core/config/schema.ts'

/** The content of a port file: a server, or the reason why the file is invalid. */
export interface PortFileEntry {
  /** The file name without `.port`, with control characters replaced by `?`. */
  name: string
  /** Relative to the home. */
  file: string
  /** A value that changes whenever the file or its key is rewritten. */
  version: string
  server: { entry: McpEntry } | { problem: string }
}

/**
 * Reads the components announced in a folder (ADR 0117), sorted by name: `<name>.port` holds a port number,
 * and `<name>.key`, if present, a bearer token. The daemon's own port file is excluded. Never fails: a folder
 * that cannot be read has no components.
 */
export function readPortFiles(folder: string): PortFileEntry[] {
  const components: PortFileEntry[] = []
  for (const file of listPortFiles(folder)) {
    const read = readPortFile(folder, file)
    if (read === undefined) continue
    const servers = components.filter(({ server }) => 'entry' in server)
    const clash = 'entry' in read.server ? findNameClash(servers, read.name) : undefined
    const server = clash === undefined ? read.server : { problem: `its name is taken by ${clash}${SUFFIX}` }
    components.push({ ...read, server })
  }
  return components
}

function listPortFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(SUFFIX) && !file.startsWith('.') && file !== OWN_PORT_FILE)
      .toSorted()
  } catch {
    return [] // the code that needs the folder reports what is wrong with it
  }
}

/** Returns undefined for a file that has been removed meanwhile. */
function readPortFile(folder: string, file: string): PortFileEntry | undefined {
  const stem = basename(file, SUFFIX)
  const port = readSmall(join(folder, file))
  if (port === undefined) return undefined
  const key = readSmall(join(folder, `${stem}.key`))
  const name = stem.replace(/\p{C}/gu, '?')
  const version = `${port.version} ${key?.version ?? ''}`
  return { name, file: `run/${name}${SUFFIX}`, version, server: toServer(stem, port, key) }
}

function toServer(name: string, port: SmallFile, key: SmallFile | undefined): PortFileEntry['server'] {
  if ('problem' in port) return { problem: port.problem }
  if (key && 'problem' in key) return { problem: `its key: ${key.problem}` }
  const number = Number(/^(\d{1,5})\r?\n?$/.exec(port.text)?.[1] ?? 0)
  if (number < 1 || number > 65_535) return { problem: NO_PORT }
  const token = key?.text.trim()
  const outcome = checkValue(mcpEntry, componentEntry({ name, port: number, ...(token && { key: token }) }))
  if (outcome.ok) return { entry: outcome.value }
  return { problem: outcome.problems.map(({ message }) => message).join('; ') }
}

type SmallFile = { version: string } & ({ text: string } | { problem: string })

/**
 * Reads a file of one line, without opening anything that blocks or fills the memory. Returns undefined when
 * it does not exist.
 */
function readSmall(path: string): SmallFile | undefined {
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
/** The port file of the daemon itself, which is not an MCP server. */
const OWN_PORT_FILE = 'crabtalk.port'
const NO_PORT = 'it does not hold a port number'
const MAX_BYTES = 8 * 1024
