import { stat } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { findProgram } from '../../core/process/find-program.ts'
import type { ManagerCommand, UpHost } from '../types.ts'

/** An installed Node. */
export interface NodeProgram {
  path: string
  /** The version as Node prints it, such as `v22.12.0`. */
  version: string
}

/** Runs the Node at a path to find its version; undefined when it does not print one. */
export async function probeNode(
  path: string,
  { run, env }: Pick<UpHost, 'run' | 'env'>,
  signal: AbortSignal,
): Promise<NodeProgram | undefined> {
  const { stdout } = await run([path, '--version'], { env, timeoutMs: TIMEOUT_MS }, signal)
  const version = stdout.trim()
  return /^v\d+\.\d+\.\d+/.test(version) ? { path, version } : undefined
}

/**
 * Finds the command that starts the npm on the PATH without a shell. On Windows npm is a batch file, which
 * Node can only start through a shell whose quoting depends on the program; the command there is Node with
 * the script that the batch file runs. Throws `missing`.
 */
export async function findNpmProgram(
  { env: all, platform }: Pick<UpHost, 'env' | 'platform'>,
  cwd: string,
): Promise<ManagerCommand> {
  const set = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const path = all['PATH'] ?? all['Path']
  const env = { ...Object.fromEntries(set), ...(path !== undefined && { PATH: path }) }
  const find = (name: string) => findProgram({ argv: [name], cwd, env })
  const npm = await find('npm').catch((cause: unknown) => {
    throw new CrabError('missing', 'Cannot run npm: no npm is on the PATH', {
      hint: 'npm comes with Node.js: https://nodejs.org',
      cause,
    })
  })
  if (platform !== 'win32' || ['.exe', '.com'].includes(extname(npm).toLowerCase())) return [npm]
  const folder = dirname(npm)
  const [own, script] = [join(folder, 'node.exe'), join(folder, 'node_modules', 'npm', 'bin', 'npm-cli.js')]
  const node = (await isFile(own)) ? own : await find('node').catch(() => undefined)
  if (node !== undefined && (await isFile(script))) return [node, script]
  const why = node === undefined ? 'no node is beside it or on the PATH' : `${script} does not exist`
  throw new CrabError('missing', `Cannot run ${npm}: ${why}`, {
    hint: 'put the folder of Node itself, which contains npm, first on the PATH',
  })
}

async function isFile(path: string): Promise<boolean> {
  return await stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  )
}

const TIMEOUT_MS = 10_000
