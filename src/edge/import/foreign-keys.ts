import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { nearest } from '../../core/base/nearest.ts'
import {
  COMMAND_KEYS,
  COMMON_KEYS,
  ENTRY_KEYS,
  INTERNAL_TYPES,
  KEY_ALIASES,
  LOGIN_KEYS,
  MIN_TIMEOUT_MS,
  NEVER_MISSPELT,
  PERMISSION_KEYS,
  PROGRAM_TYPES,
  READ_KEYS,
  SILENT_KEYS,
  TRANSPORT_ALIASES,
} from './key-names.ts'
import { convertTexts, type InputDescription, type NamedVariable, Placeholders } from './placeholders.ts'

/** The entry of a server, converted. */
export interface ForeignTable {
  /**
   * The fields of an entry, not validated and without `name`. Placeholders have the form `${NAME}` or
   * `${NAME:-default}`; `${CRABTALK_PROJECT_DIR}` stands for the folder that the other program has open.
   */
  table: JsonObject
  /** Describe what was changed or left out: sentences without a full stop that name keys, never a value. */
  notices: string[]
  /** The variables of the table's placeholders. */
  variables: NamedVariable[]
  /** The file with more variables that the entry names (`envFile`), as written there. */
  envFile?: string
}

/** The text around an entry. */
export interface EntryContext {
  /** The key of the object that contains the entry. */
  wrapper: string
  inputs: readonly InputDescription[]
}

/** Whether an object has the keys that only a server has. */
export function holdsCommand(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.keys(value).some(
    (key) => COMMAND_KEYS.has(KEY_ALIASES.get(key) ?? key) && !isNamedServer(value[key]),
  )
}

/** Converts the keys of another program to those of an entry. */
export function toEntryTable(
  foreign: JsonObject,
  { wrapper, inputs }: EntryContext,
): ForeignTable | { problem: string } {
  const notices: string[] = []
  const keys = { ...renameKeys(flatten(foreign)), ...readVariableNames(foreign) }
  const problem = findProblem(keys)
  if (problem !== undefined) return { problem }
  const placeholders = new Placeholders(inputs)
  const table: JsonObject = {
    ...readCommand(keys),
    ...readTransport(foreign, keys),
    ...readTexts(keys, placeholders),
    ...readHelper(keys, notices),
    ...readTimes(foreign, { wrapper, notices }),
    ...readSwitches(keys),
    ...readFilters(keys),
    ...takeOwn(keys),
  }
  const left = [...listLeftOut(keys), ...dropForeignKind(table)]
  if (left.length > 0)
    notices.push(
      `${quoteAll(left)} ${left.length === 1 ? 'has' : 'have'} no meaning here and ${left.length === 1 ? 'is' : 'are'} left out`,
    )
  notices.push(...describePermissions(keys), ...describeLogin(keys))
  for (const one of placeholders.unknown)
    notices.push(`the placeholder ${one} is unknown here and stays as it is`)
  const { envFile } = keys
  return {
    table: convertArguments(table, placeholders),
    notices,
    variables: placeholders.variables,
    ...(typeof envFile === 'string' && envFile !== '' && { envFile: placeholders.convert(envFile) }),
  }
}

/** Puts the keys of nested objects at the level of the others. */
function flatten(foreign: JsonObject): JsonObject {
  const { transport, command, requestInit, requestOptions, ...rest } = foreign
  const request = [requestInit, requestOptions].find(isObject)
  return {
    ...(isObject(transport) ? transport : transport !== undefined && { transport }),
    ...(isObject(command) ? { ...command, command: command['path'] } : command !== undefined && { command }),
    ...(isObject(request?.['headers']) && { headers: request['headers'] }),
    ...rest,
  }
}

function renameKeys(keys: JsonObject): JsonObject {
  const own = Object.entries(keys).filter(([key, value]) => !KEY_ALIASES.has(key) && value !== null)
  const renamed = Object.entries(keys).flatMap(([key, value]): [string, unknown][] => {
    const name = KEY_ALIASES.get(key)
    return name === undefined || value === null ? [] : [[name, value]]
  })
  return Object.fromEntries([...own, ...renamed])
}

