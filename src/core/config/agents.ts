import { readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CrabError } from '../base/errors.ts'
import { createFile, replaceFile, syncDir, toStorageError } from '../base/files.ts'
import type { JsonObject } from '../base/message.ts'
import { foreignPrompt, missingAgent, takenName } from './agent-errors.ts'
import { findAgentFile, type IdentifiedFile, readAgentFiles, readPrompt, toAgent } from './agent-files.ts'
import { isNilId, newAgentId } from './agent-id.ts'
import { type AgentConfig, checkAgent, foldName, nameProblem } from './agent-schema.ts'
import { createDefault, lacksId, replaceLinked, toPromptFile, writeId } from './agent-writes.ts'
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

/** What an AgentStore is made of. */
interface AgentStoreOptions {
  paths: Pick<HomePaths, 'agents'>
  /** Takes the right to change agent files, across processes; held for a few file operations. */
  lock(resource: string): Promise<AsyncDisposable>
}

/** Makes a JSON merge patch from what an agent's file says. */
type PatchMaker = (stored: JsonObject) => JsonObject

/** What a listing found. */
interface AgentListing {
  /** In the order of their names. */
  agents: AgentConfig[]
  problems: FileIssue[]
}

/**
 * The agents of a home: `agents/<name>.toml` and the prompt in `<name>.md` (decision 35).
 *
 * Nothing is cached: each call sees what is on disk. A change is durable when its promise resolves.
 * Failures: `missing`, `conflict` for a taken name, `invalid` for what a client sent, `config` for what a file says,
 * `storage` for the disk.
 */
export class AgentStore {
  readonly #folder: string
  readonly #lock: AgentStoreOptions['lock']

  constructor({ paths, lock }: AgentStoreOptions) {
    this.#folder = paths.agents
    this.#lock = lock
  }

