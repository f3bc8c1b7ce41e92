import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import type { UpHost } from '../types.ts'
import { hasTarError, npmFailure } from './npm-errors.ts'
import { findNpmProgram } from './npm-program.ts'
import { compareVersions, isNpmVersion } from './version-order.ts'

/** The npm of this machine, with the person's own settings; no script of any package ever runs. */
export interface Npm {
  /** What the registry says of one version of a package: fields of its package.json, and of the registry. */
  view(spec: string, signal: AbortSignal): Promise<JsonObject>
  /** Puts the tarball of a package (a spec, or an absolute folder) into a folder that has none and gives its path. */
  pack(spec: string, folder: string, signal: AbortSignal): Promise<string>
  /** Installs a tarball with all it depends on below a folder, as a global package of that prefix. */
  install(tarball: string, prefix: string, signal: AbortSignal): Promise<void>
}

/** The npm on the PATH. Fails with `missing` where there is none. */
export async function findNpm(host: UpHost, cwd: string): Promise<Npm> {
  const program = await findNpmProgram(host, cwd)
  const run = (args: readonly string[], signal: AbortSignal) => runNpm(host, [...program, ...args], signal)
  let globalConfig: Promise<string> | undefined
  const findConfig = (signal: AbortSignal) => {
    globalConfig ??= run(['config', 'get', 'globalconfig', '--global'], signal).catch(() => '') // it has none then
    return globalConfig
  }
  return {
    view: async (spec, signal) => {
      const view = async (one: string, fields: readonly string[]) =>
        parse(await run(['view', '--global', '--json', ...REGISTRY, '--', one, ...fields], signal))
      const exact = isExact(spec) ? spec : pickNewest(await view(spec, ['version']), spec)
      const found = await view(exact, FIELDS)
      if (isObject(found)) return found
      throw noVersion(spec)
    },
    pack: async (spec, folder, signal) => {
      void findConfig(signal) // install() needs it, and it takes as long as this does
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
      const settings = file === '' ? [] : ['--globalconfig', file] // else it is looked for below the prefix
      await run([...args, ...settings, '--', tarball], signal)
    },
  }
}

async function runNpm(host: UpHost, argv: readonly string[], signal: AbortSignal): Promise<string> {
  const [program = '', ...args] = argv
  const options = { env: { ...host.env, ...NON_INTERACTIVE_ENV }, timeoutMs: TIMEOUT_MS }
  const { code, stdout, stderr } = await host.run([program, ...args], options, signal)
  if (signal.aborted) throw toCancelledError(signal) // Ctrl-C ends npm, too
  if (code === 0 && !hasTarError(stderr)) return stdout
  throw npmFailure(args, stdout, stderr)
}

/** Of many versions npm gives all there is to say of each: that may be megabytes, so only one is asked for. */
function isExact(spec: string): boolean {
  const at = spec.indexOf('@', 1)
  return at < 0 || isNpmVersion(spec.slice(at + 1))
}

/** Of the versions that a range fits, or of the one that a tag is. */
function pickNewest(versions: unknown, spec: string): string {
  const all = [versions].flat().filter((one): one is string => typeof one === 'string' && isNpmVersion(one))
  const newest = all.toSorted(compareVersions).at(-1)
  if (newest === undefined) throw noVersion(spec)
  return `${stripVersion(spec)}@${newest}`
}

function noVersion(spec: string): CrabError {
  return new CrabError('missing', `Cannot find ${spec}: the registry has no such version`, {
    hint: `npm view ${stripVersion(spec)} versions`,
  })
}

function stripVersion(spec: string): string {
  return spec.replace(/(?<=.)@[^@]*$/, '')
}

/** What npm wrote into a folder of its own. It says so too, with every file in it, which may be megabytes. */
async function findTarball(folder: string, spec: string): Promise<string> {
  const [name, ...others] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'))
  if (name !== undefined && others.length === 0) return name
  throw new CrabError(
    'failed',
    `Cannot fetch ${spec}: npm wrote ${name === undefined ? 'nothing' : 'too much'}`,
  )
}

function parse(stdout: string): unknown {
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined // the callers say what is missing
  }
}

/** What is asked of the registry; the whole of it may be megabytes. */
const FIELDS = 'name version description deprecated engines dist maintainers _npmUser time'.split(' ')
/** What npm would ask or tell on its own. */
const REGISTRY = ['--no-update-notifier', '--no-progress', '--loglevel=warn']
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--omit=dev']
const NON_INTERACTIVE_ENV = { CI: '1', NO_COLOR: '1' }
const TIMEOUT_MS = 10 * 60_000
