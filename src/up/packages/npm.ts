import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { UpHost } from '../types.ts'
import { findNpmProgram } from './node-programs.ts'
import { hasTarError, npmFailure } from './npm-errors.ts'
import { isNpmVersion } from './npm-version.ts'

/** The npm of this machine, with the user's own settings. Package scripts never run. */
export interface Npm {
  /**
   * Returns the registry's data about one version of a package: fields of its package.json and of the
   * registry.
   */
  view(spec: string, signal: AbortSignal): Promise<JsonObject>
  /**
   * Writes the tarball of a package (a spec, or an absolute folder) into a folder that has none, and returns
   * its path.
   */
  pack(spec: string, folder: string, signal: AbortSignal): Promise<string>
  /** Installs a tarball and all of its dependencies as a global package with that prefix. */
  install(tarball: string, prefix: string, signal: AbortSignal): Promise<void>
}

/** Finds the npm on the PATH. Throws `missing` when there is none. */
export async function findNpm(host: UpHost, cwd: string): Promise<Npm> {
  const program = await findNpmProgram(host, cwd)
  const run = (args: readonly string[], signal: AbortSignal) => runNpm(host, [...program, ...args], signal)
  let globalConfig: Promise<string> | undefined
  const findConfig = (signal: AbortSignal) => {
    // A failure means that there is no global configuration.
    globalConfig ??= run(['config', 'get', 'globalconfig', '--global'], signal).catch(() => '')
    return globalConfig
  }
  return {
    view: async (spec, signal) => {
      const view = async (one: string, fields: readonly string[]) =>
        parse(await run(['view', '--global', '--json', ...REGISTRY, '--', one, ...fields], signal))
      const exact = isExact(spec) ? spec : await pickNewest(await view(spec, ['version']), spec)
      const found = await view(exact, FIELDS)
      if (isObject(found)) return found
      throw noVersion(spec)
    },
    pack: async (spec, folder, signal) => {
      void findConfig(signal) // started early: install() needs the result, and it takes about as long as the pack
      const args = [
        'pack',
        '--global',
        '--json',
        '--ignore-scripts',
        ...REGISTRY,
        '--pack-destination',
        folder,
      ]
      await run([...args, '--', spec], signal)
      return join(folder, await findTarball(folder, spec))
    },
    install: async (tarball, prefix, signal) => {
      const file = (await findConfig(signal)).trim()
      const args = ['install', '--global', '--json', '--prefix', prefix, ...QUIET, ...REGISTRY]
      const settings = file === '' ? [] : ['--globalconfig', file] // npm would otherwise look for it below the prefix
      await run([...args, ...settings, '--', tarball], signal)
    },
  }
}

async function runNpm(host: UpHost, argv: readonly string[], signal: AbortSignal): Promise<string> {
  const [program = '', ...args] = argv
  const options = { env: { ...host.env, ...NON_INTERACTIVE_ENV }, timeoutMs: TIMEOUT_MS }
  const { code, stdout, stderr } = await host.run([program, ...args], options, signal)
  if (signal.aborted) throw toCancelledError(signal) // Ctrl-C ends npm as well
  if (code === 0 && !hasTarError(stderr)) return stdout
  throw npmFailure(args, stdout, stderr)
}

/**
 * Whether a spec is a bare name or names an exact version. For a range, npm prints all data of each matching
 * version, which may be megabytes, so `view` first resolves a range or a tag to one version.
 */
function isExact(spec: string): boolean {
  const at = spec.indexOf('@', 1)
  return at < 0 || isNpmVersion(spec.slice(at + 1))
}

/** Picks the newest of the versions that match a range or a tag. */
async function pickNewest(versions: unknown, spec: string): Promise<string> {
  const { compareVersions } = await import('./versions.ts')
  const all = [versions].flat().filter((one): one is string => typeof one === 'string' && isNpmVersion(one))
  const newest = all.toSorted(compareVersions).at(-1)
  if (newest === undefined) throw noVersion(spec)
  return `${stripVersion(spec)}@${newest}`
}

function noVersion(spec: string): CrabError {
  return new CrabError('missing', `Cannot find ${spec}: the registry does not have that version`, {
    hint: `npm view ${stripVersion(spec)} versions`,
  })
}

function stripVersion(spec: string): string {
  return spec.replace(/(?<=.)@[^@]*$/, '')
}

/**
 * Finds the tarball that npm wrote into a folder of its own. npm also prints its name, but together with
 * every file in it, which may be megabytes.
 */
async function findTarball(folder: string, spec: string): Promise<string> {
  const [name, ...others] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  if (name !== undefined && others.length === 0) return name
  throw new CrabError(
    'failed',
    `Cannot fetch ${spec}: npm wrote ${name === undefined ? 'nothing' : 'several files'}`,
  )
}

function parse(stdout: string): unknown {
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined // callers report what is missing
  }
}

/** The fields to query; a full record may be megabytes. */
const FIELDS = 'name version description deprecated engines dist maintainers _npmUser time'.split(' ')
/** Options that turn off npm's prompts and messages. */
const REGISTRY = ['--no-update-notifier', '--no-progress', '--loglevel=warn']
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--omit=dev']
const NON_INTERACTIVE_ENV = { CI: '1', NO_COLOR: '1' }
const TIMEOUT_MS = 10 * 60_000
