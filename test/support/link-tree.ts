import { mkdir, mkdtempDisposable, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder with files and links of a test; removed when disposed. */
export interface LinkTree extends AsyncDisposable {
  /** The real path, without links. */
  readonly root: string
  /** A path below the root. */
  at(path: string): string
}

/** Makes files (each with its path as content), folders (`a/`) and links (`a -> b`) in a temporary folder. */
export async function linkTree(entries: readonly string[]): Promise<LinkTree> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'crab-tree-'))
  const root = await realpath(directory.path)
  for (const entry of entries) {
    const [path = '', target] = entry.split(' -> ')
    await mkdir(dirname(join(root, path)), { recursive: true })
    if (target !== undefined) await symlink(target.replace(/^ROOT/, root), join(root, path))
    else if (path.endsWith('/')) await mkdir(join(root, path), { recursive: true })
    else await writeFile(join(root, path), path)
  }
  return {
    root,
    at: (path) => join(root, path),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  }
}
