import { dirname, isAbsolute, resolve, sep } from 'node:path'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type McpEntry, mcpEntry } from '../../core/config/mcp-entry.ts'
import { toProjectOrigin } from '../../core/config/project-server-file.ts'
import { checkValue } from '../../core/config/schema.ts'
import type { ValidationIssue } from '../../core/config/validation-issue.ts'
import { readServerTrust, readTrust } from '../../core/trust/trust-store.ts'
import type { CredentialResolver } from '../credentials/types.ts'
import { expandEntry, findVariables } from './expand.ts'
import { locateServerFiles } from './locate-files.ts'
import { readServerFile, type ServerFile } from './read-server-file.ts'
import { judgeFile, type StoredTrust, toUntrustedFile, type UntrustedFile } from './server-trust.ts'
import type { EdgeServer, ServerFileProblem, SessionPlace } from './types.ts'
import { withLogin } from './with-login.ts'

/** A server of a file, and whether sessions get it. */
export interface SessionServer {
  server: EdgeServer
  state: 'ready' | 'disabled' | 'invalid' | 'untrusted'
  /** The literal entry of a server that is ready. */
  entry?: McpEntry
  /** The reason for another state, as a sentence without a full stop, with the place in the file; or empty. */
  reason: string
  hint?: string | undefined
  /** The variables without a value, if that is the reason. */
  missing?: readonly string[]
}

/** The servers that files declare for sessions in a directory. */
export interface FoundServers {
  projectDir: string
  /** The effective server of each name, in the order of the files; then those of files that are not trusted. */
  servers: readonly SessionServer[]
  /** The servers of trusted files that another file replaces. */
  replaced: readonly { server: EdgeServer; by: EdgeServer }[]
  /** The files of the project that the user has not trusted. */
  untrusted: readonly UntrustedFile[]
  problems: readonly ServerFileProblem[]
}

/**
 * Finds the servers for sessions in a directory: those of the user's file, then those of the project, which
 * replace the user's of the same name as a whole. Nothing of a file that is not trusted has an effect.
 */
export async function findSessionServers(
  place: SessionPlace,
  resolver: CredentialResolver,
): Promise<FoundServers> {
  const { projectDir, files } = await readServerFiles(place)
  const stored = await readStoredTrust(place, { projectDir, files })
  const untrusted: UntrustedFile[] = []
  const trusted: ServerFile[] = []
  for (const file of files) {
    const trust = file.scope === 'user' || file.servers.length === 0 ? 'trusted' : judgeFile(file, stored)
    if (trust === 'trusted') trusted.push(file)
    else untrusted.push(toUntrustedFile(file, trust, stored.answers.get(file.path)))
  }
  const counted = new Map<string, EdgeServer>()
  for (const server of trusted.flatMap(({ servers }) => servers)) counted.set(foldName(server.name), server)
  const replaced = trusted
    .flatMap(({ servers }) => servers)
    .flatMap((server) => {
      const by = counted.get(foldName(server.name))!
      return by === server ? [] : [{ server, by }]
    })
  const servers = await Promise.all(
    [...counted.values()].map((server) => resolveServer(server, { resolver, projectDir, env: place.env })),
  )
  const held = files.flatMap((file) => {
    const entry = untrusted.find(({ path }) => path === file.path)
    return entry ? file.servers.map((server) => toUntrusted(server, entry)) : []
  })
  return {
    projectDir,
    servers: [...servers, ...held],
    replaced,
    untrusted,
    problems: [...stored.problems, ...files.flatMap(({ problems }) => problems)],
  }
}

/** Reads the user's file, then those of the project, by rising precedence. */
export async function readServerFiles(
  place: SessionPlace,
): Promise<{ projectDir: string; files: ServerFile[] }> {
  const { uid, paths } = place
  const { projectDir, project } = await locateServerFiles(place)
  const files = await Promise.all([
    readServerFile(paths.userServers, { scope: 'user', uid, linkRoot: undefined }),
    ...project.map((path) => readServerFile(path, { scope: 'project', uid, linkRoot: projectDir })),
  ])
  return { projectDir, files: files.flatMap((file) => file ?? []) }
}

/** Reads trust.toml only where a project has servers. Nothing is trusted when it cannot be read. */
async function readStoredTrust(
  { paths: { trust } }: SessionPlace,
  { projectDir, files }: { projectDir: string; files: readonly ServerFile[] },
): Promise<StoredTrust & { problems: readonly ServerFileProblem[] }> {
  const none = { state: undefined, answers: new Map(), problems: [] }
  if (files.every(({ scope }) => scope === 'user')) return none
  try {
    const [projects, answers] = await Promise.all([readTrust(trust), readServerTrust(trust)])
    return { state: projects.get(projectDir)?.state, answers, problems: [] }
  } catch (reason) {
    const { message, hint } = toCrabError(reason)
    return { ...none, state: 'untrusted', problems: [{ file: trust, message, hint }] }
  }
}

