import { isAbsolute, resolve } from 'node:path'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { findSecrets } from '../../core/base/secrets/redact.ts'
import {
  formatVaultWord,
  isVaultHelper,
  listTemplateNames,
  parseVaultWord,
  toPlainTemplate,
} from '../../core/base/secrets/vault-words.ts'
import { type McpEntry, mcpEntry } from '../../core/config/mcp-entry.ts'
import { checkValue } from '../../core/config/schema.ts'
import { findUnfilledValues } from '../../core/config/unfilled-values.ts'
import { formatPath } from '../../core/config/validation-issue.ts'
import type { CredentialSource } from '../credentials/types.ts'
import type { ForeignServer } from './foreign-entry.ts'
import { ImportedValues, type ValueSources } from './imported-values.ts'
import { describeSuccessor } from './superseded.ts'

/** A server as it is stored: without secrets, which move into the vault. */
export interface ImportedServer {
  entry: McpEntry
  /** The values that move into the vault, by name. */
  secrets: Record<string, string>
  /** The credentials that its helper prints and that exist already, with words for their sources. */
  found: { name: string; source: string }[]
  /** The credentials that are stored nowhere yet. */
  missing: string[]
  /** Sentences without a full stop, never with a value. */
  notices: string[]
}

/** Facts about a server that are not in its text. */
export interface ImportContext extends Omit<ValueSources, 'server'> {
  /** The program the server comes from. */
  origin: string
  /** Whether the file belongs to `folder`, so that relative paths start there. */
  isProject: boolean
  /** Whether the entry is stored where `${NAME}` in arguments and the address is filled in: in a mcp.toml. */
  isExpanded?: boolean
  /** The variables of the file that the entry names. */
  fileVariables?: Readonly<Record<string, string>>
}

/** Converts a foreign server to an entry. Returns the reason, without a value, when it is not a valid one. */
export async function toImportedServer(
  { name, table, notices }: ForeignServer,
  context: ImportContext,
): Promise<ImportedServer | { problem: string }> {
  const values = new ImportedValues({ ...context, server: name })
  const draft: Draft = { name, table, context, values, notices: [...notices], canonical: {} }
  if (usesOpenFolder(table) && !context.isProject)
    draft.notices.push(`the folder that is open in the other program is ${context.folder} here`)
  const server = table['url'] === undefined ? await toProgram(draft) : await toRemote(draft)
  const { canonical } = draft
  const origin = { import: context.origin, ...(Object.keys(canonical).length > 0 && { canonical }) }
  const entry = { name, ...server, ...(!context.isExpanded && { origin }) }
  const outcome = checkValue(mcpEntry, entry)
  if (!outcome.ok) return { problem: outcome.problems.map(({ message }) => message).join('; ') }
  return {
    entry: outcome.value,
    secrets: values.secrets,
    found: [...values.found]
      .filter(([name]) => context.isExpanded || isPrinted(outcome.value, name))
      .map(([name, source]) => ({ name, source: toPlace(source) })),
    missing: values.missing,
    notices: [
      ...describeDefaults(values.defaulted),
      ...draft.notices,
      ...describeEntry(outcome.value, context),
    ],
  }
}

function describeDefaults([first, ...others]: readonly string[]): string[] {
  if (first === undefined) return []
  const names = [first, ...others].join(', ')
  return [
    others.length === 0
      ? `${names} is not set: its default is used until crabtalk vault set ${first}`
      : `${names} are not set: their defaults are used until crabtalk vault set ${first}`,
  ]
}

/** Whether the helper of an entry prints a credential. */
function isPrinted({ env_helper: env = [], auth_helper: auth = [] }: McpEntry, name: string): boolean {
  return [...env, ...auth].some((word) =>
    listTemplateNames(parseVaultWord(word).template).some((one) => one.name === name),
  )
}

function toPlace(source: CredentialSource): string {
  return source.kind === 'env-file' ? `${source.path}:${source.line}` : `the ${source.kind}`
}

/** A server that is being converted. */
interface Draft extends Pick<ForeignServer, 'name' | 'table' | 'notices'> {
  context: ImportContext
  values: ImportedValues
  /** The texts with placeholders, by their paths in the entry. */
  canonical: Record<string, string>
}

