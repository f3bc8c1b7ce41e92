import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { NOTICE_FILES } from '../notices/files.ts'
import type { Entry } from './file-tree.ts'
import { makeTarGz } from './tar.ts'
import { platformPackageName, TARGETS, type Target } from './targets.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The fields of package.json that the packages use. */
export interface Manifest {
  version: string
  description: string
  license: string
  exports: Record<string, Record<string, string> | string>
  dependencies: Record<string, string>
}

/** Makes the package with the binary of one platform; npm installs it on no other. */
export async function platformPackage(
  target: Target,
  { binary, manifest }: { binary: string; manifest: Manifest },
): Promise<{ name: string; bytes: Buffer }> {
  const name = platformPackageName(target)
  const json = {
    name,
    version: manifest.version,
    description: `crabtalk for ${target.name}`,
    license: manifest.license,
    os: [target.os],
    cpu: [target.cpu],
    ...(target.libc && { libc: [target.libc] }),
    preferUnplugged: true,
  }
  return toPackage(name, manifest.version, [
    { path: 'package.json', bytes: toJson(json) },
    { path: `bin/${target.binary}`, bytes: await readFile(binary), executable: true },
    await document('LICENSE'),
    ...(await noticesIn(dirname(binary))),
  ])
}

/**
 * Makes the package that users install: the launcher, and the library entries that `npm run build:lib` writes
 * to `dist/lib`.
 */
export async function mainPackage(
  manifest: Manifest,
  lib = join(ROOT, 'dist/lib'),
): Promise<{ name: string; bytes: Buffer }> {
  const { version, description, license } = manifest
  const json = {
    name: 'crabtalk',
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=20' },
    bin: { crabtalk: 'bin/crabtalk', crabup: 'bin/crabup' },
    scripts: { postinstall: 'node bin/install.cjs' },
    exports: withoutSources(manifest.exports),
    dependencies: { '@bufbuild/protobuf': manifest.dependencies['@bufbuild/protobuf'] },
    optionalDependencies: Object.fromEntries(TARGETS.map((target) => [platformPackageName(target), version])),
  }
  const programs = ['launch.cjs', 'install.cjs', 'platform.cjs'].map((name) => inBin(name, name, false))
  return toPackage('crabtalk', version, [
    { path: 'package.json', bytes: toJson(json) },
    ...(await Promise.all([
      inBin('crabtalk', 'start.js', true),
      inBin('crabup', 'start.js', true),
      ...programs,
    ])),
    ...(await Promise.all(['README.md', 'LICENSE', 'CHANGELOG.md'].map(document))),
    ...(await noticesIn(lib)),
    ...(await tree(lib, 'dist/lib')).filter(({ path }) => !isNotice(path)),
    ...(await tree(join(ROOT, 'proto'), 'proto')),
  ])
}

/** Removes the conditions for the sources, which are not in the package. */
function withoutSources(exports: Manifest['exports']): Manifest['exports'] {
  return Object.fromEntries(
    Object.entries(exports).map(([name, entry]) => {
      if (typeof entry === 'string') return [name, entry]
      const { 'crabtalk-source': _, ...conditions } = entry
      return [name, conditions]
    }),
  )
}

function toPackage(
  name: string,
  version: string,
  entries: readonly Entry[],
): { name: string; bytes: Buffer } {
  const below = entries.map((entry) => ({ ...entry, path: `package/${entry.path}` }))
  return { name: `${name}-${version}.tgz`, bytes: makeTarGz(below) }
}

async function inBin(name: string, file: string, executable: boolean): Promise<Entry> {
  return { path: `bin/${name}`, bytes: await readFile(join(ROOT, 'packaging/npm', file)), executable }
}

/** Reads the notices and the SBOM that a build wrote to a folder. */
async function noticesIn(folder: string): Promise<Entry[]> {
  return await Promise.all(
    NOTICE_FILES.map(async (name) => ({ path: name, bytes: await readFile(join(folder, name)) })),
  )
}

/** Whether a file is a notice of the library entries, which goes to the top of the package instead. */
function isNotice(path: string): boolean {
  return NOTICE_FILES.some((name) => path === `dist/lib/${name}`)
}

async function document(name: string): Promise<Entry> {
  return { path: name, bytes: await readFile(join(ROOT, name)) }
}

/** Reads all files of a folder, renamed to be below `name`. */
async function tree(folder: string, name: string): Promise<Entry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name))
  return await Promise.all(
    files.map(async (file) => ({
      path: `${name}/${relative(folder, file).replaceAll('\\', '/')}`,
      bytes: await readFile(file),
    })),
  )
}

function toJson(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`)
}
