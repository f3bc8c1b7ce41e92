import { access } from 'node:fs/promises'
import { extname, isAbsolute, resolve } from 'node:path'
import { parseAssignment } from '../../cli/assignment.ts'
import type { ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { parseVariables } from '../../core/config/env-file-text.ts'
import { readTextFile } from '../../core/config/load-config.ts'
import { mergePatch } from '../../core/config/merge-patch.ts'
import type { ForeignServer } from '../../edge/import/foreign-entry.ts'
import { readObjectText } from './call-arguments.ts'
import { expandPlaceholders, unsetError } from './fill-placeholders.ts'
import { isJsonText, readPastedServers } from './json-entry.ts'
import { readRemoteOptions, refuseForeign } from './remote-options.ts'

/** A server described on a command line, with the words that were made absolute paths and what they became. */
export interface NewServerEntry {
  entry: JsonObject
  paths: ReadonlyMap<string, string>
  /** The words that were not changed although a file of that name exists here. */
  bare?: readonly string[]
  /** Sentences without a full stop about what a pasted entry lost, or what was changed. */
  notices?: readonly string[]
  /** The variables of this shell whose values it contains. */
  used?: ReadonlySet<string>
}

/**
 * Reads the servers that `mcp add NAME COMMAND ARGS…` describes: one, whose COMMAND may be an address or an entry
 * as JSON, or all of `mcp add JSON`.
 *
 * A server runs in the home directory of crabtalk unless --cwd names another one, so paths relative to the
 * user's working directory are made absolute; with --cwd, the arguments are relative to that directory and
 * stay.
 */
export async function readNewServers(options: ParsedOptions, host: Host): Promise<NewServerEntry[]> {
  const [name = '', command = '', ...args] = options.args
  if (isJsonText(name)) {
    return await pastedEntries({ text: name, name: undefined, more: options.args.slice(1) }, options, host)
  }
  if (command === '') {
    throw new CrabError('usage', 'Cannot run "crabtalk mcp add": <command> is missing', {
      hint: 'crabtalk mcp add <name> <command> [...args]',
    })
  }
  if (isJsonText(command)) return await pastedEntries({ text: command, name, more: args }, options, host)
  const server = await serverEntry([command, ...args], options, host)
  return [{ ...server, entry: addOptions({ name, ...server.entry }, options, host) }]
}

/** Adds what the options of `mcp add` say to the entry of a command, an address, or a pasted text. */
function addOptions(server: JsonObject, options: ParsedOptions, host: Host): JsonObject {
  const cwd = options.value('cwd')
  const env = readEnv(options, host)
  const entry = {
    ...server,
    ...readRemoteOptions(options, host),
    ...(cwd !== undefined && { cwd: resolve(host.cwd(), cwd) }),
    ...(Object.keys(env).length > 0 && { env: { ...asObject(server['env']), ...env } }),
  }
  const patches = options.values('set').map((text) => parseAssignment(text, SET_OPTION))
  return patches.reduce(mergePatch, entry)
}

/**
 * Reads the entry of `mcp set NAME JSON` or `mcp set NAME -`, which replaces the present one: as `mcp get --json`
 * prints it, or only its part `entry`. Undefined when the words are assignments. Throws `usage`.
 */
export async function readWholeEntry(options: ParsedOptions, host: Host): Promise<JsonObject | undefined> {
  const [, word = '', ...more] = options.args
  if (more.length > 0 || !(word === '-' || /^\s*\{/.test(word))) return undefined
  const text = word === '-' ? await readObjectText(host, 'the entry') : word
  const value = parseObject(text)
  if (value) return isObject(value['entry']) ? value['entry'] : value
  throw new CrabError('usage', 'Cannot use the entry: it is not a JSON object', {
    hint: 'for example crabtalk mcp get NAME --json | crabtalk mcp set NAME -',
  })
}

/**
 * Changes an entry as `mcp set NAME key=value…` requests, or replaces it with `whole`. Throws `usage` when nothing
 * is to be changed, or the name.
 */
export function changeEntry(
  entry: JsonObject,
  { options, host, whole }: { options: ParsedOptions; host: Host; whole: JsonObject | undefined },
): JsonObject {
  const words = whole ? [] : options.args.slice(1)
  const patches = words.map((text, i) => {
    return parseAssignment(text, { what: `argument ${i + 2}`, example: 'timeout_ms=5000' })
  })
  const env = readEnv(options, host)
  if (Object.keys(env).length > 0) patches.push({ env })
  const remote = readRemoteOptions(options, host)
  if (Object.keys(remote).length > 0) patches.push(remote)
  if (patches.length === 0 && !whole) {
    throw new CrabError('usage', 'Cannot set anything: no key=value is given', {
      hint: `for example crabtalk mcp set ${entry['name']} timeout_ms=5000`,
    })
  }
  const after = patches.reduce(mergePatch, whole ? { name: entry['name'], ...whole } : entry)
  if (after['name'] !== entry['name']) {
    throw new CrabError('usage', 'Cannot set the name of a server', {
      hint: 'add it again under the new name, and remove this one',
    })
  }
  const { command, cwd } = after
  return {
    ...after,
    ...(isRelativePath(command) && { command: resolve(host.cwd(), command) }),
    ...(typeof cwd === 'string' && { cwd: resolve(host.cwd(), cwd) }),
  }
}

async function serverEntry(
  words: readonly string[],
  options: ParsedOptions,
  host: Host,
): Promise<NewServerEntry> {
  const [first = '', ...args] = words
  const [scheme = ''] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(first) ?? []
  if (scheme !== '' && !/^https?:/i.test(scheme)) throw noAddress(scheme)
  if (scheme === '') {
    refuseForeign(options, 'program')
    return await programEntry(words, options.value('cwd'), host)
  }
  refuseForeign(options, 'address')
  const url = scheme.toLowerCase() + first.slice(scheme.length)
  if (args.length === 0) return { entry: { url }, paths: new Map() }
  throw new CrabError('usage', `Cannot add ${first}: an address takes no arguments`, {
    hint: `put options before it: crabtalk mcp add --header 'Name: value' NAME ${first}`,
  })
}

function noAddress(scheme: string): CrabError {
  return new CrabError('usage', `Cannot add an address with ${scheme}: it is not an HTTP address`, {
    hint: 'an address starts with https:// or http://; a program is named as a command',
  })
}

interface PastedText {
  text: string
  name: string | undefined
  /** The words after the text. */
  more: readonly string[]
}

async function pastedEntries(
  { text, name, more }: PastedText,
  options: ParsedOptions,
  host: Host,
): Promise<NewServerEntry[]> {
  if (more.length > 0) {
    throw new CrabError('usage', 'Cannot use words after the JSON of a server', {
      hint: 'put its arguments into "args"',
    })
  }
  const { servers, notices } = readPastedServers(text, name)
  const option = FOR_ONE.find((one) => options.values(one).length > 0)
  if (servers.length > 1 && option !== undefined) {
    throw new CrabError('usage', `Cannot use --${option} for several servers`, {
      hint: `name one: crabtalk mcp add ${servers[0]!.name} '{…}'`,
    })
  }
  const entries = await Promise.all(servers.map((server) => pastedEntry(server, options, host)))
  const [first, ...others] = entries
  return [{ ...first!, notices: [...notices, ...(first!.notices ?? [])] }, ...others]
}

/** Completes a pasted entry; its paths are made absolute like those of words. Throws `usage`. */
async function pastedEntry(
  { name, table, notices, variables, envFile }: ForeignServer,
  options: ParsedOptions,
  host: Host,
): Promise<NewServerEntry> {
  refuseForeign(options, table['url'] === undefined ? 'program' : 'address')
  const fromFile = envFile === undefined ? {} : await readEnvFile(envFile, host)
  const env = { ...fromFile, ...asObject(table['env']) }
  const whole = addOptions({ name, ...table, ...(Object.keys(env).length > 0 && { env }) }, options, host)
  const { entry: filled, used, missing } = expandPlaceholders(whole, host)
  const labels = new Map(
    variables.flatMap(({ name: one, label }) => (label === undefined ? [] : [[one, label]])),
  )
  if (missing.size > 0 && !options.has('no-verify')) throw unsetError(name, missing, labels)
  const { entry, ...found } = await toAbsolutePaths(filled, options, host)
  return { ...found, entry, notices: notices.map((notice) => `${name}: ${notice}`), used }
}

async function toAbsolutePaths(
  { command, args: words = [], ...rest }: JsonObject,
  options: ParsedOptions,
  host: Host,
): Promise<NewServerEntry> {
  if (typeof command !== 'string' || !isTexts(words))
    return { entry: { ...rest, ...(command !== undefined && { command, args: words }) }, paths: new Map() }
  const base = options.value('cwd') ?? (typeof rest['cwd'] === 'string' ? rest['cwd'] : undefined)
  const { entry, ...found } = await programEntry([command, ...words], base, host)
  const cwd = typeof rest['cwd'] === 'string' ? { cwd: resolve(host.cwd(), rest['cwd']) } : {}
  return { entry: { ...entry, ...rest, ...cwd }, ...found }
}

/** Reads the variables of a file that a pasted entry names (`envFile`). Throws `no-input`. */
async function readEnvFile(written: string, host: Host): Promise<JsonObject> {
  const { entry } = expandPlaceholders({ cwd: written }, host)
  const path = resolve(host.cwd(), String(entry['cwd']))
  const text = await readTextFile(path)
  if (text !== undefined) return parseVariables(text)
  throw new CrabError('no-input', `Cannot read "envFile" of the JSON: ${path} does not exist`, {
    hint: 'leave the key out and give the variables with --env',
  })
}

function isTexts(words: unknown): words is string[] {
  return Array.isArray(words) && words.every((word) => typeof word === 'string')
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

async function programEntry(
  [command = '', ...args]: readonly string[],
  cwd: string | undefined,
  host: Host,
): Promise<NewServerEntry> {
  const base = resolve(host.cwd(), cwd ?? '.')
  const program = isRelativePath(command) ? resolve(base, command) : command
  const words = cwd === undefined ? await Promise.all(args.map((word) => toAbsolute(word, base))) : args
  const found = await Promise.all(args.map((word) => word !== '' && isThere(resolve(base, word))))
  const bare =
    cwd === undefined ? args.filter((word, i) => found[i] && word === words[i] && !isAbsolute(word)) : []
  const changed = [command, ...args].map((word, i): [string, string] => [word, [program, ...words][i]!])
  return {
    entry: { command: program, ...(words.length > 0 && { args: words }) },
    paths: new Map(changed.filter(([before, after]) => before !== after)),
    bare,
  }
}

/**
 * Reads `KEY=VALUE`, or `KEY` for its value in the environment, which keeps the value out of the command
 * line.
 */
function readEnv(options: ParsedOptions, host: Host): Record<string, string> {
  return Object.fromEntries(
    options.values('env').map((text) => {
      const at = text.indexOf('=')
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
      const value = at < 0 ? host.env[text] : undefined
      if (value !== undefined && text !== '') return [text, value]
      const why = at < 0 ? `${text} is not set here` : 'it has no name'
      throw new CrabError('usage', `Cannot use --env: ${why}`, { hint: 'for example --env LOG=1' })
    }),
  )
}

/**
 * Makes a word absolute that begins with ./ or ../, also after `--flag=`, or that looks like a path and
 * exists.
 */
async function toAbsolute(word: string, base: string): Promise<string> {
  const [, flag = '', path = ''] = /^(--?[\w-]+=)?(\.{1,2}(?:\/.*)?)$/s.exec(word) ?? []
  if (path !== '') return flag + resolve(base, path)
  const looksLikePath =
    !isAbsolute(word) && !word.startsWith('-') && (word.includes('/') || extname(word) !== '')
  return looksLikePath && (await isThere(resolve(base, word))) ? resolve(base, word) : word
}

function isRelativePath(command: unknown): command is string {
  const hasRoot = (path: string) => isAbsolute(path) || /^[a-z]:[/\\]/i.test(path)
  return typeof command === 'string' && /[/\\]/.test(command) && !hasRoot(command)
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // whatever the reason, it is not a path to make absolute
  )
}

/** The options that describe one server. */
const FOR_ONE = ['env', 'cwd', 'header', 'auth', 'auth-env', 'transport', 'set']
const SET_OPTION = { what: '--set', example: '--set timeout_ms=5000' }
