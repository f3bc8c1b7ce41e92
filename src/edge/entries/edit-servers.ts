import { createHash } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { replaceFile } from '../../core/base/files.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { isTable } from '../../core/config/schema.ts'
import { parseToml } from '../../core/config/toml.ts'
import { editToml } from '../../core/config/toml-edit.ts'
import { configError } from '../../core/config/validation-issue.ts'

/** The tables of a file by the names of their servers. */
type Servers = Readonly<Record<string, JsonObject>>

/** A change of a mcp.toml: the SHA-256 of its content before, undefined for a new file, and after. */
export interface ServerFileChange {
  before: string | undefined
  after: string
}

/**
 * Changes the servers of a mcp.toml, or creates it; comments, order and everything else stay. The caller holds the
 * lease `file:<path>`, so that nothing of another process is lost. Throws `config` when the file is not valid TOML,
 * and what `change` throws.
 */
export async function editServers(
  path: string,
  change: (servers: Servers) => Servers | Promise<Servers>,
): Promise<ServerFileChange> {
  const target = await realpath(path).catch(() => path) // it may not exist yet
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
  if (edited !== text) await replaceFile(target, edited)
  return { before: text === undefined ? undefined : toDigest(text), after: toDigest(edited) }
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
