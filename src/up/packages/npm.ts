import { dirname, join } from 'node:path'
import { toCancelled } from '../../core/base/cancelled.ts'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { findProgram } from '../../core/process/find-program.ts'
import type { ManagerCommand, UpHost } from '../types.ts'
import { hasTarError, npmFailure } from './npm-errors.ts'

/** The npm of this machine, with the person's own settings; no script of any package ever runs. */
export interface Npm {
  /** What the registry says of one version of a package: fields of its package.json, and of the registry. */
  view(spec: string, signal: AbortSignal): Promise<JsonObject>
  /** Puts the tarball of a package (a spec, or an absolute folder) into a folder and gives its path. */
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
      const args = ['view', '--global', '--json', ...REGISTRY, '--', spec, ...FIELDS]
      const stdout = await run(args, signal)
      return toManifest(stdout, spec)
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
      const stdout = await run([...args, '--', spec], signal)
      return join(folder, packedName(stdout, spec))
    },
    install: async (tarball, prefix, signal) => {
      const file = (await findConfig(signal)).trim()
      const args = ['install', '--global', '--json', '--prefix', prefix, ...QUIET, ...REGISTRY]
      const settings = file === '' ? [] : ['--globalconfig', file] // else it is looked for below the prefix
      await run([...args, ...settings, '--', tarball], signal)
    },
  }
}

/** On Windows npm is a batch file, which only a shell can start: the script behind it is run instead. */
async function findNpmProgram(host: UpHost, cwd: string): Promise<ManagerCommand> {
  const env = Object.fromEntries(
    Object.entries(host.env).flatMap(([key, value]) => (value ? [[key, value]] : [])),
  )
  const npm = await findProgram({ argv: ['npm'], cwd, env }).catch((cause: unknown) => {
    throw new CrabError('missing', 'Cannot pull packages: no npm is on the PATH', {
      hint: 'npm comes with Node.js: https://nodejs.org',
      cause,
    })
  })
  if (host.platform !== 'win32') return [npm]
  const folder = dirname(npm)
  return [join(folder, 'node.exe'), join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js')]
}

async function runNpm(host: UpHost, argv: readonly string[], signal: AbortSignal): Promise<string> {
  const [program = '', ...args] = argv
  const options = { env: { ...host.env, ...NOBODY_ASKED }, timeoutMs: TIMEOUT_MS }
  const { code, stdout, stderr } = await host.run([program, ...args], options, signal)
  if (signal.aborted) throw toCancelled(signal) // Ctrl-C ends npm, too
  if (code === 0 && !hasTarError(stderr)) return stdout
  throw npmFailure(args, stdout, stderr)
}

/** Of several that a range fits npm gives a list; the last is the newest. */
function toManifest(stdout: string, spec: string): JsonObject {
  const value = parse(stdout)
  const one: unknown = Array.isArray(value) ? value.at(-1) : value
  if (isObject(one)) return one
  throw new CrabError('missing', `Cannot find ${spec}: the registry has no such version`, {
    hint: `npm view ${spec.replace(/(?<=.)@[^@]*$/, '')} versions`,
  })
}

/** A list of one object; an object of such objects is read too. */
function packedName(stdout: string, spec: string): string {
  const value = parse(stdout)
  const [one] = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
  const name: unknown = isObject(one) ? one['filename'] : undefined
  if (typeof name === 'string' && /^[\w@.+~-]+\.tgz$/.test(name)) return name
  throw new CrabError('failed', `Cannot fetch ${spec}: npm did not say what it wrote`)
}

function parse(stdout: string): unknown {
  try {
    return JSON.parse(stdout)
  } catch {
    return undefined // the callers say what is missing
  }
}

/** What is asked of the registry; the whole of it may be megabytes. */
const FIELDS = [
  'name',
  'version',
  'description',
  'deprecated',
  'engines',
  'dist',
  'maintainers',
  '_npmUser',
  'time',
]
/** What npm would ask or tell on its own. */
const REGISTRY = ['--no-update-notifier', '--no-progress', '--loglevel=warn']
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--omit=dev']
const NOBODY_ASKED = { CI: '1', NO_COLOR: '1' }
const TIMEOUT_MS = 10 * 60_000
