import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { KNOWN_SERVICES, type KnownService } from '../names.ts'
import { isServiceName } from './installed.ts'

/** Where a package is to come from. */
export type PackageSpec =
  | { kind: 'registry'; package: string; version: string | undefined }
  /** A tarball as `npm pack` makes them; absolute. */
  | { kind: 'tarball'; path: string }
  /** The folder of a package; absolute. */
  | { kind: 'folder'; path: string }

/** Where a person stands who names a file. */
export interface CallerContext {
  cwd: string
  homeDir: string
  /** What is to be done with it, as messages say it; by default `pull`, for which a folder has a package.json. */
  verb?: 'pull' | 'add'
}

/**
 * What a person means by a word: a short name of the table, `name@version`, the name of an npm package, a tarball or a
 * folder. What looks like a path is one; what may be either is asked about. Fails with `usage` or `no-input`.
 */
export async function parsePackageSpec(
  word: string,
  version: string | undefined,
  standing: CallerContext,
): Promise<PackageSpec> {
  const { verb = 'pull' } = standing
  if (/^https?:\/\/.*(tgz|tar\.gz)$/i.test(word)) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: a tarball is taken from this disk`, {
      hint: `fetch it first: curl -fO ${quoteWord(word)}`,
    })
  }
  if (looksLikePath(word)) return await readPath(word, version, standing)
  const [name, behind] = splitVersion(word)
  if (version !== undefined && behind !== undefined) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: its version is given twice`)
  }
  const wanted = version ?? behind
  if (wanted !== undefined && !/^[\w][\w.+-]*$/.test(wanted)) {
    throw new CrabError('usage', `Cannot ${verb} ${name}: "${wanted}" is no version`, {
      hint: 'a version is like 1.2.0, or a tag like next',
    })
  }
  const known = KNOWN_SERVICES.find((one) => one.name === name)
  if (known?.package === undefined && known) throw builtIn(known, verb)
  const named = known?.package ?? name
  if (!PACKAGE.test(named) || named.length > 214) {
    throw new CrabError(
      'usage',
      `Cannot ${verb} ${word}: it is neither a name of an npm package nor a path`,
      {
        hint: didYouMean(name, namesToPull()) ?? 'a path begins with ./ or /, or ends with .tgz',
      },
    )
  }
  if (!known && wanted === undefined && (await hasMarker(resolve(standing.cwd, word), verb))) {
    throw new CrabError('usage', `Cannot ${verb} ${word}: it may be the folder here or a package of npm`, {
      hint: `./${word} is the folder, ${word}@latest the package`,
    })
  }
  return { kind: 'registry', package: named, version: wanted }
}

/** A row of the table that is inside this program, if the word names one. */
export function findBuiltIn(word: string): KnownService | undefined {
  return KNOWN_SERVICES.find((one) => one.name === word && one.package === undefined)
}

/** Whether a package is one of the table: those are not asked about. */
export function isKnownPackage(name: string): boolean {
  return KNOWN_SERVICES.some((one) => one.package === name)
}

/**
 * The name under which a package runs: what its package.json says (`"crabtalk": {"component": …}`), else that of the table, else
 * the package's without its scope and `crabtalk-`. Fails with `invalid` for what cannot be a name, and with `conflict` for
 * one that means something else: `reserved` are the words of crabup.
 */
export function toServiceName(manifest: JsonObject, reserved: ReadonlySet<string>): string {
  const packageName = String(manifest['name'])
  const row = KNOWN_SERVICES.find((one) => one.package === packageName)
  const own = getDeclaredName(manifest['crabtalk'])
  const name = row?.name ?? own ?? derivedName(packageName)
  const what = `Cannot pull ${packageName}`
  if (!isServiceName(name)) {
    throw new CrabError('invalid', `${what}: "${name}" cannot be the name of a component`, {
      hint: 'a name is at most 32 of a-z, 0-9 and single -',
    })
  }
  const taken = KNOWN_SERVICES.find((one) => one.name === name && one.package !== packageName)
  if (taken) {
    throw new CrabError(
      'conflict',
      `${what}: it calls itself "${name}", which is ${taken.package ?? 'built in'}`,
    )
  }
  if (reserved.has(name) || WORDS.has(name)) {
    throw new CrabError(
      'conflict',
      `${what}: it calls itself "${name}", which means something else to crabup`,
    )
  }
  return name
}

function looksLikePath(word: string): boolean {
  return /^(\.{1,2}$|\.{0,2}[\\/]|~[\\/]|[a-zA-Z]:[\\/])/.test(word) || /\.(tgz|tar\.gz)$/.test(word)
}

async function readPath(
  word: string,
  version: string | undefined,
  standing: CallerContext,
): Promise<PackageSpec> {
  const { cwd, homeDir, verb = 'pull' } = standing
  if (version !== undefined) {
    throw new CrabError('usage', `Cannot ${verb} version ${version} of ${word}: a file is one version`)
  }
  const path = resolve(cwd, word.replace(/^~(?=[\\/])/, homeDir))
  const found = await stat(path).catch(() => undefined)
  if (found?.isFile()) return { kind: 'tarball', path }
  if (found?.isDirectory() && (await hasMarker(path, verb))) return { kind: 'folder', path }
  const why = found ? `there is no ${MARKERS[verb]} in that folder` : 'there is no such file'
  throw new CrabError('no-input', `Cannot ${verb} ${basename(path)}: ${why}`, { hint: `looked at ${path}` })
}

/** Whether a folder is a package. */
async function hasMarker(folder: string, verb: keyof typeof MARKERS): Promise<boolean> {
  const found = await stat(join(folder, MARKERS[verb])).catch(() => undefined) // then it is none
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

function getDeclaredName(said: unknown): string | undefined {
  const name = isObject(said) ? said['component'] : undefined
  return typeof name === 'string' ? name : undefined
}

function derivedName(packageName: string): string {
  const bare = packageName.replace(/^@[^/]*\//, '').replace(/^crabtalk-/, '')
  return bare
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

const MARKERS = { pull: 'package.json', add: 'crabtalk.toml' } as const
const PACKAGE = /^(@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/
/** Verbs, folders of ours, and what Windows takes for devices. */
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
