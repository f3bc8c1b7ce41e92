import { readFile } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { REDACTED } from '../../core/base/secrets/redact.ts'
import { parseVariables } from '../../core/config/env-file-text.ts'
import type { McpEntry } from '../../core/config/mcp-entry.ts'
import { redactEntry } from '../../core/config/secrets.ts'
import type { Credential } from '../credentials/types.ts'
import type { ForeignServer } from './foreign-entry.ts'
import type { ForeignFile } from './foreign-file.ts'
import { type ForeignKind, KIND_TITLES } from './foreign-kinds.ts'
import { type ImportedServer, toImportedServer } from './imported-entry.ts'

/** A server that is taken, and its file. */
export interface ServerToImport extends ImportedServer {
  path: string
  /** The program of the file; undefined for a file that the user named. */
  kind?: ForeignKind | undefined
}

/** A server that is not taken. */
export interface SkippedServer {
  name: string
  path: string
  /** A sentence without a full stop. */
  why: string
}

/** The effects of an import, before anything is written. */
export interface ImportPlan {
  servers: ServerToImport[]
  skipped: SkippedServer[]
  /** Sentences about files, without a full stop. */
  notices: { path: string; text: string }[]
  /** The values that move into the vault, by name. */
  secrets: Record<string, string>
}

/** The facts that a plan depends on. */
export interface PlanFacts {
  /** The agent that gets the servers, or the mcp.toml. */
  agent: string
  /** Its servers, without secrets. */
  existing: readonly McpEntry[]
  /** Whether it fills in `${NAME}` in arguments and addresses. */
  isExpanded?: boolean
  /** The only servers to take; all when it is empty. */
  names: readonly string[]
  cwd: string
  homeDir: string
  find(name: string): Promise<Credential | undefined>
  stored(name: string): Promise<string | undefined>
}

/** Decides what becomes of each server of some files. Writes nothing. */
export async function planImport(files: readonly ForeignFile[], facts: PlanFacts): Promise<ImportPlan> {
  const plan: ImportPlan = { servers: [], skipped: [], notices: [], secrets: {} }
  for (const { path, entries } of files) {
    for (const text of entries.notices) plan.notices.push({ path, text })
  }
  for (const one of listByRank(files, facts)) await planServer(plan, one, facts)
  for (const { entry, notices, kind } of plan.servers) {
    const other = kind === 'claude' && files.find((file) => isOwnFile(file) && hasServer(file, entry.name))
    if (other) notices.push(`${entry.name} of ${other.path} is not used while an agent has one of that name`)
  }
  for (const { path, entries } of files) {
    const others = entries.servers.filter((one) => isChosen(one, facts) && !isHere(one, facts))
    const folders = [...new Set(others.flatMap(({ project }) => project ?? []))]
    if (folders.length > 0)
      plan.notices.push({ path, text: `servers of other folders are left out: ${listSome(folders)}` })
  }
  return plan
}

/** Whether sessions read a file themselves: the `.mcp.json` of their project. */
function isOwnFile({ kind, project }: ForeignFile): boolean {
  return kind === 'claude' && project !== undefined
}

function hasServer({ entries }: ForeignFile, name: string): boolean {
  return entries.servers.some((one) => fold(one.name) === fold(name))
}

interface FoundServer {
  server: ForeignServer
  file: ForeignFile
}

/** Lists the servers to plan. Those that a file has for this folder come first, as they do in that program. */
function listByRank(files: readonly ForeignFile[], facts: PlanFacts): FoundServer[] {
  const all = files.flatMap((file) => file.entries.servers.map((server): FoundServer => ({ server, file })))
  const toRank = ({ server }: FoundServer) => server.project?.length ?? 0
  return all
    .filter(({ server }) => isChosen(server, facts) && isHere(server, facts))
    .toSorted((a, b) => toRank(b) - toRank(a))
}

function isChosen({ name }: ForeignServer, { names }: PlanFacts): boolean {
  return names.length === 0 || names.includes(name)
}

function isHere({ project }: ForeignServer, { cwd }: PlanFacts): boolean {
  return project === undefined || isInside(cwd, project)
}

