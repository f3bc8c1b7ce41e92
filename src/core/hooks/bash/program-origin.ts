import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { lazy } from '../../base/lazy.ts'
import { isMissing } from '../../base/system-error.ts'
import { isInWorkspace, type Workspace } from '../../policy/paths.ts'
import { Doubt, showText } from '../../policy/read-only/doubt.ts'

/**
 * The place where PATH finds a program; `inside` and `shim` mean that files of the working directory, or of an added one, decide
 * which program runs.
 */
export type ProgramOrigin = 'elsewhere' | 'inside' | 'shim' | 'nowhere'

/**
 * Returns a function that finds where a program comes from. Throws a Doubt when that cannot be determined for
 * any program of a line.
 *
 * This is the case for a PATH with a relative folder, which a `cd` changes, and when the shell itself comes
 * from the working directory. Without a PATH nothing runs, and every program counts as `elsewhere`.
 */
export async function openPrograms(
  path: string | undefined,
  workspace: Workspace,
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
    const origins = await Promise.all(places.map((folder) => findOrigin(join(folder, program), workspace)))
    return origins.find((one) => one === 'inside') ?? origins.find((one) => one !== 'nowhere') ?? 'nowhere'
  }
  const bash = await find('bash')
  const shell = bash === 'nowhere' ? await find('sh') : bash
  if (shell !== 'elsewhere')
    throw new Doubt('PATH has no bash outside the working directory', { startsPrograms: true })
  return find
}

/**
 * Removes from a PATH the folders whose programs depend on the working directory: those inside it, links
 * resolved, relative ones, and those of shims.
 */
export async function keepFoldersOutside(path: string, workspace: Workspace): Promise<string> {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder))
  const real = await Promise.all(folders.map(resolveFolder))
  return folders.filter((_, i) => !isInWorkspace(workspace, real[i]!) && !isShim(real[i]!)).join(delimiter)
}

/** Follows a program's links one by one, because a link inside the working directory may lead to anything. */
async function findOrigin(path: string, workspace: Workspace): Promise<ProgramOrigin> {
  let at = path
  try {
    for (let links = 0; links < MAX_LINKS; links++) {
      const stats = await lstat(at)
      if (isInWorkspace(workspace, at)) return 'inside'
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

/**
 * Whether a path belongs to a version manager, whose shims start the program that a project file such as
 * `.tool-versions` names.
 */
function isShim(path: string): boolean {
  return /(^|[\\/])(shims|mise|rtx|asdf|aqua-proxy|proto-shim|volta-shim)$|[\\/]shims[\\/]/i.test(path)
}

async function resolveFolder(folder: string): Promise<string> {
  return await realpath(folder).catch(() => folder)
}

/** The limit of links that Linux follows. */
const MAX_LINKS = 40
