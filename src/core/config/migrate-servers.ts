import { access, readdir, readFile, realpath, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { toCrabError } from '../base/errors.ts'
import { createFile, replaceFile, syncDir, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { type IdentifiedFile, readAgentFiles } from './agent-files.ts'
import { inlineServers } from './inline-servers.ts'
import { namesServers } from './legacy.ts'
import { readTextFile } from './load-config.ts'
import { type OldRegistry, registryIn, registryInConfig } from './old-registry.ts'
import type { HomePaths } from './paths.ts'
import { parseToml, type TomlDocument } from './toml.ts'
import { editToml } from './toml-edit.ts'
import { configError, formatLocation } from './validation-issue.ts'

export interface MigrationOptions {
  paths: Pick<HomePaths, 'home' | 'agents' | 'config'>
  /** Takes the right to change a file, across processes. */
  lock(resource: string): Promise<AsyncDisposable>
  /** What a person should know; each line stands for itself. */
  tell(level: 'info' | 'warn', message: string): void
}

/**
 * Brings agents of before RFC 0193 to the form of today: the servers they name, of `mcps.toml` or of `[mcps.NAME]` in
 * config.toml, are written into their files. What a file was is beside it, as `….bak`; so is the registry, once no agent
 * needs it. A home in the form of today costs a look.
 *
 * Each file is replaced whole, and the registry goes last: a process that is killed has done a part, and the next one does
 * the rest. Never fails: what cannot be done is told, and left to the next start.
 */
export async function migrateServers(options: MigrationOptions): Promise<void> {
  const { paths, lock, tell } = options
  try {
    if (!(await isNeeded(paths))) return
    await using _agents = await lock(`file:${paths.agents}`)
    await using _config = await lock(`file:${paths.config}`)
    await migrate(options)
  } catch (reason) {
    tell('warn', cannot(reason))
  }
}

function cannot(reason: unknown): string {
  const { message, hint } = toCrabError(reason)
  return `Cannot move the MCP servers that agents name into their files: ${message}${hint ? ` (${hint})` : ''}`
}

/** Reads files as texts only; what looks like the old form and is none is seen later. */
async function isNeeded({ home, agents, config }: MigrationOptions['paths']): Promise<boolean> {
  const names = await readdir(agents).catch(() => []) // whoever needs the folder says what is wrong with it
  const files = names.filter((name) => name.endsWith('.toml')).map((name) => join(agents, name))
  const looks = [
    files.length > 0 && exists(join(home, REGISTRY)), // without agents of ours it is another program's
    matches(config, /^[ \t]*\[+[ \t]*["']?mcps\b/m),
    ...files.map((file) => matches(file, /^[ \t]*["']?mcps["']?[ \t]*=/m)),
  ]
  return (await Promise.all(looks)).includes(true)
}

async function migrate(options: MigrationOptions): Promise<void> {
  const { paths, tell } = options
  const registry = await readRegistry(paths)
  const files = await readAgentFiles(paths.agents)
  const old = files.filter(({ document }) => document.ok && namesServers(document.value.table))
  const moved: string[] = []
  for (const file of old) {
    try {
      await migrateAgent(file, { registry: registry.servers, tell })
      moved.push(file.name)
    } catch (reason) {
      tell('warn', cannot(reason)) // the others can be moved all the same
    }
  }
  if (moved.length > 0) tell('info', describeMoved(moved))
  const isRead = files.every(({ document }) => document.ok) // else the registry may be needed once they are mended
  if (isRead && moved.length === old.length) await retire(registry, paths, tell)
}

async function migrateAgent(
  { path, document }: IdentifiedFile,
  { registry, tell }: { registry: OldRegistry; tell: MigrationOptions['tell'] },
): Promise<void> {
  if (!document.ok) return
  const target = await realpath(path)
  const { text, left } = inlineServers(document.value, registry)
  await backUp(target)
  await replaceFile(target, text)
  for (const { name, line, why } of left) {
    const place = formatLocation({ file: document.value.file, line, column: undefined })
    tell(
      'warn',
      `${place}: the MCP server ${JSON.stringify(name)} ${why}; its name is kept there as a comment`,
    )
  }
}

interface FoundRegistry {
  servers: OldRegistry
  /** Whether there is a file of its own. */
  hasFile: boolean
  /** config.toml, when it holds servers. */
  config: { text: string; table: JsonObject } | undefined
}

/** Fails with `config` for a file that is no TOML: nobody knows what agents mean then. */
async function readRegistry({ home, config }: MigrationOptions['paths']): Promise<FoundRegistry> {
  const [own, node] = await Promise.all([readTable(join(home, REGISTRY)), readTable(config)])
  const inConfig = node && registryInConfig(node.table)
  const servers = new Map([...(inConfig ?? []), ...(own ? registryIn(own.table) : [])])
  return { servers, hasFile: own !== undefined, config: inConfig && node }
}

async function readTable(path: string): Promise<TomlDocument | undefined> {
  const text = await readTextFile(path)
  if (text === undefined) return undefined
  const document = parseToml(basename(path), text)
  if (!document.ok) throw configError(document.problems)
  return document.value
}

/** Nobody reads it any more; it stays for people. */
async function retire(
  { hasFile, config }: FoundRegistry,
  paths: MigrationOptions['paths'],
  tell: MigrationOptions['tell'],
): Promise<void> {
  if (config) {
    const { mcps: _, ...rest } = config.table
    const target = await realpath(paths.config)
    const backup = await backUp(target)
    await replaceFile(target, editToml(config.text, config.table, rest))
    tell(
      'info',
      `config.toml has no [mcps] any more: no agent needs it; what it was is in ${basename(backup)}`,
    )
  }
  if (!hasFile) return
  const path = join(paths.home, REGISTRY)
  const backup = await freeName(path)
  try {
    await rename(path, backup)
    await syncDir(dirname(path))
  } catch (reason) {
    throw toStorageError(`Cannot rename ${path}`, reason)
  }
  tell('info', `${REGISTRY} is ${basename(backup)} now: no agent needs it any more`)
}

/** A copy beside a file, which may be there from a try that was cut off; gives its path. */
async function backUp(path: string): Promise<string> {
  const content = await readFile(path)
  for (let number = 1; ; number++) {
    const backup = backupName(path, number)
    if (await createFile(backup, content)) return backup
    if (content.equals(await readFile(backup))) return backup
  }
}

async function freeName(path: string): Promise<string> {
  for (let number = 1; ; number++) {
    const backup = backupName(path, number)
    if (!(await exists(backup))) return backup
  }
}

function backupName(path: string, number: number): string {
  return `${path}.bak${number === 1 ? '' : number}`
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // or it cannot be looked at: whoever opens it says so
  )
}

async function matches(path: string, pattern: RegExp): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '') // whoever needs it says what is wrong with it
  return pattern.test(text)
}

function describeMoved(names: readonly string[]): string {
  const files = names.map((name) => `agents/${name}.toml`).join(', ')
  return `MCP servers stand in the files of their agents now (${files}); what a file was is beside it, as .toml.bak`
}

/** The registry of before RFC 0193. */
const REGISTRY = 'mcps.toml'