async function planServer(plan: ImportPlan, { server, file }: FoundServer, facts: PlanFacts): Promise<void> {
  const { path, kind } = file
  const skip = (why: string) => void plan.skipped.push({ name: server.name, path, why })
  if (isOwnFile(file))
    return skip(`crabtalk reads this file itself after crabtalk trust; --from FILE copies it`)
  const taken = facts.existing.find(({ name }) => fold(name) === fold(server.name))
  const project = server.project ?? file.project
  const folder = project ?? facts.cwd
  const variables = await readVariables(server, folder)
  const imported = await toImportedServer(server, {
    folder,
    isProject: project !== undefined,
    isExpanded: facts.isExpanded ?? false,
    homeDir: facts.homeDir,
    origin: file.kind ?? 'file',
    fileVariables: variables.values,
    find: (name) => facts.find(name),
    stored: async (name) => plan.secrets[name] ?? (await facts.stored(name)),
  })
  if ('problem' in imported) return skip(`it would not be valid here: ${imported.problem}`)
  const { entry } = imported
  if (taken)
    return skip(
      `${facts.agent} has ${isSameTarget(taken, entry) ? 'it' : 'another server of that name'} already`,
    )
  const same = facts.existing.find((one) => isSameServer(one, entry))
  if (same) return skip(`${facts.agent} has it already, as ${same.name}`)
  const double = plan.servers.find((one) => isSameServer(one.entry, entry))
  if (double) return skip(`it is the same as ${double.entry.name} of ${double.path}`)
  const nearer = plan.servers.find((one) => one.kind === kind && fold(one.entry.name) === fold(entry.name))
  if (nearer && kind !== undefined)
    return skip(`${KIND_TITLES[kind]} uses the other ${entry.name} in this folder, which is imported`)
  const name = toFreeName(entry.name, [...facts.existing, ...plan.servers.map((one) => one.entry)])
  const present = await findPresent(imported.secrets, facts)
  const secrets = Object.fromEntries(
    Object.entries(imported.secrets).filter(([one]) => !present.includes(one)),
  )
  const renamed = name === entry.name ? [] : [`${entry.name} is called ${name} here: the name is taken`]
  plan.servers.push({
    ...imported,
    entry: { ...entry, name },
    secrets,
    found: [...imported.found, ...present.map((one) => ({ name: one, source: 'vault' }))],
    notices: [...renamed, ...variables.notices, ...imported.notices],
    path,
    kind,
  })
  Object.assign(plan.secrets, secrets)
}

/** Returns the names of secrets that the vault has already, with the same values. */
async function findPresent(secrets: Readonly<Record<string, string>>, facts: PlanFacts): Promise<string[]> {
  const present: string[] = []
  for (const [name, value] of Object.entries(secrets)) {
    if ((await facts.stored(name)) === value) present.push(name)
  }
  return present
}

/** Reads the file with variables that an entry names. */
async function readVariables(
  { envFile }: ForeignServer,
  folder: string,
): Promise<{ values: Record<string, string>; notices: string[] }> {
  if (envFile === undefined) return { values: {}, notices: [] }
  const path = resolve(
    folder,
    envFile.replaceAll(/\$\{(?:CRABTALK|CLAUDE)_PROJECT_DIR\}/g, () => folder),
  )
  try {
    return { values: parseVariables(await readFile(path, 'utf8')), notices: [] }
  } catch {
    // whatever the reason, a part of its text might be a secret
    return { values: {}, notices: [`the variables of ${path} are left out: it cannot be read`] }
  }
}

/** Whether two entries start the same program, or connect to the same address, whatever they pass to it. */
function isSameTarget(one: McpEntry, other: McpEntry): boolean {
  const toTarget = (entry: McpEntry) => {
    const { command, args = [], url } = redactEntry(entry)
    return { command, args, url: url?.replace(/\/$/, '') }
  }
  return isDeepStrictEqual(toTarget(one), toTarget(other))
}

/** Whether two entries are the same server: they also pass the same values, none of which is hidden. */
function isSameServer(one: McpEntry, other: McpEntry): boolean {
  const toValues = ({ env = {}, headers = {}, auth, cwd, env_helper, auth_helper }: McpEntry) => {
    return { env, headers, auth, cwd, env_helper, auth_helper }
  }
  const isHidden = JSON.stringify(toValues(one)).includes(JSON.stringify(REDACTED))
  return !isHidden && isSameTarget(one, other) && isDeepStrictEqual(toValues(one), toValues(other))
}

function toFreeName(name: string, taken: readonly { name: string }[]): string {
  const names = new Set(taken.map((one) => fold(one.name)))
  let free = name
  for (let n = 2; names.has(fold(free)); n++) free = `${name.slice(0, 28).replace(/[_-]+$/, '')}-${n}`
  return free
}

function fold(name: string): string {
  return name.replaceAll('-', '_')
}

function isInside(folder: string, parent: string): boolean {
  const path = relative(parent, folder)
  return path === '' || (!path.startsWith('..') && !isAbsolute(path))
}

function listSome(words: readonly string[]): string {
  const shown = words.slice(0, 3).join(', ')
  return words.length > 3 ? `${shown} and ${words.length - 3} more` : shown
}

/** Names a file for people: the program and the path. */
export function describeFile({ kind, path }: Pick<ForeignFile, 'kind' | 'path'>): string {
  return kind === undefined ? path : `${KIND_TITLES[kind]}, ${path}`
}

/** Returns the folder of a file that the user named: its project is where the file is. */
export function guessProject(path: string): string | undefined {
  const folder = dirname(path)
  return /[/\\]\.(?:vscode|cursor|gemini|zed|codex|caliban)$/.test(folder) ? dirname(folder) : undefined
}
