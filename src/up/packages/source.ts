import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type PackageFacts, toFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { Npm } from './npm.ts'
import { isNpmVersion } from './npm-version.ts'
import type { PackageSpec } from './package-spec.ts'
import { readTarball, type TarFile, type TarLimits } from './tarball.ts'

/** A checked package in a local tarball; nothing is unpacked yet. */
export interface PackageSource {
  /** The package.json inside the tarball, regardless of the registry's data. */
  manifest: JsonObject
  facts: PackageFacts
  /** The source as the user named it. */
  source: string
  origin: InstalledService['origin']
  tarball: string
  /** The files in the tarball. */
  files: readonly TarFile[]
}

/**
 * Fetches the registry's data about a package. Throws like Npm, and `invalid` when the registry returns
 * another package or version.
 */
export async function fetchPackageFacts(
  spec: Extract<PackageSpec, { kind: 'registry' }>,
  npm: Npm,
  signal: AbortSignal,
): Promise<PackageFacts> {
  const npmSpec = toNpmSpec(spec)
  const facts = toFacts(await npm.view(npmSpec, signal))
  if (facts.package === spec.package && isNpmVersion(facts.version)) return facts
  throw new CrabError('invalid', `Cannot use ${npmSpec}: the registry returned another package or version`)
}

/** Fetches the version that was looked up. The publisher comes from the registry, the rest from the tarball. */
export async function fetchPackage(
  spec: Extract<PackageSpec, { kind: 'registry' }>,
  at: { known: PackageFacts; npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  const { known, npm, folder } = at
  const what = `${known.package}@${known.version}`
  const tarball = await npm.pack(what, folder, signal)
  const { manifest, files, bytes } = await readManifest(tarball, what, signal)
  const packed = toFacts(manifest)
  if (packed.package !== known.package || packed.version !== known.version) {
    throw new CrabError('invalid', `Cannot use ${what}: its tarball is ${packed.package}@${packed.version}`)
  }
  const { publisher, maintainers, publishedAt, deprecated, hasSignature, hasProvenance } = known
  const registryFacts = { publisher, maintainers, publishedAt, deprecated, hasSignature, hasProvenance }
  const facts = { ...packed, bytes, ...registryFacts }
  return { manifest, facts, source: toNpmSpec(spec), origin: 'registry', tarball, files }
}

/**
 * Takes a tarball, or packs a folder without running its scripts. Works on a copy, so that what is checked is
 * what is installed.
 */
export async function takePackage(
  { kind, path }: Exclude<PackageSpec, { kind: 'registry' }>,
  { npm, folder }: { npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  const tarball = kind === 'folder' ? await npm.pack(path, folder, signal) : await copyIn(path, folder)
  const { manifest, files, bytes } = await readManifest(tarball, path, signal)
  const unpublished = { publisher: undefined, maintainers: [], hasSignature: false, hasProvenance: false }
  return {
    manifest,
    facts: { ...toFacts(manifest), bytes, ...unpublished },
    source: path,
    origin: kind,
    tarball,
    files,
  }
}

function toNpmSpec({ package: name, version }: Extract<PackageSpec, { kind: 'registry' }>): string {
  return version === undefined ? name : `${name}@${version}`
}

async function copyIn(path: string, folder: string): Promise<string> {
  const copy = join(folder, 'package.tgz')
  await copyFile(path, copy).catch((reason: unknown) => {
    throw toStorageError(`Cannot read ${path}`, reason)
  })
  return copy
}

/** Reads the package.json of a tarball and sums up its unpacked size. Throws `invalid`. */
async function readManifest(
  tarball: string,
  named: string,
  signal: AbortSignal,
): Promise<{ manifest: JsonObject; files: TarFile[]; bytes: number }> {
  const files = await readTarball(tarball, { ...MANIFEST_ONLY, displayName: named }, signal)
  const manifest = parseObject(findContent(files, 'package.json'))
  const { package: name, version } = toFacts(manifest ?? {})
  if (!manifest || name === '' || !isNpmVersion(version)) {
    throw new CrabError('invalid', `Cannot use ${named}: it has no package.json with a name and a version`)
  }
  return { manifest, files, bytes: files.reduce((total, { size }) => total + size, 0) }
}

function findContent(files: readonly TarFile[], path: string): string {
  return (
    files
      .findLast((file) => file.path === path)
      ?.content?.toString()
      .replace(/^\uFEFF/, '') ?? ''
  ) // of several entries with this path, npm keeps the last
}

const MANIFEST_ONLY: TarLimits = {
  keeps: (path) => path === 'package.json',
  maxKeptBytes: 2 ** 20,
  maxBytes: 2 ** 30,
  maxFiles: 100_000,
}
