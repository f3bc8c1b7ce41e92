import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { type CheckContext, type CheckResult, ok, problem, warning } from '../../../cli/check.ts'
import { toCrabError } from '../../../core/base/errors.ts'
import { findProgram } from '../../../core/process/find-program.ts'
import { runTool } from '../../../core/process/run-tool.ts'
import { serverEnvironment } from '../../../mcp/stdio/environment.ts'
import type { CheckedServer } from './checked-servers.ts'

/** A program that runs servers. */
interface Runtime {
  /** The names of the commands of entries that use it. */
  commands: RegExp
  /** Returns the command line that prints its version. */
  toVersionLine(command: string): readonly [string, ...string[]]
  hint: string
}

const RUNTIMES: readonly Runtime[] = [
  {
    commands: /^(?:node|npx|npm)$/,
    toVersionLine: (command) => [toName(command) === 'node' ? command : 'node', '--version'],
    hint: 'install Node 20 or newer',
  },
  {
    commands: /^uvx?$/,
    toVersionLine: (command) => [command, '--version'],
    hint: 'install uv: https://docs.astral.sh/uv',
  },
  {
    commands: /^python[\d.]*$/,
    toVersionLine: (command) => [command, '--version'],
    hint: 'install Python 3',
  },
  {
    commands: /^docker$/,
    toVersionLine: (command) => [command, 'version', '--format', '{{.Server.Version}}'],
    hint: 'start Docker, and see that you may use it',
  },
]

/**
 * Reports the versions of the runtimes that servers use, and a Node that is too old for one of them. Each runtime is
 * asked once for each PATH, in the environment of a server: without the keys of this program's models.
 */
export async function checkRuntimes(
  servers: readonly CheckedServer[],
  { host }: Pick<CheckContext, 'host'>,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const active = servers.filter(({ entry }) => entry.disabled !== true)
  const used = RUNTIMES.flatMap((runtime) => {
    const users = active.filter(({ entry }) => runtime.commands.test(toName(entry.command)))
    const toKey = ({ entry }: CheckedServer) =>
      JSON.stringify([runtime.toVersionLine(entry.command!)[0], findOwnPath(entry)])
    return [...Map.groupBy(users, toKey).values()].map((group) => ({ runtime, users: group }))
  })
  return (await Promise.all(used.map((one) => checkRuntime(one, host, signal)))).flat()
}

async function checkRuntime(
  { runtime, users }: { runtime: Runtime; users: readonly CheckedServer[] },
  host: CheckContext['host'],
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const { entry } = users[0]!
  const line = runtime.toVersionLine(entry.command!)
  const env = serverEnvironment(host.env, findOwnPath(entry))
  const [program] = line
  try {
    const { code, stdout, stderr } = await runTool(line, { env, timeoutMs: LIMIT_MS }, signal)
    const version = stdout.trim().split('\n')[0] ?? ''
    if (code !== 0) return [problem(`${program} does not work: ${lastLine(stderr)}`, runtime.hint)]
    const old = toName(program) === 'node' ? await findTooOld(version, users, host) : []
    return old.length > 0 ? old : [ok(`${program} ${version.replace(/^\D+/, '')}`)]
  } catch (reason) {
    signal.throwIfAborted()
    const { kind, message } = toCrabError(reason)
    return kind === 'missing' ? [] : [problem(message, runtime.hint)] // servers that need it say that it is missing
  }
}

/** Returns the PATH that an entry declares for its program, as a variable; nothing when it declares none. */
function findOwnPath({ env = {} }: CheckedServer['entry']): Record<string, string> {
  return env['PATH'] === undefined ? {} : { PATH: env['PATH'] }
}

async function findTooOld(
  version: string,
  users: readonly CheckedServer[],
  { env, homeDir }: CheckContext['host'],
): Promise<CheckResult[]> {
  const hint = 'install a newer Node'
  if (isOlder(version, `>=${MIN_NODE}`))
    return [problem(`node is ${version}, and MCP servers need ${MIN_NODE} or newer`, hint)]
  const found = users.map(async ({ what, entry }) => {
    const range = await readEngine(entry, env['npm_config_cache'] ?? join(homeDir, '.npm'))
    if (range === undefined || !isOlder(version, range)) return []
    return [warning(`${what}: its package needs node ${range}, and node is ${version}`, hint)]
  })
  return (await Promise.all(found)).flat()
}

/** Returns the range of Node that the package of a server asks for, as far as it is on this machine. */
async function readEngine(
  { command = '', args = [], cwd }: CheckedServer['entry'],
  cache: string,
): Promise<string | undefined> {
  if (toName(command) === 'node') {
    const script = args.find((word) => !word.startsWith('-')) ?? ''
    const path = isAbsolute(script) ? script : join(cwd ?? '', script)
    return isAbsolute(path) ? await readNearestEngine(dirname(path)) : undefined
  }
  const word = args.find((one) => !one.startsWith('-')) ?? ''
  const name = word.replace(/(?<=.)@[^/]*$/, '')
  if (!/^(?:@[\w.-]+\/)?[\w.-]+$/.test(name)) return undefined
  const folders = await readdir(join(cache, '_npx')).catch(() => []) // nothing was started with npx yet
  const known = folders.map((one) =>
    readEngineOf(join(cache, '_npx', one, 'node_modules', name, 'package.json')),
  )
  return (await Promise.all(known)).find((range) => range !== undefined)
}

async function readNearestEngine(folder: string): Promise<string | undefined> {
  const range = await readEngineOf(join(folder, 'package.json'))
  if (range !== undefined || folder === dirname(folder)) return range
  return await readNearestEngine(dirname(folder))
}

async function readEngineOf(path: string): Promise<string | undefined> {
  try {
    const { engines }: { engines?: { node?: unknown } } = JSON.parse(await readFile(path, 'utf8'))
    return typeof engines?.node === 'string' ? engines.node : undefined
  } catch {
    return undefined // there is no package
  }
}

/** Whether a version is older than every version that a range names. Ranges without a version contain all. */
export function isOlder(version: string, range: string): boolean {
  const named = range.match(/\d+(?:\.\d+)*/g)?.map(toNumbers) ?? []
  const own = toNumbers(version)
  return named.length > 0 && named.every((one) => compare(own, one) < 0)
}

function toNumbers(version: string): number[] {
  return version
    .replace(/^\D+/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < 3; at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns the path of the program of a server on a PATH; undefined when it is not there, or names a path itself. */
export async function findOnServicePath(command: string, path: string): Promise<string | undefined> {
  return await findProgram({ argv: [command], cwd: '/', env: { PATH: path } }).catch(() => undefined)
}

function toName(command = ''): string {
  return basename(command).replace(/\.(?:exe|cmd)$/i, '')
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

const MIN_NODE = '18'
const LIMIT_MS = 3_000
