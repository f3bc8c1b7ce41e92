import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { RefusedFile, readOwnedFile } from '../../core/hooks/read-owned-file.ts'
import { parseJsonServers } from './parse-json-servers.ts'
import { type ParsedServers, parseTomlServers } from './parse-toml-servers.ts'
import type { ServerScope } from './types.ts'

/** A file of servers that was read. */
export interface ServerFile extends ParsedServers {
  /** Absolute. */
  path: string
  scope: ServerScope
  /** The SHA-256 of its content, in hexadecimal digits; empty when it was not read. */
  digest: string
}

/**
 * Reads a file of servers; undefined when it does not exist. What is wrong with it is in its problems: it is
 * not read when another user can write it, or when it is a link out of the project (`linkRoot`).
 */
export async function readServerFile(
  path: string,
  { scope, uid, linkRoot }: { scope: ServerScope; uid: number; linkRoot: string | undefined },
): Promise<ServerFile | undefined> {
  try {
    const folder = await realpath(dirname(path)).catch(() => dirname(path))
    if (scope === 'project' && folder !== dirname(path)) throw new RefusedFile('its folder is a link')
    const access = { uid, linkRoot, linkTargets: LINK_TARGETS, closed: async () => NO_PATHS }
    const bytes = await readOwnedFile(join(folder, basename(path)), access, MAX_BYTES + 1)
    if (bytes === undefined) return undefined
    if (bytes.length > MAX_BYTES) throw new RefusedFile(`it is longer than ${MAX_BYTES} bytes`)
    const parsed = parse(new TextDecoder().decode(bytes), path, scope)
    const digest = createHash('sha256').update(bytes).digest('hex')
    const servers = parsed.servers.map((server) => ({ ...server, digest }))
    return { ...parsed, servers, path, scope, digest }
  } catch (reason) {
    if (!(reason instanceof RefusedFile)) throw reason
    const problem = { file: path, message: `${path} is not read: ${reason.message}` }
    return { path, scope, digest: '', servers: [], problems: [problem] }
  }
}

function parse(text: string, path: string, scope: ServerScope): ParsedServers {
  return path.endsWith('.json') ? parseJsonServers(text, path) : parseTomlServers(text, path, scope)
}

const MAX_BYTES = 262_144
const LINK_TARGETS = { extensions: new Set(['.toml', '.json']), name: 'TOML or JSON file' }
/** Nothing is closed: a project's files lie outside of the home, and the user's own is one of its files. */
const NO_PATHS = { paths: [], holds: () => false, hasNameIn: async () => false }
