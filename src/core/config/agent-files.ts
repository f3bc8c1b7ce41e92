import type { Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isMissingFile, toStorageError } from '../base/files.ts'
import { derivedAgentId, isAgentId, isMadeFor } from './agent-id.ts'
import { type AgentConfig, checkStoredAgent, foldName, nameProblem } from './agent-schema.ts'
import { parseToml, type TomlDocument, toFileIssues } from './toml.ts'
import type { FileIssue, Result } from './validation-issue.ts'

/** A `.toml` file of the agents folder. */
interface AgentFile {
  /** The agent's name in NFC, independent of the file system's normalization. */
  name: string
  path: string
  /** The path of its prompt; the file need not exist. */
  promptPath: string
  /** The parsed content, or the reasons why it cannot be an agent. */
  document: Result<TomlDocument>
  /** The times of creation and of the last change, in milliseconds since 1970. */
  bornMs: number
  changedMs: number
}

/** An agent file with its unique id. */
export interface IdentifiedFile extends AgentFile {
  id: string
  /** Whether the id is derived, because the file has none or has that of another file. */
  isNewId: boolean
}

/** Reads the agent files of a folder, ordered by name. The result includes unreadable files. */
export async function readAgentFiles(folder: string): Promise<IdentifiedFile[]> {
  const entries = await listEntries(folder)
  const files = await Promise.all(entries.map((entry) => readAgentFile(folder, entry)))
  const present = files.filter((file) => file !== undefined)
  return identify(refuseTwins(present)).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * Returns the file of one agent, or undefined. Reads other files only when one of them may have the same name
 * or id.
 */
export async function findAgentFile(folder: string, name: string): Promise<IdentifiedFile | undefined> {
  const entries = await listEntries(folder)
  const entry = entries.find((one) => toAgentName(one) === name)
  if (entry === undefined) return undefined
  const isAlone = entries.filter((one) => foldName(toAgentName(one)) === foldName(name)).length === 1
  const file = isAlone ? await readAgentFile(folder, entry) : undefined
  const id = file && readStatedId(file)
  if (file && id !== undefined && isMadeFor(id, name)) return { ...file, id, isNewId: false }
  return (await readAgentFiles(folder)).find((one) => one.name === name)
}

/**
 * Returns the agent that a file describes, or all of its problems. Invalid servers are left out of the agent
 * and listed in `invalidMcps`.
 */
export async function toAgent(file: IdentifiedFile): Promise<Result<AgentConfig>> {
  if (!file.document.ok) return file.document
  const prompt = await readPrompt(file.promptPath)
  const table = checkStoredAgent(file.document.value.table)
  if (!table.ok || !prompt.ok) {
    const problems = table.ok ? [] : toFileIssues(file.document.value, table.problems)
    return { ok: false, problems: [...problems, ...(prompt.ok ? [] : prompt.problems)] }
  }
  const { agent, invalid } = table.value
  const { value: document } = file.document
  const invalidMcps = invalid.map((one) => ({ ...one, problems: toFileIssues(document, one.problems) }))
  const value = { ...agent, id: file.id, name: file.name, prompt: prompt.value }
  return { ok: true, value: invalidMcps.length > 0 ? { ...value, invalidMcps } : value }
}

/** Returns all problems of an agent file, also those of servers that the agent is used without. */
export function listFileProblems(outcome: Result<AgentConfig>): readonly FileIssue[] {
  if (!outcome.ok) return outcome.problems
  return (outcome.value.invalidMcps ?? []).flatMap(({ problems }) => problems)
}

/** Reads a prompt without its last newline; empty when there is no file. */
export async function readPrompt(path: string): Promise<Result<string>> {
  try {
    return { ok: true, value: (await readFile(path, 'utf8')).replace(/\r?\n$/, '') }
  } catch (reason) {
    return isMissingFile(reason) ? { ok: true, value: '' } : unreadable(path, reason)
  }
}

/** Returns the name of an agent file in problem reports. */
function agentLabel(path: string): string {
  return `agents/${basename(path)}`
}

async function readAgentFile(folder: string, entry: Dirent): Promise<AgentFile | undefined> {
  const path = join(folder, entry.name)
  const name = toAgentName(entry)
  const base = { name, path, promptPath: path.slice(0, -SUFFIX.length).concat('.md') }
  try {
    const [text, { birthtimeMs, mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    const wrong = nameProblem(name)
    const document = wrong === undefined ? parseToml(agentLabel(path), text) : refusal(path, wrong)
    return { ...base, document, bornMs: birthtimeMs || mtimeMs, changedMs: mtimeMs }
  } catch (reason) {
    if (isMissingFile(reason) && !entry.isSymbolicLink()) return undefined // deleted since the listing
    return { ...base, document: unreadable(path, reason), bornMs: 0, changedMs: 0 }
  }
}

/** Refuses all but the oldest of the files whose names fold to the same name (ADR 0024). */
function refuseTwins(files: readonly AgentFile[]): AgentFile[] {
  const owners = new Map(
    files
      .toSorted(byAge)
      .toReversed()
      .map((file) => [foldName(file.name), file]),
  )
  return files.map((file) => {
    const owner = owners.get(foldName(file.name)) ?? file
    if (owner === file) return file
    return { ...file, document: refusal(file.path, `the name is taken by ${agentLabel(owner.path)}`) }
  })
}

/**
 * Assigns ids. When several files state the same id, one of them keeps it; the others, and files without an
 * id, get a derived one.
 */
function identify(files: readonly AgentFile[]): IdentifiedFile[] {
  const oldestFirst = files.toSorted(byAge)
  return files.map((file) => {
    const id = readStatedId(file)
    if (id !== undefined && findOwner(id, oldestFirst) === file) return { ...file, id, isNewId: false }
    return { ...file, id: derivedAgentId(file.name, file.changedMs), isNewId: true }
  })
}

/** Returns the file for whose name the id was generated, else the oldest file that states it. */
function findOwner(id: string, oldestFirst: readonly AgentFile[]): AgentFile | undefined {
  const claimants = oldestFirst.filter((file) => readStatedId(file) === id)
  return claimants.find((file) => isMadeFor(id, file.name)) ?? claimants[0]
}

function readStatedId({ document }: AgentFile): string | undefined {
  const id = document.ok ? document.value.table['id'] : undefined
  return isAgentId(id) ? id : undefined
}

function byAge(a: AgentFile, b: AgentFile): number {
  return a.bornMs - b.bornMs || (a.name < b.name ? -1 : 1)
}

function toAgentName(entry: Dirent): string {
  return basename(entry.name, SUFFIX).normalize('NFC')
}

async function listEntries(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter(({ name }) => name.endsWith(SUFFIX) && !name.startsWith('.'))
  } catch (reason) {
    if (isMissingFile(reason)) return []
    throw toStorageError(`Cannot read ${folder}`, reason)
  }
}

function unreadable(path: string, reason: unknown): { ok: false; problems: FileIssue[] } {
  const { message, hint } = toStorageError('cannot be read', reason)
  return refusal(path, message, hint)
}

function refusal(path: string, message: string, hint?: string): { ok: false; problems: FileIssue[] } {
  const file = agentLabel(path)
  return { ok: false, problems: [{ file, line: 1, column: undefined, key: '', message, hint }] }
}

const SUFFIX = '.toml'
