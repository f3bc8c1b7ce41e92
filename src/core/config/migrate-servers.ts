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

/** The dependencies of migrateServers(). */
export interface MigrationOptions {
  paths: Pick<HomePaths, 'home' | 'agents' | 'config'>
  /** Acquires the lock on a file, across processes. */
  lock(resource: string): Promise<AsyncDisposable>
  /** Reports a message to the user; each message is self-contained. */
  log(level: 'info' | 'warn', message: string): void
}

/**
 * Migrates agents that name servers of `mcps.toml`, or of `[mcps.NAME]` in config.toml, by writing those
 * servers into the agents' files (ADR 0118). The old content of each file is kept beside it as `….bak`, and
 * so is the registry once no agent needs it. A migrated home costs only a quick check.
 *
 * Each file is replaced atomically, and the registry goes last, so the next start completes an interrupted
 * migration. Never throws: failures are reported and left to the next start.
 */
export async function migrateServers(options: MigrationOptions): Promise<void> {
  const { paths, lock, log } = options
  try {
    if (!(await isNeeded(paths))) return
    await using _agents = await lock(`file:${paths.agents}`)
    await using _config = await lock(`file:${paths.config}`)
    await migrate(options)
  } catch (reason) {
    log('warn', describeFailure(reason))
  }
}

function describeFailure(reason: unknown): string {
  const { message, hint } = toCrabError(reason)
  return `Cannot move the MCP servers that agents name into their files: ${message}${hint ? ` (${hint})` : ''}`
}

/** Checks the files as plain text; false positives are sorted out later. */
async function isNeeded({ home, agents, config }: MigrationOptions['paths']): Promise<boolean> {
  const names = await readdir(agents).catch(() => []) // an unreadable folder is reported where it is needed
  const files = names.filter((name) => name.endsWith('.toml')).map((name) => join(agents, name))
  const checks = [
    // Without agents of this program, the registry belongs to another program.
    files.length > 0 && exists(join(home, REGISTRY)),
    matches(config, /^[ \t]*\[+[ \t]*["']?mcps\b/m),
    ...files.map((file) => matches(file, /^[ \t]*["']?mcps["']?[ \t]*=/m)),
  ]
  return (await Promise.all(checks)).includes(true)
}

async function migrate(options: MigrationOptions): Promise<void> {
  const { paths, log } = options
  const registry = await readRegistry(paths)
  const files = await readAgentFiles(paths.agents)
  const old = files.filter(({ document }) => document.ok && namesServers(document.value.table))
  const moved: string[] = []
  for (const file of old) {
    try {
      await migrateAgent(file, { registry: registry.servers, log })
      moved.push(file.name)
    } catch (reason) {
      log('warn', describeFailure(reason)) // the other agents can still be migrated
    }
  }
  if (moved.length > 0) log('info', describeMoved(moved))
  // The registry may be needed for unreadable files once they are fixed.
  const isRead = files.every(({ document }) => document.ok)
  if (isRead && moved.length === old.length) await retire(registry, paths, log)
}

async function migrateAgent(
  { path, document }: IdentifiedFile,
  { registry, log }: { registry: OldRegistry; log: MigrationOptions['log'] },
): Promise<void> {
  if (!document.ok) return
  const target = await realpath(path)
  const { text, left } = inlineServers(document.value, registry)
  await backUp(target)
  await replaceFile(target, text)
  for (const { name, line, why } of left) {
    const location = formatLocation({ file: document.value.file, line, column: undefined })
    log(
      'warn',
      `${location}: the MCP server ${JSON.stringify(name)} ${why}; its name was left there as a comment`,
    )
  }
}

interface FoundRegistry {
  servers: OldRegistry
  /** Whether mcps.toml exists. */
  hasFile: boolean
  /** The content of config.toml, when it holds servers. */
  config: { text: string; table: JsonObject } | undefined
}

/** Reads the registry. Throws `config` when a file is not valid TOML, since the names are then unresolvable. */
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

/** Sets the registry aside as a backup; the program no longer reads it. */
async function retire(
  { hasFile, config }: FoundRegistry,
  paths: MigrationOptions['paths'],
  log: MigrationOptions['log'],
): Promise<void> {
  if (config) {
    const { mcps: _, ...rest } = config.table
    const target = await realpath(paths.config)
    const backup = await backUp(target)
    await replaceFile(target, editToml(config.text, config.table, rest))
    log(
      'info',
      `[mcps] was removed from config.toml, since no agent needs it; the old text is in ${basename(backup)}`,
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
  log('info', `${REGISTRY} is ${basename(backup)} now, since no agent needs it`)
}

/**
 * Copies a file beside itself and returns the path of the copy. Reuses an equal copy from an interrupted
 * attempt.
 */
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
    () => false, // or it is inaccessible: opening it reports the reason
  )
}

async function matches(path: string, pattern: RegExp): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch(() => '') // an unreadable file is reported where it is needed
  return pattern.test(text)
}

function describeMoved(names: readonly string[]): string {
  const files = names.map((name) => `agents/${name}.toml`).join(', ')
  return `MCP servers are now in the files of their agents (${files}); the old files are beside them as .toml.bak`
}

/** The file name of the old registry. */
const REGISTRY = 'mcps.toml'