/** Reads the keys of Codex that name variables in place of values. */
function readVariableNames({
  env,
  env_vars,
  env_http_headers,
  bearer_token_env_var,
  headers,
  http_headers,
}: JsonObject): JsonObject {
  const names = [env_vars, Array.isArray(env) ? env : undefined].flatMap((list) =>
    Array.isArray(list) ? list : [],
  )
  const pairs = names
    .filter((one) => typeof one === 'string')
    .map((one): [string, string] => {
      const at = one.indexOf('=')
      return at < 0 ? [one, `\${${one}}`] : [one.slice(0, at), one.slice(at + 1)]
    })
  const fromVariables = isObject(env_http_headers)
    ? Object.entries(env_http_headers).map(([key, name]) => [key, `\${${String(name)}}`])
    : []
  return {
    ...(pairs.length > 0 && { env: { ...Object.fromEntries(pairs), ...(isObject(env) && env) } }),
    ...(fromVariables.length > 0 && {
      headers: { ...asObject(headers), ...asObject(http_headers), ...Object.fromEntries(fromVariables) },
    }),
    ...(typeof bearer_token_env_var === 'string' && { auth: `\${${bearer_token_env_var}}` }),
  }
}

function findProblem({ type, command, url, source }: JsonObject): string | undefined {
  if (INTERNAL_TYPES.has(type))
    return `servers of the type ${JSON.stringify(type)} run inside the other program`
  if (type !== undefined && !PROGRAM_TYPES.has(type) && !TRANSPORT_ALIASES.has(type) && type !== 'remote')
    return 'its "type" is not stdio, http or sse'
  if (command !== undefined || url !== undefined) return undefined
  return source === 'extension'
    ? 'it is an extension of the other program, without a command'
    : 'it has neither a command nor an address'
}

function readCommand({ command, args = [] }: JsonObject): JsonObject {
  if (command === undefined) return {}
  const [program, ...first] = Array.isArray(command) ? command.map(toText) : [command]
  const words = [...first, ...(Array.isArray(args) ? args : [args]).map(toText)]
  return { command: program, ...(words.length > 0 && { args: words }) }
}

function readTransport({ httpUrl }: JsonObject, { transport, type, url }: JsonObject): JsonObject {
  if (url === undefined) return {}
  const named = [transport, type].map((one) => TRANSPORT_ALIASES.get(one)).find((one) => one !== undefined)
  const kind = named ?? (httpUrl === undefined ? undefined : 'http')
  return { url, ...(kind !== undefined && { transport: kind }) }
}

/** Reads the environment and the headers; numbers and booleans become texts. */
function readTexts({ env, headers, auth }: JsonObject, placeholders: Placeholders): JsonObject {
  const toTexts = (table: unknown, isEnvironment: boolean) => {
    const pairs = Object.entries(asObject(table)).filter(([, value]) => value !== null)
    return convertTexts(
      Object.fromEntries(pairs.map(([key, value]) => [key, toText(value)])),
      placeholders,
      isEnvironment,
    )
  }
  const [variables, fields] = [toTexts(env, true), toTexts(headers, false)]
  return {
    ...(Object.keys(variables).length > 0 && { env: variables }),
    ...(Object.keys(fields).length > 0 && { headers: fields }),
    ...(typeof auth === 'string' && { auth: placeholders.convert(auth) }),
  }
}

/** Reads a program that prints headers: it runs without a shell here, so only plain words can be taken. */
function readHelper({ headersHelper: helper }: JsonObject, notices: string[]): JsonObject {
  if (typeof helper !== 'string') return {}
  if (/^[\w@%+=:,./ -]+$/.test(helper)) return { auth_helper: helper.trim().split(/ +/) }
  notices.push('"headersHelper" is left out: it needs a shell, and auth_helper is a program with arguments')
  return {}
}