async function toProgram(draft: Draft): Promise<JsonObject> {
  const { table, context, notices } = draft
  const { command, args, env, cwd, env_helper: ownHelper, ...rest } = table
  const [words, variables] = splitContainerVariables(
    [command, ...(Array.isArray(args) ? args : [])].filter((word) => typeof word === 'string'),
  )
  const takesVariables = words.some((word) => /^mcp-remote(?:@|$)/.test(word))
  const [program = '', ...rawArgs] = words
  const line = await toLiteralWords(draft, [program, ...rawArgs], takesVariables)
  const texts = { ...context.fileVariables, ...(isObject(env) ? env : {}), ...variables }
  const { literals, credentials } = await convertTable(draft, 'env', texts)
  const helper = [...credentials, ...line.helped].map(({ key, template }) => formatVaultWord(key, template))
  const isForeignHelper = Array.isArray(ownHelper) && !isVaultHelper(ownHelper, 'env')
  if (isForeignHelper && helper.length > 0)
    notices.push(`the variables ${helper.join(', ')} are left out: an entry has one "env_helper"`)
  const folder = toFolder(draft, cwd, words)
  return {
    ...(typeof command === 'string' && { command: toProgramPath(line.words[0]!, context) }),
    ...(rawArgs.length > 0 && { args: line.words.slice(1) }),
    ...(Object.keys(literals).length > 0 && { env: literals }),
    ...(isForeignHelper
      ? { env_helper: ownHelper }
      : helper.length > 0 && { env_helper: ['crabtalk', 'vault', 'env', ...helper] }),
    ...(folder !== undefined && { cwd: folder }),
    ...rest,
    ...(line.isBlocked && { disabled: true }),
    ...(command !== undefined && typeof command !== 'string' && { command }),
  }
}

async function toRemote(draft: Draft): Promise<JsonObject> {
  const { table, notices } = draft
  const { url, headers, auth, auth_helper: ownHelper, ...rest } = table
  const texts = {
    ...(isObject(headers) ? headers : {}),
    ...(typeof auth === 'string' && { Authorization: `Bearer ${auth}` }),
  }
  const line = typeof url === 'string' ? await toLiteralWords(draft, [url], false) : undefined
  const { literals, credentials } = await convertTable(draft, 'headers', texts)
  if (ownHelper !== undefined && credentials.length > 0)
    notices.push(
      `the headers ${credentials.map(({ key }) => key).join(', ')} are left out: an entry has one "auth_helper"`,
    )
  const helper = toHeaderHelper(credentials)
  return {
    url: line?.words[0] ?? url,
    ...(Object.keys(literals).length > 0 && { headers: literals }),
    ...(ownHelper !== undefined
      ? { auth_helper: ownHelper }
      : helper.length > 0 && { auth_helper: ['crabtalk', 'vault', 'header', ...helper] }),
    ...rest,
    ...(line?.isBlocked && { disabled: true }),
  }
}

/** A value that a helper prints. */
interface HelperValue {
  key: string
  template: string
}

/** Converts all values of `env` or `headers`. */
async function convertTable(
  { name, values, canonical }: Draft,
  table: 'env' | 'headers',
  texts: JsonObject,
): Promise<{ literals: JsonObject; credentials: HelperValue[] }> {
  const literals: JsonObject = {}
  const credentials: HelperValue[] = []
  for (const [key, text] of Object.entries(texts)) {
    if (typeof text !== 'string') {
      literals[key] = text // validation reports it
      continue
    }
    const credential = table === 'env' ? key : toVariable(name, /^authorization$/i.test(key) ? 'TOKEN' : key)
    const value = await values.convert(text, { key, wanted: credential, hasScheme: table === 'headers' })
    const path = formatPath([table, key])
    if ('literal' in value) {
      literals[key] = value.literal
      if (value.literal !== text && !/:-/.test(text)) canonical[path] = text
      continue
    }
    credentials.push({ key, template: value.template })
    canonical[path] = toPlainTemplate(value.template)
  }
  return { literals, credentials }
}

function toHeaderHelper(credentials: readonly HelperValue[]): string[] {
  const words = credentials.map(({ key, template }) => formatVaultWord(key, template))
  const token = words.length === 1 ? /^authorization=bearer ([^ $]+)$/i.exec(words[0]!)?.[1] : undefined
  return token === undefined ? words : [token]
}

/**
 * Converts words that are stored literally. Their secrets go into the vault; the words keep `${NAME}`, which
 * nothing expands, so the server must be disabled (`isBlocked`), unless its program expands variables itself.
 */
