import { open, readFile, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import { isObject, parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type PackageRecord, RECORD_FILE } from './installed.ts'
import type { Npm } from './npm.ts'
import type { PackagePorts } from './ports.ts'
import type { PackageSource } from './source.ts'

interface Installation {
  npm: Npm
  source: PackageSource
  /** The folder to install into; npm creates it. */
  prefix: string
  name: string
  ports: Pick<PackagePorts, 'platform' | 'now'>
}

/** Installs a package with npm, verifies that every file arrived, and writes its record. Throws like Npm. */
export async function install(at: Installation, signal: AbortSignal): Promise<void> {
  const { npm, source, prefix, ports } = at
  const { facts, files } = source
  await npm.install(source.tarball, prefix, signal)
  const modules = ports.platform === 'win32' ? ['node_modules'] : ['lib', 'node_modules']
  const parts = [...modules, ...facts.package.split('/')]
  const folder = join(prefix, ...parts)
  // When two files have the same path, the last one counts.
  const sizes = new Map(files.map(({ path, size }) => [path, size]))
  for (const [path, size] of sizes) {
    if (isMoved(path) || (await readSize(join(folder, path))) === size) continue
    throw new CrabError('failed', `Cannot install ${facts.package}: npm left ${path} incomplete`)
  }
  await writeRecord(at, { folder, parts })
}

/** The program of a package. */
interface PackageProgram {
  /** The path relative to the package folder, with `/`. */
  path: string
  runsOnNode: boolean
}

/** Chooses the `bin` entry without checking that its file exists. Throws `invalid`. */
export function chooseBin(manifest: JsonObject, name: string): string {
  const packageName = String(manifest['name'])
  const bins = readBins(manifest['bin'], packageName)
  const what = `Cannot use ${packageName}`
  if (bins.size === 0) {
    throw new CrabError('invalid', `${what}: it has no program to run`, {
      hint: 'a component needs one "bin"; skills and agents are installed by crabup pkg add',
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

/** Whether npm renames the file or puts it elsewhere. */
function isMoved(path: string): boolean {
  return path.endsWith('.gitignore') || path.includes('node_modules/')
}

async function readSize(path: string): Promise<number | undefined> {
  return await stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}

/** Writes the record last: an installation without one is incomplete. */
async function writeRecord(
  { source, prefix, name, ports }: Installation,
  { folder, parts }: { folder: string; parts: readonly string[] },
): Promise<void> {
  const { facts } = source
  const manifest = parseObject(await readFile(join(folder, 'package.json'), 'utf8').catch(() => ''))
  if (manifest?.['version'] !== facts.version) {
    throw new CrabError('failed', `Cannot install ${facts.package}: npm put nothing into ${folder}`)
  }
  const program = await findPackageProgram(folder, { manifest, name })
  const record: PackageRecord = {
    package: facts.package,
    version: facts.version,
    description: facts.description,
    script: [...parts, program.path].join('/'),
    runsOnNode: program.runsOnNode,
    installedAt: new Date(ports.now()).toISOString(),
    source: source.source,
    origin: source.origin,
    variables: [...facts.variables],
    ...(facts.publisher !== undefined && { publisher: facts.publisher }),
  }
  await replaceFile(join(prefix, RECORD_FILE), `${JSON.stringify(record, undefined, 2)}\n`)
}

/**
 * Finds the program that runs as the component: the only entry of `bin`, or of several the one named like the
 * package or the component. `folder` is the folder of the installed package. Throws `invalid`.
 */
async function findPackageProgram(
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
    throw new CrabError('invalid', `${what}: its program ${path} is missing`, {
      hint: 'build it first; in a clone of crabtalk: npm run build:components, then crabup pull ./dist/components/NAME.tgz',
    })
  }
  const way = relative(root, real)
  if (way.startsWith('..'))
    throw new CrabError('invalid', `${what}: its program ${path} is outside of the package`)
  return { path: way.split(sep).join('/'), runsOnNode: await isScript(real) }
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
