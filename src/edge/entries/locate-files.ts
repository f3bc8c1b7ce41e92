import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isInside } from '../../core/policy/paths.ts'
import { findProject } from '../../core/trust/find-project.ts'
import { PROJECT_FILES } from './has-server-files.ts'
import type { SessionPlace } from './types.ts'

/** The files that declare the servers of a session. */
export interface ServerFiles {
  /** The root of the project, links resolved: the limit of its links, and the value of CRABTALK_PROJECT_DIR. */
  projectDir: string
  /** The existing files of the project, by rising precedence. Absolute. */
  project: readonly string[]
}

/**
 * Finds the files of the project: of each name the one in the nearest folder, from the working directory up to
 * the root of its repository. Nothing below the home of crabtalk counts.
 */
export async function locateServerFiles(place: SessionPlace): Promise<ServerFiles> {
  const project = await findProject(place.cwd, place)
  if (!project) return { projectDir: place.cwd, project: [] }
  const found = await Promise.all(PROJECT_FILES.map((name) => findNearest(project.folders, name)))
  const isOwn = (path: string) => isInside(place.paths.home, path)
  return {
    projectDir: project.root,
    project: found.flatMap((path) => path ?? []).filter((path) => !isOwn(path)),
  }
}

async function findNearest(folders: readonly string[], name: string): Promise<string | undefined> {
  for (const folder of folders.toReversed()) {
    const path = join(folder, name)
    const stats = await lstat(path).catch(() => undefined) // one that cannot be reached does not count
    if (stats) return path
  }
  return undefined
}
