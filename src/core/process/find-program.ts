import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { delimiter, join, resolve, sep } from 'node:path'
import which from 'which'
import { CrabError } from '../base/errors.ts'
import type { ProcessCommand } from './types.ts'

/**
 * Returns the absolute path of a command's program, looked up as the system would in the command's directory.
 * Links are not followed, because Python and others inspect the name they were started by. Throws `missing`.
 */
export async function findProgram({ argv: [name], cwd, env }: ProcessCommand): Promise<string> {
  if (!(await isDirectory(cwd))) {
    throw new CrabError('missing', `Cannot start ${name}: the directory ${cwd} does not exist`)
  }
  const isPath = name.includes('/') || name.includes(sep)
  const target = isPath ? resolve(cwd, name) : name
  const folders = (env['PATH'] ?? DEFAULT_PATH).split(delimiter).map((folder) => resolve(cwd, folder))
  const options = {
    path: folders.join(delimiter),
    nothrow: true,
    ...(env['PATHEXT'] && { pathExt: env['PATHEXT'] }),
  }
  const program = name === '' ? null : await which(target, options)
  if (program !== null) return program
  throw isPath ? await toPathError(name, target) : toNameError(name)
}

/** Returns the absolute path of the first program of that name on a PATH; undefined when there is none. */
export function findOnPath(path: string, name: string): string | undefined {
  for (const folder of path.split(delimiter)) {
    const file = findInFolder(folder, name)
    if (file !== undefined) return file
  }
  return undefined
}

/** Returns the path of the program of that name in a folder; undefined when there is none. */
export function findInFolder(folder: string, name: string): string | undefined {
  const isWindows = platform() === 'win32'
  const file = join(folder, isWindows ? `${name}.exe` : name)
  try {
    const stats = statSync(file)
    return stats.isFile() && (isWindows || (stats.mode & 0o111) !== 0) ? file : undefined
  } catch {
    return undefined // it does not exist, or may not be read
  }
}

async function toPathError(name: string, path: string): Promise<CrabError> {
  if (await isDirectory(path)) return new CrabError('missing', `Cannot start ${name}: it is a directory`)
  const isFile = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isFile) return new CrabError('missing', `Cannot start ${name}: the file ${path} does not exist`)
  const hint = `make it executable: chmod +x ${path}`
  return new CrabError('missing', `Cannot start ${name}: the file is not executable`, { hint })
}

function toNameError(name: string): CrabError {
  return new CrabError('missing', `Cannot start ${name || "''"}: no program of that name is on the PATH`, {
    hint: `install ${ORIGINS.find(([programs]) => programs.test(name))?.[1] ?? 'it'}, or use its full path`,
  })
}

/** The product that a missing program comes with, and its page. */
const ORIGINS: readonly (readonly [RegExp, string])[] = [
  [/^(?:node|npm|npx)$/, 'Node.js (https://nodejs.org)'],
  [/^uvx?$/, 'uv (https://docs.astral.sh/uv)'],
  [/^docker$/, 'Docker (https://docs.docker.com/get-docker)'],
]

async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  )
}

/** The search path of a system without PATH. */
const DEFAULT_PATH = '/usr/bin:/bin'
