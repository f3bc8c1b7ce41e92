import { readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The git branch that a folder is on, the short id of a detached commit, or undefined outside of a repository; git is not run. */
export async function readBranch(folder: string): Promise<string | undefined> {
  const head = await readHead(folder)
  if (head === undefined) return undefined
  const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1]
  if (branch !== undefined) return branch === '.invalid' ? undefined : branch // reftable keeps it elsewhere
  return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 8) : undefined
}

async function readHead(folder: string): Promise<string | undefined> {
  const gitFolder = await findGitFolder(folder)
  const head = gitFolder && (await readSmall(join(gitFolder, 'HEAD')))
  return head === undefined ? undefined : head.trim()
}

/** `.git` of the folder or of the nearest one above; in a worktree or submodule it is a file that says where. */
async function findGitFolder(folder: string): Promise<string | undefined> {
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

const MOST_BYTES = 4096

async function readSmall(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || found.size > MOST_BYTES) return undefined
  return await readFile(path, 'utf8').catch(() => undefined)
}
