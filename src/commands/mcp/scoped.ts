import { join, relative, sep } from 'node:path'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { findNameClash, restoreEntry } from '../../core/config/mcp-declaration.ts'
import { readServerTrust } from '../../core/trust/trust-store.ts'
import { summarizeServer } from '../../edge/entries/describe-server.ts'
import { editServers, resolveServerFile } from '../../edge/entries/edit-servers.ts'
import { locateServerFiles } from '../../edge/entries/locate-files.ts'
import { toEdgeServer } from '../../edge/entries/parse-toml-servers.ts'
import { readServerFile } from '../../edge/entries/read-server-file.ts'
import { findEntryIssue, projectFolder, resolveServer } from '../../edge/entries/session-servers.ts'
import type { EdgeServer, ServerScope } from '../../edge/entries/types.ts'
import { openResolver, toSessionPlace } from '../session-servers.ts'
import { answerServers } from '../trust/answer-servers.ts'
import { changeEntry, readNewServers, readWholeEntry } from './entry.ts'
import { listEntryWarnings, printWarning } from './entry-warnings.ts'

/** The mcp.toml that a command changes. */
export interface ScopedFile {
  scope: ServerScope
  /** Absolute. */
  path: string
  projectDir: string
}

type Servers = Readonly<Record<string, JsonObject>>

/** Runs `crabtalk mcp add --scope`: writes servers to a mcp.toml, with placeholders as they are, and starts none. */
export const addScopedServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const file = await locateScopedFile(options, host)
  const servers = await readNewServers(options, withPlaceholders(host))
  const entries = servers.map(({ entry, paths }) => toRelative(entry, file, new Set(paths.values())))
  await addEntries({ host, file, entries }, signal)
  for (const { entry, notices = [] } of servers) {
    for (const notice of notices) host.stderr.write(`crabtalk: ${sanitize(notice)}\n`)
    await warnAboutValues(host, file, entry)
  }
  return printChanged(
    { options, host, file, verb: 'added' },
    entries.map(({ name }) => String(name)),
  )
}

/** Adds servers to a mcp.toml, all in one write. Throws `conflict` when it has one of the same name. */
export async function addEntries(
  { host, file, entries }: { host: Host; file: ScopedFile; entries: readonly JsonObject[] },
  signal: AbortSignal,
): Promise<void> {
  await changeFile(host, file, signal, (before) => {
    const names = Object.keys(before).map((name) => ({ name }))
    for (const { name } of entries) {
      const taken = findNameClash(names, String(name))
      if (taken !== undefined) throw isTaken(taken, file)
    }
    return { ...before, ...Object.fromEntries(entries.map(({ name, ...table }) => [String(name), table])) }
  })
}

/** Runs `crabtalk mcp set --scope`. */
export const setScopedServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const file = await locateScopedFile(options, host)
  const name = options.args[0] ?? ''
  const whole = await readWholeEntry(options, host)
  await changeFile(host, file, signal, (before) => {
    const change = { options, host: withPlaceholders(host), whole }
    const after = changeEntry({ name, ...findTable(before, name, file) }, change)
    const { name: _, ...table } = toRelative(after, file)
    return { ...before, [name]: table }
  })
  return printChanged({ options, host, file, verb: 'changed' }, [name])
}

/** Runs `crabtalk mcp remove --scope`. */
export const removeScopedServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const file = await locateScopedFile(options, host)
  const name = options.args[0] ?? ''
  await changeFile(host, file, signal, (before) => {
    findTable(before, name, file)
    return without(before, name)
  })
  return printChanged({ options, host, file, verb: 'removed' }, [name])
}

/** Runs `crabtalk mcp disable --scope`; also for a server that only another file has. */
export const disableScopedServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const file = await locateScopedFile(options, host)
  const name = options.args[0] ?? ''
  await changeFile(host, file, signal, (before) => ({
    ...before,
    [name]: { ...before[name], disabled: true },
  }))
  return printChanged({ options, host, file, verb: 'disabled' }, [name])
}