async function toLiteralWords(
  { name, values, notices, canonical, table, context }: Draft,
  words: readonly string[],
  expandsItself: boolean,
): Promise<{ words: string[]; helped: HelperValue[]; isBlocked: boolean }> {
  const isUrl = table['url'] !== undefined
  const toPath = (i: number) => formatPath(isUrl ? ['url'] : i === 0 ? ['command'] : ['args', i - 1])
  const helped = new Map<string, string>()
  const expanded: string[] = []
  for (const [i, word] of words.entries()) {
    const one = context.isExpanded
      ? { text: await values.keepWord(word), left: [] }
      : await values.expandWord(word)
    expanded.push(one.text)
    for (const variable of one.left) helped.set(variable, variable)
    if (one.text === word || one.left.length > 0 || context.isExpanded) continue
    if (/\$\{[A-Z_a-z]\w*:-/.test(word))
      notices.push(`${toPath(i)} is stored as it is now: no variable is looked up there later`)
    else canonical[toPath(i)] = word
  }
  const result: string[] = []
  for (const [i, spans] of findSecrets(expanded).entries()) {
    const word = expanded[i]!
    let [text, end] = ['', 0]
    for (const [from, to] of spans) {
      const variable = toFreeKey(toVariable(name, toOptionName(word.slice(0, from), expanded[i - 1])), helped)
      helped.set(variable, await values.move(variable, word.slice(from, to)))
      text += `${word.slice(end, from)}\${${variable}}`
      end = to
    }
    result.push(text + word.slice(end))
    if (spans.length > 0) delete canonical[toPath(i)]
  }
  const isBlocked = helped.size > 0 && !expandsItself && !context.isExpanded
  if (context.isExpanded && helped.size > 0 && !isUrl)
    notices.push(
      `its arguments contain ${[...helped.values()].join(', ')}, and other processes can read arguments`,
    )
  if (isBlocked) notices.push(describeBlocked(name, [...helped.values()], isUrl))
  const pairs = expandsItself && !context.isExpanded ? [...helped] : []
  return {
    words: result,
    helped: pairs.map(([key, credential]) => ({ key, template: `\${${credential}}` })),
    isBlocked,
  }
}

function toFreeKey(name: string, taken: ReadonlyMap<string, string>): string {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}`
  return free
}

function describeBlocked(name: string, names: readonly string[], isUrl: boolean): string {
  const place = isUrl ? 'its address contains' : 'its arguments contain'
  const why = isUrl ? 'addresses are stored and logged' : 'other processes can read arguments'
  const better = isUrl ? 'a header' : 'a variable of its environment'
  return `it is disabled: ${place} ${names.join(', ')}, which an agent's entry does not fill in; use ${better} if it has one (${why}), or import ${name} with --scope user: a mcp.toml fills in \${NAME} from the vault`
}

/** Moves the values of `docker run -e NAME=VALUE` into the environment, from where docker passes them on. */
function splitContainerVariables(words: readonly string[]): [string[], Record<string, string>] {
  if (!/(?:^|[/\\])(?:docker|podman)(?:\.exe)?$/i.test(words[0] ?? '')) return [[...words], {}]
  const variables: Record<string, string> = {}
  const split = words.map((word, i) => {
    const isOption = /^(?:-e|--env)$/.test(words[i - 1] ?? '')
    const [, flag = '', name = '', value = ''] =
      (isOption ? /^()([A-Za-z_]\w*)=(.*)$/s : /^(--env=|-e)([A-Za-z_]\w*)=(.*)$/s).exec(word) ?? []
    if (name === '') return word
    variables[name] = value
    return `${flag}${name}`
  })
  return [split, variables]
}

function toProgramPath(command: string, { folder }: ImportContext): string {
  const isPath = /[/\\]/.test(command) && !isAbsolute(command) && !/^[a-z]:[/\\]/i.test(command)
  return isPath ? resolve(folder, command) : command
}

/** Returns the working directory: the other programs start servers in the folder that is open. */
function toFolder(
  { context, values, notices }: Draft,
  cwd: unknown,
  words: readonly string[],
): string | undefined {
  if (typeof cwd === 'string') return resolve(context.folder, values.expandFolders(cwd))
  if (!words.slice(1).some((word) => /^\.{1,2}(?:[/\\]|$)/.test(word))) return undefined
  if (!context.isProject) notices.push(`its relative paths start in ${context.folder}, where you imported it`)
  return context.folder
}

function usesOpenFolder(table: JsonObject): boolean {
  return /\$\{(?:CRABTALK|CLAUDE)_PROJECT_DIR/.test(JSON.stringify(table))
}

/** Notices about the finished entry. */
function describeEntry(entry: McpEntry, { isExpanded }: ImportContext): string[] {
  const { command, args = [], disabled } = entry
  const successor = command === undefined ? undefined : describeSuccessor([command, ...args])
  const unfilled = disabled || isExpanded ? [] : findUnfilledValues(entry)
  return [
    ...(successor === undefined ? [] : [successor]),
    ...unfilled.map(({ path, placeholder }) => `${formatPath(path)} is still the placeholder ${placeholder}`),
  ]
}

/** Returns the name of a credential that has none: the names of its server and its place. */
export function toVariable(server: string, place: string): string {
  return `${server}_${place}`
    .toUpperCase()
    .replaceAll(/\W+|-+/g, '_')
    .replaceAll(/_{2,}/g, '_')
}

/** Names a secret in a word after its assignment or header, or after the option before it. */
function toOptionName(head: string, before = ''): string {
  if (/:\/\/[^/]*$/.test(head)) return 'PASSWORD'
  const option = /^--?([A-Za-z][\w-]*)$/.exec(before)?.[1]
  const assigned = /([A-Za-z][\w-]*)(?:=|: *(?:bearer +)?)$/i.exec(head)?.[1]
  const name = assigned ?? (head === '' && option !== undefined ? option : undefined)
  return name === undefined || /^authorization$/i.test(name) ? 'TOKEN' : name
}