  /** Every agent on disk, and what is wrong with the files that are none. */
  async list(): Promise<AgentListing> {
    const listing: AgentListing = { agents: [], problems: [] }
    for (const outcome of await Promise.all((await this.#identified()).map(toAgent))) {
      if (outcome.ok) listing.agents.push(outcome.value)
      else listing.problems.push(...outcome.problems)
    }
    return listing
  }

  /**
   * One agent. The default agent is created on first use.
   *
   * `create: false` writes nothing at all: neither that agent nor an id that a file lacks.
   */
  async get(name: string, { create = true }: { create?: boolean } = {}): Promise<AgentConfig> {
    const known = await findAgentFile(this.#folder, name.normalize('NFC'))
    if (known?.isNewId === false) return await requireAgent(known)
    const files = create ? await this.#identified() : await readAgentFiles(this.#folder)
    const file = find(files, name)
    if (file !== undefined) return await requireAgent(file)
    const isFree = files.every((one) => foldName(one.name) !== DEFAULT_AGENT)
    if (name !== DEFAULT_AGENT || !isFree) throw missingAgent(name, files)
    if (!create) return defaultAgent()
    await createDefault(this.#folder)
    return await this.get(name)
  }

  /** Where keys of an agent's file stand, each as `agents/crab.toml:7`; empty while there is no file that can be read. */
  async locateKeys(name: string, paths: readonly KeyPath[]): Promise<string[]> {
    const file = await findAgentFile(this.#folder, name.normalize('NFC'))
    if (!file?.document.ok) return paths.map(() => '')
    const { value } = file.document
    return paths.map((path) => placeIn(value, path))
  }

  /** An agent's id, also of one whose file cannot be used; writes nothing. */
  async idOf(name: string): Promise<string> {
    const file = await findAgentFile(this.#folder, name.normalize('NFC'))
    return file?.id ?? (await this.get(name, { create: false })).id
  }

  /**
   * Writes a new agent and gives it a fresh id; an `id` in the config is ignored.
   *
   * Without a prompt one that lies there already is the agent's.
   */
  async create(name: string, config: JsonObject, prompt: string): Promise<AgentConfig> {
    const what = `Cannot create the agent "${name}"`
    const { lost } = restoreSecrets(config['mcps'], [])
    const table = checked(what, { id: newAgentId(name), ...mergePatch({}, { ...config, id: null }) }, lost)
    await using _ = await this.#locked()
    const path = this.#freePath(what, name, await readAgentFiles(this.#folder))
    const writePrompt = prompt === '' ? createFile : replaceFile
    await writePrompt(`${path}.md`, toPromptFile(prompt))
    if (!(await createFile(`${path}.toml`, renderToml(table)))) throw takenName(what)
    return await this.get(name, { create: false })
  }

  /**
   * Applies a JSON merge patch to what the file says, and replaces the prompt if one is given.
   *
   * The text of the file changes only where its meaning does. REDACTED keeps a stored secret. A function makes the
   * patch from what the file says while nobody else changes it; what it throws is passed on.
   */
  async update(name: string, change: JsonObject | PatchMaker, prompt?: string): Promise<AgentConfig> {
    await this.get(name)
    await using _ = await this.#locked()
    const { file, document } = await this.#valid(name)
    const what = `Cannot change the agent "${file.name}"`
    const patch = typeof change === 'function' ? change(document.table) : change
    const { id = file.id } = patch
    if (id !== file.id && !isNilId(id)) {
      throw inputError(what, [{ path: ['id'], message: '"id" never changes' }])
    }
    const { text, table } = document
    const { mcps, lost } = restoreSecrets(patch['mcps'], table['mcps'])
    const whole = { ...patch, ...('mcps' in patch && { mcps }), id: file.id }
    const after = checked(what, mergePatch(table, whole), lost)
    if (prompt !== undefined) await replaceLinked(file.promptPath, toPromptFile(prompt))
    const changed = editToml(text, table, after)
    if (changed !== text) await replaceLinked(file.path, changed)
    return await this.get(name, { create: false })
  }

  /** Gives an agent another name; its id, and so its conversations, stay. A prompt that lies there is never replaced. */
  async rename(name: string, newName: string): Promise<AgentConfig> {
    const what = `Cannot rename the agent "${name}"`
    await this.get(name)
    await using _ = await this.#locked()
    const { file, agent } = await this.#valid(name)
    const others = (await readAgentFiles(this.#folder)).filter((one) => one.path !== file.path)
    const path = this.#freePath(what, newName, others)
    if (`${path}.toml` === file.path) return agent
    const lying = await readPrompt(`${path}.md`) // the same text: a rename that was cut off
    if (!lying.ok || !['', agent.prompt].includes(lying.value)) throw foreignPrompt(what, path)
    // A crash leaves the agent whole: while the name moves, the prompt is in both places.
    await replaceFile(`${path}.md`, toPromptFile(agent.prompt))
    await this.#changeFolder(what, async () => {
      await rename(file.path, `${path}.toml`)
      const names = await readdir(this.#folder) // one name where upper and lower case are the same file
      const isCopy = names.includes(basename(file.promptPath)) && names.includes(`${basename(path)}.md`)
      if (isCopy) await rm(file.promptPath)
    })
    return await this.get(newName, { create: false })
  }

  /**
   * The permission rules of an agent's file, then those of its MCP entries, with the lines they stand in. Writes nothing;
   * without a file there are none.
   */
  async rules(name: string): Promise<PermissionRule[]> {
    const known = await findAgentFile(this.#folder, name.normalize('NFC'))
    const agent = known === undefined ? await this.get(name, { create: false }) : await requireAgent(known)
    if (!known?.document.ok) return []
    const { value } = known.document
    const ofEntries = agent.mcps.flatMap((entry, i) =>
      entryRules(entry, (path) => placeIn(value, ['mcps', i, ...path])),
    )
    return [...toRules(agent.permissions, (path) => placeIn(value, path)), ...ofEntries]
  }

  /** Adds a rule to those that allow something, unless it is there. Fails with `invalid` for what is no rule. */
  async addRule(name: string, rule: string): Promise<void> {
    const what = `Cannot add a rule to the agent "${name}"`
    const reading = readRule(rule)
    if (!reading.ok) throw inputError(what, [toFinding(reading.problem)])
    await this.get(name)
    await using _ = await this.#locked()
    const { file, agent, document } = await this.#valid(name)
    const isThere = agent.permissions?.allow?.some((one) => one.normalize('NFC') === rule.normalize('NFC'))
    if (!isThere) await replaceLinked(file.path, appendToList(document.text, ['permissions', 'allow'], rule))
  }

  /** Removes an agent's two files; conversations and memory stay. The default agent comes back when it is used. */
  async delete(name: string): Promise<void> {
    await using _ = await this.#locked()
    const files = await readAgentFiles(this.#folder)
    const file = find(files, name)
    if (file === undefined) throw missingAgent(name, files)
    await this.#changeFolder(`Cannot delete the agent "${name}"`, async () => {
      await rm(file.path)
      await rm(file.promptPath, { force: true })
    })
  }

  /** The files, each with its id written down where that can be done. */
  async #identified(): Promise<IdentifiedFile[]> {
    const files = await readAgentFiles(this.#folder)
    if (!files.some(lacksId)) return files
    try {
      await using _ = await this.#locked()
      const now = await readAgentFiles(this.#folder)
      for (const file of now.filter(lacksId)) await writeId(file)
      return now
    } catch (reason) {
      if (isUnwritable(reason)) return files // derived ids stay the same until they can be written
      throw reason
    }
  }

  async #valid(name: string): Promise<{ file: IdentifiedFile; agent: AgentConfig; document: TomlDocument }> {
    const files = await readAgentFiles(this.#folder)
    const file = find(files, name)
    if (file === undefined) throw missingAgent(name, files)
    const agent = await requireAgent(file)
    if (!file.document.ok) throw configError(file.document.problems)
    return { file, agent, document: file.document.value }
  }

  /** The path, without its suffix, of a name that is well-formed and free. */
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

function placeIn({ file, lineOf }: TomlDocument, path: KeyPath): string {
  return formatLocation({ file, line: lineOf(path), column: undefined })
}

function toFinding({ predicate, example }: RuleProblem): ValidationIssue {
  return { path: [], message: `the rule ${predicate}`, hint: `for example ${example}` }
}

function find(files: readonly IdentifiedFile[], name: string): IdentifiedFile | undefined {
  return files.find((file) => file.name === name.normalize('NFC'))
}

async function requireAgent(file: IdentifiedFile): Promise<AgentConfig> {
  const outcome = await toAgent(file)
  if (outcome.ok) return outcome.value
  throw configError(outcome.problems)
}

/** Checks a configuration that will be stored: it must not have `lost` anything. Empty settings are left out. */
function checked(what: string, config: JsonObject, lost: readonly ValidationIssue[]): JsonObject {
  const table = withoutEmptyKeys(withoutLegacyKeys(config))
  const outcome = checkAgent(table)
  const findings = [...(outcome.ok ? [] : outcome.problems), ...lost]
  if (findings.length > 0) throw inputError(what, findings)
  const { mcps, ...rest } = table
  return isTableList(mcps) ? { ...rest, mcps } : rest
}

function isUnwritable(reason: unknown): boolean {
  return reason instanceof CrabError && (reason.kind === 'storage' || reason.kind === 'unavailable')
}
