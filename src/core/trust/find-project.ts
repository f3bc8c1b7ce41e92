import { lstat, realpath } from 'node:fs/promises'
import { platform } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'

/** The folder that is trusted as a whole, and the path from it to the working directory. */
export interface Project {
  /** The root of the repository, or the working directory outside of one; absolute, with links resolved. */
  root: string
  /** The folders from the root to the working directory. */
  folders: readonly string[]
}

/** The user that a project belongs to. */
export interface ProjectOwner {
  uid: number
  /** The user's home directory, above which no repository is searched; empty when there is none. */
  homeDir: string
}

/**
 * Finds the project of a working directory: the nearest folder with a `.git` of this user or of root, as `git
 * rev-parse --show-toplevel` does, else the directory itself. Undefined for a directory that does not exist.
 */
export async function findProject(cwd: string, owner: ProjectOwner): Promise<Project | undefined> {
  const [here, home] = await Promise.all([
    realPath(cwd),
    owner.homeDir === '' ? undefined : realPath(owner.homeDir),
  ])
  if (here === undefined) return undefined
  const folders = ancestors(here, home)
  const isRoot = await Promise.all(folders.map((folder) => hasRepository(folder, owner)))
  const nearest = isRoot.lastIndexOf(true)
  const inProject = folders.slice(nearest < 0 ? -1 : nearest)
  return { root: inProject[0]!, folders: inProject }
}

/**
 * Whether a file or folder belongs to this user or to root. Always true on Windows, which has no such owners.
 */
export function isOwned({ uid }: { uid: number | bigint }, owner: Pick<ProjectOwner, 'uid'>): boolean {
  return platform() === 'win32' || Number(uid) === owner.uid || Number(uid) === 0
}

async function hasRepository(folder: string, owner: ProjectOwner): Promise<boolean> {
  const stats = await lstat(join(folder, '.git')).catch(() => undefined) // an inaccessible one is not ours
  return stats !== undefined && isOwned(stats, owner)
}

/** Returns the folders from the outermost one, at most the user's home directory, to the folder itself. */
function ancestors(folder: string, home: string | undefined): string[] {
  const parent = dirname(folder)
  return parent === folder || folder === home ? [folder] : [...ancestors(parent, home), folder]
}

async function realPath(path: string): Promise<string | undefined> {
  return await realpath(path).catch(() => undefined)
}

/** Returns the path of a project file relative to the root, with slashes. */
export function pathInProject({ root }: Pick<Project, 'root'>, path: string): string {
  return relative(root, path).replaceAll(sep, '/')
}