/** Runs `crabtalk mcp enable --scope`. */
export const enableScopedServerCommand: CommandHandler = async ({ options, host, signal }) => {
  const file = await locateScopedFile(options, host)
  const name = options.args[0] ?? ''
  await changeFile(host, file, signal, (before) => {
    const { disabled: _, ...table } = findTable(before, name, file)
    return Object.keys(table).length === 0 ? without(before, name) : { ...before, [name]: table }
  })
  return printChanged({ options, host, file, verb: 'enabled' }, [name])
}

/** Finds the file of --scope: of a project the nearest one, else one at the root of its repository. */
export async function locateScopedFile(options: ParsedOptions, host: Host): Promise<ScopedFile> {
  const scope = options.value('scope') as ServerScope
  if (options.value('agent') !== undefined) {
    throw new CrabError('usage', 'Cannot combine --scope and --agent', {
      hint: 'a mcp.toml is for every agent',
    })
  }
  const place = toSessionPlace(host)
  const { projectDir, project } = await locateServerFiles(place)
  if (scope === 'user') return { scope, path: place.paths.userServers, projectDir }
  const path = project.find((one) => one.endsWith('.toml')) ?? join(projectDir, '.crabtalk', 'mcp.toml')
  const { home } = place.paths
  if (!`${path}${sep}`.startsWith(`${home}${sep}`)) return { scope, path, projectDir }
  throw new CrabError('usage', `Cannot use --scope project: ${path} is in the home of crabtalk`, {
    hint: 'run it in the directory of a project, or use --scope user',
  })
}

/**
 * Changes the file under its lease, after checking the entries that differ. The user's own change of a file keeps
 * the trust in it.
 */
async function changeFile(
  host: Host,
  file: ScopedFile,
  signal: AbortSignal,
  change: (servers: Servers) => Servers,
): Promise<void> {
  const { SqliteLeases } = await import('../../core/lease/sqlite-leases.ts')
  const { leases: database, proc, trust } = resolvePaths(host)
  await using leases = new SqliteLeases({ database, proc, pid: host.pid })
  await using _lease = await leases.take(`file:${await resolveServerFile(file.path)}`, signal)
  let changed: Servers = {}
  const checkChange = async (servers: Servers) => {
    const after = keepSecrets(change(servers), servers)
    changed = Object.fromEntries(Object.entries(after).filter(([name, table]) => table !== servers[name]))
    for (const [name, table] of Object.entries(changed)) await checkServer(host, file, { name, ...table })
    return after
  }
  const owner = file.scope === 'user' ? undefined : { uid: host.uid, linkRoot: file.projectDir }
  await editServers(file.path, checkChange, owner).then(async ({ before, after: digest }) => {
    if (file.scope === 'user') return
    const answer = (await readServerTrust(trust)).get(file.path)
    const wasTrusted = answer?.state === 'trusted' && answer.digest === before
    if (before !== undefined && !wasTrusted) return
    const read = await readServerFile(file.path, {
      scope: 'project',
      uid: host.uid,
      linkRoot: file.projectDir,
    })
    const summaries = (read?.servers ?? []).map(summarizeServer)
    await answerServers(host, { file: { path: file.path, digest, summaries }, isTrusted: true }, signal)
  })
}

/** Keeps the stored values that a changed entry has hidden. Throws `invalid` for one that the file does not have. */
function keepSecrets(after: Servers, before: Servers): Servers {
  const changed = Object.entries(after).filter(([name, table]) => table !== before[name])
  const restored = changed.map(([name, table]) => {
    const sent = { name, ...table }
    const { name: _, ...kept } = restoreEntry(`Cannot write the server "${name}"`, sent, [
      { ...before[name], name },
    ])
    return [name, kept]
  })
  return { ...after, ...Object.fromEntries(restored) }
}

