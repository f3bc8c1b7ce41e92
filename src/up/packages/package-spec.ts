import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { KNOWN_SERVICES, type KnownService } from '../names.ts'
import { isServiceName } from './installed.ts'

/** The source of a package. */
export type PackageSpec =
  | { kind: 'registry'; package: string; version: string | undefined }
  /** A tarball in the format of `npm pack`; an absolute path. */
  | { kind: 'tarball'; path: string }
  /** The folder of a package; an absolute path. */
  | { kind: 'folder'; path: string }

/** The context in which the user names a package. */
export interface CallerContext {
  cwd: string
  homeDir: string
  /**
   * The verb for messages, `pull` by default. It also decides what marks a folder as a package: package.json
   * for `pull`, crabtalk.toml for `add`.
   */
  verb?: 'pull' | 'add'
}

/**
 * Parses a package argument: a short name of the table, `name@version`, the name of an npm package, a tarball
 * or a folder. An argument that looks like a path is one; an ambiguous argument is refused. Throws `usage` or
 * `no-input`.
 */
export async function parsePackageSpec(
  word: string,
  version: string | undefined,
  caller: CallerContext,
): Promise<PackageSpec> {
  const { verb = 'pull' } = caller
  if (/^https?:\/\/.*(tgz|tar\.gz)$/i.test(word)) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: a tarball must be a local file`, {
      hint: `download it first: curl -fO ${quoteWord(word)}`,
    })
  }
  if (looksLikePath(word)) return await readPath(word, version, caller)
  const [name, behind] = splitVersion(word)
  if (version !== undefined && behind !== undefined) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: its version is given twice`, {
      hint: 'give it as NAME@VERSION or with --version, not both',
    })
  }
  const versionOrTag = version ?? behind
  if (versionOrTag !== undefined && !/^[\w][\w.+-]*$/.test(versionOrTag)) {
    throw new CrabError('usage', `Cannot ${verb} ${name}: "${versionOrTag}" is not a version`, {
      hint: 'a version looks like 1.2.0, a tag like next',
    })
  }
  const known = KNOWN_SERVICES.find((one) => one.name === name)
  if (known?.package === undefined && known) throw builtIn(known, verb)
  const named = known?.package ?? name
  if (!PACKAGE.test(named) || named.length > 214) {
    throw new CrabError(
      'usage',
      `Cannot ${verb} ${word}: it is neither the name of an npm package nor a path`,
      {
        hint: didYouMean(name, namesToPull()) ?? 'a path starts with ./ or /, or ends with .tgz',
      },
    )
  }
  if (!known && versionOrTag === undefined && (await hasMarker(resolve(caller.cwd, word), verb))) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: it could be the folder here or an npm package`, {
      hint: `./${word} is the folder, ${word}@latest the package`,
    })
  }
  return { kind: 'registry', package: named, version: versionOrTag }
}

/** Finds the built-in row of the table that the word names. */
export function findBuiltIn(word: string): KnownService | undefined {
  return KNOWN_SERVICES.find((one) => one.name === word && one.package === undefined)
}

/** Whether a package is in the table; such packages need no confirmation. */
export function isKnownPackage(name: string): boolean {
  return KNOWN_SERVICES.some((one) => one.package === name)
}

/**
 * Determines the name under which a package runs: the one in the table, else the one its package.json
 * declares (`"crabtalk": {"component": …}`), else the package name without its scope and `crabtalk-`. Throws
 * `invalid` for an impossible name, and `conflict` for a name that is taken; `reserved` holds the words of
 * crabup.
 */
export function toServiceName(manifest: JsonObject, reserved: ReadonlySet<string>): string {
  const packageName = String(manifest['name'])
  const row = KNOWN_SERVICES.find((one) => one.package === packageName)
  const own = getDeclaredName(manifest['crabtalk'])
  const name = row?.name ?? own ?? deriveName(packageName)
  const what = `Cannot pull ${packageName}`
  if (!isServiceName(name)) {
    throw new CrabError('invalid', `${what}: "${name}" cannot be the name of a component`, {
      hint: 'a name has at most 32 characters: a-z, 0-9 and single hyphens',
    })
  }
  const taken = KNOWN_SERVICES.find((one) => one.name === name && one.package !== packageName)
  if (taken) {
    throw new CrabError(
      'conflict',
      `${what}: its name "${name}" belongs to ${taken.package ?? 'a built-in service'}`,
      RENAME_HINT,
    )
  }
  if (reserved.has(name) || WORDS.has(name)) {
    throw new CrabError('conflict', `${what}: its name "${name}" is reserved for crabup`, RENAME_HINT)
  }
  return name
}

const RENAME_HINT = { hint: 'its package.json can set another name: "crabtalk": {"component": "NAME"}' }

function looksLikePath(word: string): boolean {
  return /^(\.{1,2}$|\.{0,2}[\\/]|~[\\/]|[a-zA-Z]:[\\/])/.test(word) || /\.(tgz|tar\.gz)$/.test(word)
}

async function readPath(
  word: string,
  version: string | undefined,
  caller: CallerContext,
): Promise<PackageSpec> {
  const { cwd, homeDir, verb = 'pull' } = caller
  if (version !== undefined) {
    throw new CrabError(
      'usage',
      `Cannot ${verb} version ${version} of ${word}: a file has only one version`,
      {
        hint: 'leave out the version',
      },
    )
  }
  const path = resolve(cwd, word.replace(/^~(?=[\\/])/, homeDir))
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile()) return { kind: 'tarball', path }
  if (found?.isDirectory() && (await hasMarker(path, verb))) return { kind: 'folder', path }
  const why = found ? `that folder has no ${MARKERS[verb]}` : 'it does not exist'
  throw new CrabError('no-input', `Cannot ${verb} ${word}: ${why}`, { hint: `looked at ${path}` })
}

/** Whether a folder contains the file that marks a package. */
async function hasMarker(folder: string, verb: keyof typeof MARKERS): Promise<boolean> {
  const found = await stat(join(folder, MARKERS[verb])).catch(() => undefined) // a missing file means it is not one
  return found?.isFile() ?? false
}

function splitVersion(word: string): [name: string, version: string | undefined] {
  const at = word.indexOf('@', 1)
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}

function builtIn({ name }: KnownService, verb: string): CrabError {
  return new CrabError('usage', `Cannot ${verb} ${name}: it is built in`)
}

function namesToPull(): string[] {
  return KNOWN_SERVICES.flatMap((one) => (one.package ? [one.name, one.package] : []))
}

function getDeclaredName(field: unknown): string | undefined {
  const name = isObject(field) ? field['component'] : undefined
  return typeof name === 'string' ? name : undefined
}

function deriveName(packageName: string): string {
  const bare = packageName.replace(/^@[^/]*\//, '').replace(/^crabtalk-/, '')
  return bare
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

const MARKERS = { pull: 'package.json', add: 'crabtalk.toml' } as const
const PACKAGE = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/
/** Verbs, folders of crabtalk, and device names of Windows. */
const WORDS: ReadonlySet<string> = new Set([
  ...[
    'start',
    'stop',
    'restart',
    'status',
    'enable',
    'disable',
    'logs',
    'all',
    'current',
    'pkg',
    'crabtalk',
    'crabup',
  ],
  ...['con', 'prn', 'aux', 'nul', 'com1', 'com2', 'com3', 'com4', 'lpt1', 'lpt2', 'lpt3', 'lpt4'],
])
