import { open, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'

/** The program of a package. */
export interface PackageProgram {
  /** The path relative to the package folder, with `/`. */
  path: string
  runsOnNode: boolean
}

/**
 * Finds the program that runs as the component: the only entry of `bin`, or of several the one named like the
 * package or the component. `folder` is the folder of the installed package. Throws `invalid`.
 */
export async function findPackageProgram(
  folder: string,
  { manifest, name }: { manifest: JsonObject; name: string },
): Promise<PackageProgram> {
  const path = chooseBin(manifest, name)
  const what = `Cannot use ${String(manifest['name'])}`
  const [real, root] = await Promise.all([
    realpath(join(folder, path)).catch(() => undefined),
    realpath(folder),
  ])
  if (real === undefined) {
    throw new CrabError('invalid', `${what}: its program ${path} is not in it`, {
      hint: 'build it first; the components of a clone of crabtalk: npm run build:components, then crabup pull ./dist/components/NAME.tgz',
    })
  }
  const way = relative(root, real)
  if (way.startsWith('..')) throw new CrabError('invalid', `${what}: its program ${path} lies outside of it`)
  return { path: way.split(sep).join('/'), runsOnNode: await isScript(real) }
}

/** Chooses the `bin` entry without checking that its file exists. Throws `invalid`. */
export function chooseBin(manifest: JsonObject, name: string): string {
  const packageName = String(manifest['name'])
  const bins = readBins(manifest['bin'], packageName)
  const what = `Cannot use ${packageName}`
  if (bins.size === 0) {
    throw new CrabError('invalid', `${what}: it has no program to run`, {
      hint: 'a component has one "bin"; skills and agents come by crabup pkg add',
    })
  }
  const bare = packageName.replace(/^@[^/]*\//, '')
  const chosen = bins.size === 1 ? [...bins.values()][0] : (bins.get(bare) ?? bins.get(name))
  if (chosen === undefined) {
    const names = [...new Set([bare, name])].join(' or ')
    throw new CrabError('invalid', `${what}: it has several programs, and none is called ${names}`)
  }
  return chosen
}

function readBins(bin: unknown, packageName: string): Map<string, string> {
  if (typeof bin === 'string' && bin !== '') return new Map([[packageName.replace(/^@[^/]*\//, ''), bin]])
  if (!isObject(bin)) return new Map()
  return new Map(
    Object.entries(bin).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
    ),
  )
}

/**
 * Whether a program is a script for Node, judged by its `#!` line if it has one and by its extension
 * otherwise.
 */
async function isScript(path: string): Promise<boolean> {
  await using file = await open(path, 'r')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  const [first = ''] = buffer.subarray(0, bytesRead).toString('latin1').split('\n')
  return first.startsWith('#!') ? /\bnode\b/.test(first) : /\.[cm]?js$/.test(path)
}

const HEAD_BYTES = 256