/** Throws `invalid` for an entry that could not be used whatever its variables are. */
async function checkServer(host: Host, file: ScopedFile, entry: JsonObject): Promise<void> {
  const issue = findEntryIssue(toServer(file, entry))
  const { state, reason, hint, missing } = issue
    ? { state: 'invalid', reason: `${file.path}: ${issue.message}`, hint: issue.hint, missing: undefined }
    : await resolveScoped(host, file, entry)
  if (state !== 'invalid' || missing !== undefined) return
  throw new CrabError(
    'invalid',
    `Cannot write the server "${entry['name']}": ${reason}`,
    hint === undefined ? {} : { hint },
  )
}

/** Warns about variables that have no value yet, and about tokens that are sent unencrypted. */
async function warnAboutValues(host: Host, file: ScopedFile, entry: JsonObject): Promise<void> {
  const { reason, hint = '', missing, entry: literal } = await resolveScoped(host, file, entry)
  const warnings = literal ? listEntryWarnings({ agent: '', entry: literal }) : []
  for (const one of warnings) printWarning(host, one.message, one.hint)
  if (missing !== undefined) printWarning(host, `${entry['name']} cannot start yet: ${reason}`, hint)
}

async function resolveScoped(host: Host, file: ScopedFile, entry: JsonObject) {
  const { projectDir } = file
  return await resolveServer(toServer(file, entry), {
    resolver: openResolver(host),
    projectDir,
    env: host.env,
  })
}

function toServer({ path, scope }: ScopedFile, { name, ...table }: JsonObject): EdgeServer {
  return toEdgeServer({ name: String(name), entry: table, scope }, { file: path })
}

/** Returns a host in whose environment every variable is its own placeholder, so that no value is written. */
function withPlaceholders(host: Host): Host {
  const env = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? `\${${name}}` : undefined) })
  return Object.create(host, { env: { value: env } }) as Host
}

/** Makes the paths of a project's entry that are inside of the project relative to its folder again. */
function toRelative(entry: JsonObject, { scope, path }: ScopedFile, words?: ReadonlySet<string>): JsonObject {
  if (scope === 'user') return entry
  const base = projectFolder(path)
  const shorten = (value: unknown) =>
    typeof value === 'string' && value.startsWith(`${base}${sep}`) ? `./${relative(base, value)}` : value
  const shortenKey = ([key, value]: [string, unknown]): [string, unknown][] => {
    if (key === 'cwd' && value === base) return []
    if (key === 'command' || key === 'cwd') return [[key, shorten(value)]]
    if (key !== 'args' || !Array.isArray(value)) return [[key, value]]
    return [[key, value.map((word) => (words?.has(word) ? shorten(word) : word))]]
  }
  return Object.fromEntries(Object.entries(entry).flatMap(shortenKey))
}

function findTable(servers: Servers, name: string, { path }: ScopedFile): JsonObject {
  const table = servers[name]
  if (table !== undefined) return table
  const names = Object.keys(servers)
  const known = names.length === 0 ? 'the file has no servers' : `its servers are ${names.join(', ')}`
  throw new CrabError('missing', `Cannot find the server "${name}": ${path} does not have it`, {
    hint: didYouMean(name, names) ?? known,
  })
}

function without(servers: Servers, name: string): Servers {
  const { [name]: _, ...others } = servers
  return others
}

function isTaken(name: string, { path, scope }: ScopedFile): CrabError {
  return new CrabError('conflict', `Cannot add the server "${name}": ${path} already has it`, {
    hint: `change it with crabtalk mcp set --scope ${scope} ${name}`,
  })
}

interface ChangeReport {
  options: ParsedOptions
  host: Host
  file: ScopedFile
  verb: string
}

function printChanged({ options, host, file, verb }: ChangeReport, names: readonly string[]): number {
  const { scope, path } = file
  if (options.has('json')) {
    const rows = names.map((name) => ({ scope, file: path, name }))
    return printJson(host, rows.length === 1 ? rows[0] : rows)
  }
  for (const name of names) host.stdout.write(sanitize(`${verb} ${name} in ${path}\n`))
  return 0
}
