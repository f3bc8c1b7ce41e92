import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/**
 * Returns the git branch that a folder is on, or the short id of a detached commit; undefined outside a
 * repository. Does not run git.
 */
export async function readBranch(folder: string): Promise<string | undefined> {
  const head = await readHead(folder)
  if (head === undefined) return undefined
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
  // a reftable repository stores it elsewhere
  if (branch !== undefined) return branch === '.invalid' ? undefined : branch
  return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined
}

async function readHead(folder: string): Promise<string | undefined> {
  const gitFolder = await findGitFolder(folder)
  const head = gitFolder && (await readSmall(join(gitFolder, 'HEAD')))
  return head === undefined ? undefined : head.trim()
}

/**
 * Finds the `.git` of a folder or of its nearest ancestor; in a worktree or submodule, `.git` is a file that
 * contains the path.
 */
export async function findGitFolder(folder: string): Promise<string | undefined> {
  const path = join(folder, '.git')
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return path
  if (found?.isFile()) {
    const target = /^gitdir: (.+)$/m.exec((await readSmall(path)) ?? '')?.[1]
    return target === undefined ? undefined : resolve(folder, target.trim())
  }
  const parent = dirname(folder)
  return parent === folder ? undefined : await findGitFolder(parent)
}

const MAX_BYTES = 4096

async function readSmall(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || found.size > MAX_BYTES) return undefined
  return await readFile(path, 'utf8').catch(() => undefined)
}
