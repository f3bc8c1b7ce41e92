import { mkdir, mkdtempDisposable, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder of one test; removed when disposed. */
export interface Tree extends AsyncDisposable {
  /** The real path, without links. */
  root: string
  path(name: string): string
}

/** Creates files by name; a name that ends with `/` is a folder, `-> target` instead of content creates a link. */
export async function makeTree(files: Readonly<Record<string, string | Uint8Array>>): Promise<Tree> {
  const folder = await mkdtempDisposable(join(await realpath(tmpdir()), 'crab tree '))
  const path = (name: string) => join(folder.path, name)
  for (const [name, content] of Object.entries(files)) await make(path(name), content)
  return { root: folder.path, path, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

async function make(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(path.endsWith('/') ? path : dirname(path), { recursive: true })
  const link = typeof content === 'string' ? /^-> (.+)$/.exec(content)?.[1] : undefined
  if (path.endsWith('/')) return
  await (link === undefined ? writeFile(path, content) : symlink(link, path))
}
