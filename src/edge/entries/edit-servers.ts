import { createHash } from 'node:crypto'
import { chmod, mkdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { isTable } from '../../core/config/schema.ts'
import { parseToml } from '../../core/config/toml.ts'
import { editToml } from '../../core/config/toml-edit.ts'
import { configError } from '../../core/config/validation-issue.ts'
import { readServerFile } from './read-server-file.ts'

/** The tables of a file by the names of their servers. */
type Servers = Readonly<Record<string, JsonObject>>

/** A change of a mcp.toml: the SHA-256 of its content before, undefined for a new file, and after. */
export interface ServerFileChange {
  before: string | undefined
  after: string
}

/**
 * Changes the servers of a mcp.toml, or creates it; comments, order, the mode and everything else stay. The caller
 * holds the lease `file:<path>` of the path that resolveServerFile() returns, so that nothing of another process is
 * lost. Throws `config` when the file is not valid TOML, `denied` when it is a file of a project (`owner`) that
 * readServerFile() does not read, and what `change` throws.
 */
export async function editServers(
  path: string,
  change: (servers: Servers) => Servers | Promise<Servers>,
  owner?: { uid: number; linkRoot: string },
): Promise<ServerFileChange> {
  const read = owner && (await readServerFile(path, { scope: 'project', ...owner }))
  if (read?.digest === '')
    throw new CrabError('denied', `Cannot change the servers: ${read.problems[0]?.message}`)
  const target = await resolveServerFile(path)
  const text = await readTextFile(target)
  const document = parseToml(path, text ?? '')
  if (!document.ok) throw configError(document.problems)
  const { table } = document.value
  const { server } = table
  const servers = isTable(server) ? (server as Record<string, JsonObject>) : {}
  const edited = editServerTables(document.value.text, table, {
    before: servers,
    after: await change(servers),
  })
  await mkdir(dirname(target), { recursive: true })
  const mode = text === undefined ? undefined : (await stat(target)).mode & 0o777
  if (edited !== text) {
    await replaceFile(target, edited, mode)
    if (mode !== undefined) await chmod(target, mode) // whatever the umask is
  }
  return { before: text === undefined ? undefined : toDigest(text), after: toDigest(edited) }
}

/** Returns the path of a file without links; it may not exist yet. */
export async function resolveServerFile(path: string): Promise<string> {
  const inFolder = async () => join(await realpath(dirname(path)).catch(() => dirname(path)), basename(path))
  return await realpath(path).catch(inFolder)
}

/** Writes a new server as a `[server.NAME]` table at the end, instead of on one line. */
function editServerTables(
  text: string,
  table: JsonObject,
  { before, after }: { before: JsonObject; after: JsonObject },
): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const added = Object.keys(after).filter((name) => !Object.hasOwn(before, name))
  const whole = added.reduce((all, name) => {
    const head = all.trim() === '' ? '' : `${all.trimEnd()}${eol}${eol}`
    return `${head}[server.${name}]${eol}`
  }, text)
  const headed = { ...before, ...Object.fromEntries(added.map((name) => [name, {}])) }
  const { server: _, ...others } = table
  const isEmpty = Object.keys(headed).length === 0
  const was = isEmpty ? table : { ...table, server: headed }
  return editToml(whole, was, Object.keys(after).length === 0 ? others : { ...table, server: after })
}

function toDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
