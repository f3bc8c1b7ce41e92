import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { lazy } from '../../base/lazy.ts'
import { isMissing } from '../../base/system-error.ts'
import { isInside } from '../../policy/paths.ts'
import { Doubt, showText } from '../../policy/read-only/doubt.ts'

/** The place that a program comes from, by who decides which one runs: `inside` and `shim` are up to files of the project. */
export type ProgramOrigin = 'elsewhere' | 'inside' | 'shim' | 'nowhere'

/**
 * Gives a function that says where a program comes from. Throws a Doubt when that cannot be told for any program of a line.
 *
 * That is so for a PATH with a folder that is not absolute, which a `cd` changes, and when the shell itself comes from the
 * working directory. Without a PATH nothing runs, and every program counts as one from elsewhere.
 */
export async function openPrograms(
  path: string | undefined,
  cwd: string,
): Promise<(program: string) => Promise<ProgramOrigin>> {
  if (path === undefined) return () => Promise.resolve('elsewhere')
  const folders = path.split(delimiter)
  const relative = folders.find((folder) => !isAbsolute(folder))
  if (relative !== undefined)
    throw new Doubt(`PATH has a folder that is not absolute ("${showText(relative)}")`, {
      startsPrograms: true,
    })
  const real = lazy(() => Promise.all(folders.map(resolveFolder)))
  const find = async (program: string): Promise<ProgramOrigin> => {
    const places = [...new Set(await real.get())]
    const origins = await Promise.all(places.map((folder) => findOrigin(join(folder, program), cwd)))
    return origins.find((one) => one === 'inside') ?? origins.find((one) => one !== 'nowhere') ?? 'nowhere'
  }
  const bash = await find('bash')
  const shell = bash === 'nowhere' ? await find('sh') : bash
  if (shell !== 'elsewhere')
    throw new Doubt('PATH finds no bash outside of the working directory', { startsPrograms: true })
  return find
}

/**
 * Removes the folders from a PATH whose programs the working directory decides about: its own, links resolved, those that are
 * not absolute, and those of shims.
 */
export async function keepFoldersOutside(path: string, cwd: string): Promise<string> {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  const real = await Promise.all(folders.map(resolveFolder))
  return folders.filter((_, i) => !isInside(cwd, real[i]!) && !isShim(real[i]!)).join(delimiter)
}

/** Follows a program's links one by one: one that stands in the working directory may lead to anything. */
async function findOrigin(path: string, cwd: string): Promise<ProgramOrigin> {
  let at = path
  try {
    for (let links = 0; links < MAX_LINKS; links++) {
      const stats = await lstat(at)
      if (isInside(cwd, at)) return 'inside'
      if (isShim(at)) return 'shim'
      if (!stats.isSymbolicLink()) return 'elsewhere'
      const target = resolve(dirname(at), await readlink(at))
      at = join(await realpath(dirname(target)), basename(target))
    }
    return 'inside'
  } catch (reason) {
    return isMissing(reason) ? 'nowhere' : 'inside'
  }
}

/** Returns whether a path belongs to a version manager, whose programs start what a file of the project such as `.tool-versions` names. */
function isShim(path: string): boolean {
  return /(^|[\\/])(shims|mise|rtx|asdf|aqua-proxy|proto-shim|volta-shim)$|[\\/]shims[\\/]/i.test(path)
}

async function resolveFolder(folder: string): Promise<string> {
  return await realpath(folder).catch(() => folder)
}

/** The limit of Linux. */
const MAX_LINKS = 40