/** Two names are the same for tools when they differ in `-` and `_` only. */
function foldName(name: string): string {
  return name.replaceAll('-', '_')
}

function toUntrusted(server: EdgeServer, { trust }: UntrustedFile): SessionServer {
  const reason = trust === 'refused' ? 'you do not trust its file' : 'you have not trusted its file yet'
  return { server, state: 'untrusted', reason, hint: 'crabtalk trust shows what it would run, and asks' }
}

interface ExpansionContext {
  resolver: CredentialResolver
  projectDir: string
  env: SessionPlace['env']
}

/** Replaces the placeholders of a server and checks the entry. */
export async function resolveServer(
  server: EdgeServer,
  { resolver, projectDir, env }: ExpansionContext,
): Promise<SessionServer> {
  const { table, problem } = server
  if (problem !== '') return invalid(server, [], problem)
  if (table['disabled'] === true) return { server, state: 'disabled', reason: '' }
  // the credential of this server alone comes first: an import stores it under both names
  const own = {
    find: async (name: string) =>
      (await resolver.find(`${server.name}/${name}`)) ?? (await resolver.find(name)),
  }
  const expansion = await expandEntry(table, own, projectDir).catch(toCrabError)
  if (expansion instanceof CrabError) return invalid(server, [], expansion.message, expansion.hint)
  if (!expansion.ok) {
    const { missing } = expansion
    const hint = `crabtalk vault set ${missing[0]} stores ${missing.length === 1 ? 'it' : 'the first one'}; a default is \${${missing[0]}:-VALUE}`
    const why = `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set`
    return { ...invalid(server, [], why, hint), missing }
  }
  const literal = await withLogin(server, anchorPaths(server, expansion.entry), resolver)
  const whole = { name: server.name, ...literal, ...toOrigin(server) }
  const outcome = checkValue(mcpEntry, withTimeLimits(whole, env))
  if (outcome.ok) return { server, state: 'ready', entry: outcome.value, reason: '' }
  const [issue] = outcome.problems
  return invalid(server, issue?.path ?? [], issue?.message ?? 'the entry is not valid', issue?.hint)
}

/**
 * Finds a key of an entry that is wrong whatever its variables are, also of a server that is turned off. A value
 * with a placeholder is not checked.
 */
export function findEntryIssue(server: EdgeServer): ValidationIssue | undefined {
  const { name, table, problem } = server
  if (problem !== '') return { path: [], message: problem }
  const outcome = checkValue(mcpEntry, { name, ...anchorPaths(server, table) })
  if (outcome.ok) return undefined
  const isChecked = ({ path: [key] }: ValidationIssue) =>
    key === undefined ? table['disabled'] !== true : findVariables({ [key]: table[key] }).length === 0
  return outcome.problems.find(isChecked)
}

/** Marks the entry of a project's file, whatever origin the file gives it: no stored rule allows its tools. */
function toOrigin({ scope, file, digest: sha256 }: EdgeServer): Pick<McpEntry, 'origin'> {
  return scope === 'user' || sha256 === undefined ? {} : { origin: toProjectOrigin({ file, sha256 }) }
}

function invalid(
  server: EdgeServer,
  key: readonly (string | number)[],
  why: string,
  hint?: string,
): SessionServer {
  const line = server.lineOf?.(key)
  const reason = `${server.file}${line === undefined ? '' : `:${line}`}: ${why}`
  return { server, state: 'invalid', reason, hint }
}

/** Makes the paths of a project's entry absolute: its programs run in the folder that has the file. */
function anchorPaths({ scope, file }: EdgeServer, entry: JsonObject): JsonObject {
  const { command, cwd } = entry
  if (scope === 'user' || typeof command !== 'string') return entry
  const base = projectFolder(file)
  const isRelative = !isAbsolute(command) && (command.includes('/') || command.includes(sep))
  return {
    ...entry,
    command: isRelative ? resolve(base, command) : command,
    cwd: typeof cwd === 'string' ? resolve(base, cwd) : (cwd ?? base),
  }
}

/** Returns the folder that a project's file is about: `.crabtalk/mcp.toml` lies one below it. */
export function projectFolder(file: string): string {
  return file.endsWith('.json') ? dirname(file) : dirname(dirname(file))
}

/** Adds the time limits of the environment, which are below those of the entry. */
function withTimeLimits(entry: JsonObject, env: SessionPlace['env']): JsonObject {
  const limits = LIMITS.flatMap(([variable, key]) => {
    const ms = /^\d{1,9}$/.test(env[variable] ?? '') ? Number(env[variable]) : 0
    return ms > 0 ? [[key, ms] as const] : []
  })
  return { ...Object.fromEntries(limits), ...entry }
}

const LIMITS = [
  ['MCP_TIMEOUT', 'startup_timeout_ms'],
  ['MCP_TOOL_TIMEOUT', 'timeout_ms'],
] as const
