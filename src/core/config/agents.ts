import { readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../base/errors.ts'
import { createFile, replaceFile, syncDir, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import {
  findAgentFile,
  type IdentifiedFile,
  listFileProblems,
  readAgentFiles,
  readPrompt,
  toAgent,
} from './agent-files.ts'
import { isNilId, newAgentId } from './agent-id.ts'
import {
  type AgentConfig,
  checkAgent,
  foldName,
  getEntryIndex,
  listEntryIndexes,
  nameProblem,
} from './agent-schema.ts'
import {
  createDefault,
  foreignPrompt,
  lacksId,
  missingAgent,
  replaceLinked,
  takenName,
  toPromptFile,
  writeId,
} from './agent-writes.ts'
import { defaultAgent } from './default-agent.ts'
import { DEFAULT_AGENT } from './default-name.ts'
import { entryRules } from './entry-rules.ts'
import { withoutEmptyKeys, withoutLegacyKeys } from './legacy.ts'
import { mergePatch } from './merge-patch.ts'
import type { HomePaths } from './paths.ts'
import { type PermissionRule, toRules } from './permissions.ts'
import { type RuleProblem, readRule } from './rule-syntax.ts'
import { restoreSecrets } from './secrets.ts'
import type { TomlDocument } from './toml.ts'
import { appendToList } from './toml-append.ts'
import { editToml } from './toml-edit.ts'
import { isTableList, renderToml } from './toml-render.ts'
import {
  configError,
  type FileIssue,
  formatLocation,
  inputError,
  type KeyPath,
  type ValidationIssue,
} from './validation-issue.ts'

/** The dependencies of an AgentStore. */
interface AgentStoreOptions {
  paths: Pick<HomePaths, 'agents'>
  /** Acquires the lock on agent files, across processes. It is held for a few file operations. */
  lock(resource: string): Promise<AsyncDisposable>
}

/** Builds a JSON merge patch from the content of an agent's file. */
type PatchMaker = (stored: JsonObject) => JsonObject

/** The result of listing the agents. */
interface AgentListing {
  /** The valid agents, ordered by name. */
  agents: AgentConfig[]
  /** The problems of the other files, and of servers that an agent is used without. */
  problems: FileIssue[]
}

/**
 * The agents of a home: `agents/<name>.toml` and the prompt in `<name>.md` (ADR 0024).
 *
 * Nothing is cached: each call reads the disk. A change is durable when its promise resolves. Throws
 * `missing`, `conflict` for a taken name, `invalid` for bad client input, `config` for a bad file, and
 * `storage` for disk failures.
 */
export class AgentStore {
  readonly #folder: string
  readonly #lock: AgentStoreOptions['lock']

  constructor({ paths, lock }: AgentStoreOptions) {
    this.#folder = paths.agents
    this.#lock = lock
  }

  /** Returns every valid agent on disk, and the problems of the other files. */
  async list(): Promise<AgentListing> {
    const listing: AgentListing = { agents: [], problems: [] }
    for (const outcome of await Promise.all((await this.#identified()).map(toAgent))) {
      if (outcome.ok) listing.agents.push(outcome.value)
      listing.problems.push(...listFileProblems(outcome))
    }
    return listing
  }

  /**
   * Returns one agent. The default agent is created on first use.
   *
   * `create: false` writes nothing: neither that agent nor an id that a file lacks.
   */
  async get(name: string, { create = true }: { create?: boolean } = {}): Promise<AgentConfig> {
    const namedFile = await findAgentFile(this.#folder, name.normalize('NFC'))
    if (namedFile?.isNewId === false) return await requireAgent(namedFile)
    const files = create ? await this.#identified() : await readAgentFiles(this.#folder)
    const file = findFile(files, name)
    if (file !== undefined) return await requireAgent(file)
    const isFree = files.every((one) => foldName(one.name) !== DEFAULT_AGENT)
    if (name !== DEFAULT_AGENT || !isFree) throw missingAgent(name, files)
    if (!create) return defaultAgent()
    await createDefault(this.#folder)
    return await this.get(name)
  }

  /**
   * Returns the locations of keys in an agent's file, such as `agents/crab.toml:7`; empty texts when the file
   * is missing or unreadable.
   */
  async locateKeys(name: string, paths: readonly KeyPath[]): Promise<string[]> {
    const file = await findAgentFile(this.#folder, name.normalize('NFC'))
    if (!file?.document.ok) return paths.map(() => '')
    const { value } = file.document
    return paths.map((path) => locateKey(value, path))
  }

  /** Returns an agent's id, even when its file is invalid. Writes nothing. */
  async idOf(name: string): Promise<string> {
    const file = await findAgentFile(this.#folder, name.normalize('NFC'))
    return file?.id ?? (await this.get(name, { create: false })).id
  }

  /**
   * Creates an agent with a new id; an `id` in the config is ignored.
   *
   * When the prompt is empty, an existing prompt file becomes the agent's prompt.
   */
  async create(name: string, config: JsonObject, prompt: string): Promise<AgentConfig> {
    const what = `Cannot create the agent "${name}"`
    const { lost } = restoreSecrets(config['mcps'], [])
    const table = validateAgentTable(
      what,
      { id: newAgentId(name), ...mergePatch({}, { ...config, id: null }) },
      lost,
    )
    await using _ = await this.#locked()
    const path = this.#freePath(what, name, await readAgentFiles(this.#folder))
    const writePrompt = prompt === '' ? createFile : replaceFile
    await writePrompt(`${path}.md`, toPromptFile(prompt))
    if (!(await createFile(`${path}.toml`, renderToml(table)))) throw takenName(what)
    return await this.get(name, { create: false })
  }

  /**
   * Applies a JSON merge patch to an agent's file, and replaces the prompt if one is given.
   *
   * Parts of the file whose meaning stays the same keep their text. REDACTED keeps a stored secret. A
   * function builds the patch from the current content while the lock is held; what it throws is passed on.
   */
  async update(name: string, change: JsonObject | PatchMaker, prompt?: string): Promise<AgentConfig> {
    await this.get(name)
    await using _ = await this.#locked()
    const { file, agent, document } = await this.#valid(name)
    const what = `Cannot change the agent "${file.name}"`
    const patch = typeof change === 'function' ? change(document.table) : change
    const { id = file.id } = patch
    if (id !== file.id && !isNilId(id)) {
      throw inputError(what, [{ path: ['id'], message: '"id" never changes' }])
    }
    const { text, table } = document
    const { mcps, lost } = restoreSecrets(patch['mcps'], table['mcps'])
    const whole = { ...patch, ...('mcps' in patch && { mcps }), id: file.id }
    const known = (agent.invalidMcps ?? []).map(({ index }) => (table['mcps'] as unknown[])[index])
    const after = validateAgentTable(what, mergePatch(table, whole), lost, known)
    if (prompt !== undefined) await replaceLinked(file.promptPath, toPromptFile(prompt))
    const changed = editToml(text, table, after)
    if (changed !== text) await replaceLinked(file.path, changed)
    return await this.get(name, { create: false })
  }

  /**
   * Renames an agent. Its id stays, and with it its conversations. Never replaces a prompt of another agent
   * at the new name.
   */
  async rename(name: string, newName: string): Promise<AgentConfig> {
    const what = `Cannot rename the agent "${name}"`
    await this.get(name)
    await using _ = await this.#locked()
    const { file, agent } = await this.#valid(name)
    const others = (await readAgentFiles(this.#folder)).filter((one) => one.path !== file.path)
    const path = this.#freePath(what, newName, others)
    if (`${path}.toml` === file.path) return agent
    const existingPrompt = await readPrompt(`${path}.md`) // an equal text is from an interrupted rename
    if (!existingPrompt.ok || !['', agent.prompt].includes(existingPrompt.value))
      throw foreignPrompt(what, path)
    // The prompt is in both places while the file is renamed, so a crash leaves the agent complete.
    await replaceFile(`${path}.md`, toPromptFile(agent.prompt))
    await this.#changeFolder(what, async () => {
      await rename(file.path, `${path}.toml`)
      // The listing has only one entry if the file system ignores case and the names differ in case only.
      const names = await readdir(this.#folder)
      const isCopy = names.includes(basename(file.promptPath)) && names.includes(`${basename(path)}.md`)
      if (isCopy) await rm(file.promptPath)
    })
    return await this.get(newName, { create: false })
  }

  /**
   * Returns the permission rules of an agent's file, then those of its MCP entries, each with its location.
   * Writes nothing. Without a file the result is empty.
   */
  async rules(name: string): Promise<PermissionRule[]> {
    const namedFile = await findAgentFile(this.#folder, name.normalize('NFC'))
    const agent =
      namedFile === undefined ? await this.get(name, { create: false }) : await requireAgent(namedFile)
    if (!namedFile?.document.ok) return []
    const { value } = namedFile.document
    const indexes = listEntryIndexes(agent)
    const entryRuleList = agent.mcps.flatMap((entry, i) =>
      entryRules(entry, (path) => locateKey(value, ['mcps', indexes[i]!, ...path])),
    )
    return [...toRules(agent.permissions, (path) => locateKey(value, path)), ...entryRuleList]
  }

  /**
   * Adds a rule to a list of `permissions`, by default `allow`, unless it is there already. Throws `invalid` for an
   * invalid rule.
   */
  async addRule(name: string, rule: string, effect: PermissionRule['effect'] = 'allow'): Promise<void> {
    const what = `Cannot add a rule to the agent "${name}"`
    const reading = readRule(rule)
    if (!reading.ok) throw inputError(what, [toRuleIssue(reading.problem)])
    await this.get(name)
    await using _ = await this.#locked()
    const { file, agent, document } = await this.#valid(name)
    const isThere = agent.permissions?.[effect]?.some((one) => one.normalize('NFC') === rule.normalize('NFC'))
    if (!isThere) await replaceLinked(file.path, appendToList(document.text, ['permissions', effect], rule))
  }

  /**
   * Deletes an agent's two files; conversations and memory stay. The default agent is recreated on its next
   * use.
   */
  async delete(name: string): Promise<void> {
    await using _ = await this.#locked()
    const files = await readAgentFiles(this.#folder)
    const file = findFile(files, name)
    if (file === undefined) throw missingAgent(name, files)
    await this.#changeFolder(`Cannot delete the agent "${name}"`, async () => {
      await rm(file.path)
      await rm(file.promptPath, { force: true })
    })
  }

  /** Reads the files, and writes missing ids where possible. */
  async #identified(): Promise<IdentifiedFile[]> {
    const files = await readAgentFiles(this.#folder)
    if (!files.some(lacksId)) return files
    try {
      await using _ = await this.#locked()
      const now = await readAgentFiles(this.#folder)
      for (const file of now.filter(lacksId)) await writeId(file)
      return now
    } catch (reason) {
      if (isUnwritable(reason)) return files // derived ids are stable until they can be written
      throw reason
    }
  }

  async #valid(name: string): Promise<{ file: IdentifiedFile; agent: AgentConfig; document: TomlDocument }> {
    const files = await readAgentFiles(this.#folder)
    const file = findFile(files, name)
    if (file === undefined) throw missingAgent(name, files)
    const agent = await requireAgent(file)
    if (!file.document.ok) throw configError(file.document.problems)
    return { file, agent, document: file.document.value }
  }

  /** Returns the path, without suffix, for a valid and free name. */
  #freePath(what: string, name: string, others: readonly IdentifiedFile[]): string {
    const wrong = nameProblem(name)
    if (wrong !== undefined) throw new CrabError('invalid', `${what}: ${wrong}`)
    if (others.some((file) => foldName(file.name) === foldName(name))) throw takenName(what)
    return join(this.#folder, name.normalize('NFC'))
  }

  async #changeFolder(what: string, change: () => Promise<void>): Promise<void> {
    try {
      await change()
      await syncDir(this.#folder)
    } catch (reason) {
      throw toStorageError(what, reason)
    }
  }

  #locked(): Promise<AsyncDisposable> {
    return this.#lock(`file:${this.#folder}`)
  }
}

function locateKey({ file, lineOf }: TomlDocument, path: KeyPath): string {
  return formatLocation({ file, line: lineOf(path), column: undefined })
}

function toRuleIssue({ predicate, example }: RuleProblem): ValidationIssue {
  return { path: [], message: `the rule ${predicate}`, hint: `for example ${example}` }
}

function findFile(files: readonly IdentifiedFile[], name: string): IdentifiedFile | undefined {
  return files.find((file) => file.name === name.normalize('NFC'))
}

async function requireAgent(file: IdentifiedFile): Promise<AgentConfig> {
  const outcome = await toAgent(file)
  if (outcome.ok) return outcome.value
  throw configError(outcome.problems)
}

/**
 * Validates a configuration before it is stored, including that no secret was lost. Removes empty settings.
 * `known` are invalid servers of the file: they may stay as they are.
 */
function validateAgentTable(
  what: string,
  config: JsonObject,
  lost: readonly ValidationIssue[],
  known: readonly unknown[] = [],
): JsonObject {
  const table = withoutEmptyKeys(withoutLegacyKeys(config))
  const outcome = checkAgent(table)
  const entries: unknown[] = Array.isArray(table['mcps']) ? table['mcps'] : []
  const isKnown = (issue: ValidationIssue) =>
    known.some((entry) => isDeepStrictEqual(toPlainJson(entry), toPlainJson(entries[getEntryIndex(issue)])))
  const found = outcome.ok ? [] : outcome.problems.filter((issue) => !isKnown(issue))
  const issues = [...found, ...lost]
  if (issues.length > 0) throw inputError(what, issues)
  const { mcps, ...rest } = table
  return isTableList(mcps) ? { ...rest, mcps } : rest
}

/** Copies a value without the prototypes that the parser of the file gives to tables. */
function toPlainJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function isUnwritable(reason: unknown): boolean {
  return reason instanceof CrabError && (reason.kind === 'storage' || reason.kind === 'unavailable')
}
