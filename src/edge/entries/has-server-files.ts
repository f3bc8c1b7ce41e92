import { lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionPlace } from './types.ts'

/** The files of a project that can declare servers, by rising precedence. */
export const PROJECT_FILES = ['.mcp.json', join('.crabtalk', 'mcp.toml')] as const

/**
 * Returns false when no file declares servers for sessions in this directory. Looks at names only, and loads
 * nothing, because nearly every start asks; locateServerFiles() decides which of the files count.
 */
export function hasServerFiles({ cwd, homeDir, paths }: SessionPlace): boolean {
  if (isThere(paths.userServers)) return true
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (PROJECT_FILES.some((name) => isThere(join(folder, name)))) return true
    if (isThere(join(folder, '.git')) || folder === homeDir || folder === dirname(folder)) return false
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false // a folder that cannot be searched has no files for this user
  }
}
