import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { toVisible } from '../../core/base/visible.ts'
import { readTarball, type TarFile } from '../packages/tarball.ts'

/** Lists the files of a package; the content is read only for those that `keeps` selects. */
export type TreeReader = (keeps: (path: string) => boolean, signal: AbortSignal) => Promise<TarFile[]>

/** Reads the tree of a tarball. */
export function tarTree(path: string): TreeReader {
  return (keeps, signal) => readTarball(path, { ...LIMITS, keeps }, signal)
}

/** Reads the tree of a local folder; links are not followed, and `.git` and `node_modules` are left out. */
export function folderTree(folder: string): TreeReader {
  return async (keeps) => {
    const files: TarFile[] = []
    await walk({ folder, prefix: '', keeps, files })
    return files
  }
}

interface Walk {
  folder: string
  /** The path relative to the folder; empty, or ending in `/`. */
  prefix: string
  keeps(path: string): boolean
  files: TarFile[]
}

async function walk(at: Walk): Promise<void> {
  const { folder, prefix, files } = at
  const names = await readdir(join(folder, prefix)).catch((reason: unknown) => {
    throw toStorageError(`Cannot read ${join(folder, prefix)}`, reason)
  })
  for (const name of names.toSorted()) {
    if (LEFT_OUT.has(name)) continue
    if (files.length >= LIMITS.maxFiles)
      throw new CrabError('invalid', `Cannot use ${folder}: it has too many files`)
    await take(at, name)
  }
}

async function take(at: Walk, name: string): Promise<void> {
  const { folder, prefix, keeps, files } = at
  const path = `${prefix}${name}`
  const entry = await lstat(join(folder, path))
  if (entry.isDirectory()) return await walk({ ...at, prefix: `${path}/` })
  if (!entry.isFile()) return void files.push({ path, size: 0, content: undefined, isSpecial: true })
  const isKept = keeps(path)
  if (isKept && entry.size > LIMITS.maxKeptBytes) {
    throw new CrabError(
      'invalid',
      `Cannot use ${toVisible(path)}: it has more than ${LIMITS.maxKeptBytes} bytes`,
    )
  }
  const content = isKept ? await readFile(join(folder, path)) : undefined
  const isExecutable = (entry.mode & 0o100) !== 0
  files.push({ path, size: entry.size, content, ...(isExecutable && { isExecutable }) })
}

const LEFT_OUT: ReadonlySet<string> = new Set(['.git', 'node_modules'])
const LIMITS = { maxKeptBytes: 4 * 2 ** 20, maxBytes: 2 ** 28, maxFiles: 20_000, letsSpecial: true } as const
