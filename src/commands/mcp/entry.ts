import { access } from 'node:fs/promises'
import { extname, isAbsolute, resolve } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { mergePatch } from '../../core/config/merge-patch.ts'
import { parseAssignment } from '../assignment.ts'
import type { Options } from '../command.ts'
import type { Host } from '../host.ts'

/** A server as a command line describes it, and what was made absolute for it: from what was written to what it became. */
export interface Addition {
  entry: JsonObject
  paths: ReadonlyMap<string, string>
}

/**
 * The entry that `mcp add NAME COMMAND ARGS…` describes.
 *
 * A server runs in the home directory of crabtalk unless --cwd names another, so paths that are relative to where the
 * person stands are made absolute; with --cwd the arguments are relative to that and stay.
 */
export async function readAddition(options: Options, host: Host): Promise<Addition> {
  const [name = '', command = '', ...args] = options.args
  const cwd = options.value('cwd')
  const program = /^https?:\/\//.test(command)
    ? { entry: remoteEntry(command, args), paths: new Map<string, string>() }
    : await programEntry([command, ...args], cwd, host)
  const env = readEnv(options, host)
  const entry = {
    name,
    ...program.entry,
    ...(cwd !== undefined && { cwd: resolve(host.cwd(), cwd) }),
    ...(Object.keys(env).length > 0 && { env }),
  }
  const patches = options.values('set').map((text) => parseAssignment(text, SET_OPTION))
  return { entry: patches.reduce(mergePatch, entry), paths: program.paths }
}

/** An entry changed as `mcp set NAME key=value…` says. Throws `usage` when nothing is to change, or the name. */
export function changeEntry(entry: JsonObject, options: Options, host: Host): JsonObject {
  const patches = options.args.slice(1).map((text, i) => {
    return parseAssignment(text, { what: `argument ${i + 2}`, example: 'timeout_ms=5000' })
  })
  const env = readEnv(options, host)
  if (Object.keys(env).length > 0) patches.push({ env })
  if (patches.length === 0) {
    throw new CrabError('usage', 'Cannot set anything: no key=value is given', {
      hint: `for example crabtalk mcp set ${entry['name']} timeout_ms=5000`,
    })
  }
  const after = patches.reduce(mergePatch, entry)
  if (after['name'] !== entry['name']) {
    throw new CrabError('usage', 'Cannot set the name of a server', {
      hint: 'add it anew, and remove this one',
    })
  }
  const { command, cwd } = after
  return {
    ...after,
    ...(isRelativePath(command) && { command: resolve(host.cwd(), command) }),
    ...(typeof cwd === 'string' && { cwd: resolve(host.cwd(), cwd) }),
  }
}

function remoteEntry(url: string, args: readonly string[]): JsonObject {
  if (args.length === 0) return { url }
  throw new CrabError('usage', `Cannot add ${url}: an address takes no arguments`, {
    hint: 'headers are set with --set, for example --set headers.X-Team=core',
  })
}

async function programEntry(
  [command = '', ...args]: readonly string[],
  cwd: string | undefined,
  host: Host,
): Promise<Addition> {
  const base = resolve(host.cwd(), cwd ?? '.')
  const program = isRelativePath(command) ? resolve(base, command) : command
  const words = cwd === undefined ? await Promise.all(args.map((word) => toAbsolute(word, base))) : args
  const changed = [command, ...args].map((word, i): [string, string] => [word, [program, ...words][i]!])
  return {
    entry: { command: program, ...(words.length > 0 && { args: words }) },
    paths: new Map(changed.filter(([before, after]) => before !== after)),
  }
}

/** `KEY=VALUE`, or `KEY` for the value it has here, which then stands in no command line. */
function readEnv(options: Options, host: Host): Record<string, string> {
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

/** What begins with ./ or ../, also behind `--flag=`, and what looks like a path and is there. */
async function toAbsolute(word: string, base: string): Promise<string> {
  const [, flag = '', path = ''] = /^(--?[\w-]+=)?(\.{1,2}(?:\/.*)?)$/s.exec(word) ?? []
  if (path !== '') return flag + resolve(base, path)
  const looksLikePath =
    !isAbsolute(word) && !word.startsWith('-') && (word.includes('/') || extname(word) !== '')
  return looksLikePath && (await isThere(resolve(base, word))) ? resolve(base, word) : word
}

function isRelativePath(command: unknown): command is string {
  return typeof command === 'string' && /[/\\]/.test(command) && !isAbsolute(command)
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false, // whatever keeps it from being read, it is no path to make absolute
  )
}

const SET_OPTION = { what: '--set', example: '--set timeout_ms=5000' }