/** Reads the time limits; their units are those of the program that has the key. */
function readTimes(
  foreign: JsonObject,
  { wrapper, notices }: { wrapper: string; notices: string[] },
): JsonObject {
  const read = (key: string, unit: number) => {
    const value = Number(foreign[key])
    return foreign[key] !== undefined && foreign[key] !== null && value > 0
      ? Math.round(value * unit)
      : undefined
  }
  const { timeout } = foreign
  const unit = typeof timeout === 'number' && timeout < MIN_TIMEOUT_MS ? 1000 : 1
  const general = read('timeout', unit)
  if (general !== undefined)
    notices.push(`"timeout" ${Number(timeout)} is taken as ${unit === 1 ? 'milliseconds' : 'seconds'}`)
  const startup =
    read('startup_timeout_sec', 1000) ?? read('initTimeout', 1) ?? (wrapper === 'mcp' ? general : undefined)
  const call =
    read('tool_timeout_sec', 1000) ?? read('timeout_secs', 1000) ?? (wrapper === 'mcp' ? undefined : general)
  return {
    ...(startup !== undefined && { startup_timeout_ms: startup }),
    ...(call !== undefined && { timeout_ms: call }),
  }
}

function readSwitches({ enabled, isActive, disabled }: JsonObject): JsonObject {
  return enabled === false || isActive === false || disabled === true ? { disabled: true } : {}
}

/** Reads the lists of tools. */
function readFilters(keys: JsonObject): JsonObject {
  const lists = ['include', 'exclude'].flatMap((key): [string, string[]][] => {
    const value = keys[key]
    const names = Array.isArray(value) ? value.filter((one) => typeof one === 'string' && one !== '*') : []
    return names.length === 0 ? [] : [[key, names]]
  })
  return Object.fromEntries(lists)
}

/** Takes the keys that an entry has too, and those that are probably misspelt: validation reports them. */
function takeOwn(keys: JsonObject): JsonObject {
  const pairs = Object.entries(keys).filter(([key]) => {
    return !READ_KEYS.has(key) && (ENTRY_KEYS.includes(key) || isMisspelt(key))
  })
  return Object.fromEntries(pairs)
}

function isMisspelt(key: string): boolean {
  return !NEVER_MISSPELT.has(key) && !PERMISSION_KEYS.has(key) && nearest(key, COMMON_KEYS) !== undefined
}

/** Lists the keys without a meaning here; those whose value changes nothing are not worth a word. */
function listLeftOut(keys: JsonObject): string[] {
  return Object.entries(keys).flatMap(([key, value]) => {
    const isKnown =
      READ_KEYS.has(key) || SILENT_KEYS.has(key) || PERMISSION_KEYS.has(key) || LOGIN_KEYS.has(key)
    return isKnown || ENTRY_KEYS.includes(key) || isMisspelt(key) || isEmpty(value) ? [] : [key]
  })
}

/** Removes what belongs to the other kind of server, and returns its keys. */
function dropForeignKind(table: JsonObject): string[] {
  if (table['command'] !== undefined && table['url'] !== undefined) return [] // validation says so
  const foreign =
    table['url'] === undefined ? ['headers', 'auth', 'auth_helper', 'transport'] : ['args', 'env', 'cwd']
  const dropped = foreign.filter((key) => table[key] !== undefined)
  for (const key of dropped) delete table[key]
  return dropped
}

function describePermissions(keys: JsonObject): string[] {
  const names = Object.keys(keys).filter((key) => PERMISSION_KEYS.has(key) && !isEmpty(keys[key]))
  if (names.length === 0) return []
  return [
    `${quoteAll(names)} ${names.length === 1 ? 'is' : 'are'} left out: what runs without a question is decided by "permissions" of the entry`,
  ]
}

function describeLogin(keys: JsonObject): string[] {
  const names = Object.keys(keys).filter(
    (key) => LOGIN_KEYS.has(key) && !isEmpty(keys[key]) && typeof keys[key] !== 'string',
  )
  return names.map(
    (key) => `${JSON.stringify(key)} is left out: the login of the other program does not carry over`,
  )
}

function convertArguments(
  { command, args, cwd, url, auth_helper: helper, ...rest }: JsonObject,
  placeholders: Placeholders,
): JsonObject {
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert)
    return typeof value === 'string' ? placeholders.convert(value) : value
  }
  const parts = Object.entries({ command, args, cwd, url, auth_helper: helper }).filter(
    ([, value]) => value !== undefined,
  )
  return { ...Object.fromEntries(parts.map(([key, value]) => [key, convert(value)])), ...rest }
}

/** Whether a value under the key of a command is a server that happens to have this name. */
function isNamedServer(value: unknown): boolean {
  return isObject(value) && value['path'] === undefined
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === false || value === '') return true
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0
}

function toText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(', ')
}
