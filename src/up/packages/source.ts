import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type PackageFacts, toFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { Npm } from './npm.ts'
import type { PackageSpec } from './package-spec.ts'
import { readTarball, type TarFile, type TarLimits } from './tarball.ts'
import { isNpmVersion } from './version-order.ts'

/** A package that lies here as a tarball, checked; nothing of it is unpacked yet. */
export interface PackageSource {
  /** Its package.json: of the tarball, whatever the registry says. */
  manifest: JsonObject
  facts: PackageFacts
  /** As it was named. */
  source: string
  origin: InstalledService['origin']
  tarball: string
  /** What is in it. */
  files: readonly TarFile[]
}

/** What the registry says of a package that is wanted from there. Fails with `missing`, `unavailable`… */
export async function fetchPackageFacts(
  wanted: Extract<PackageSpec, { kind: 'registry' }>,
  npm: Npm,
  signal: AbortSignal,
): Promise<PackageFacts> {
  const spec = toNpmSpec(wanted)
  const facts = toFacts(await npm.view(spec, signal))
  if (facts.package === wanted.package && isNpmVersion(facts.version)) return facts
  throw new CrabError('invalid', `Cannot use ${spec}: the registry names another package or version`)
}

/** Brings the version that was looked up. The publisher is whom the registry names, the rest what is in it. */
export async function fetchPackage(
  wanted: Extract<PackageSpec, { kind: 'registry' }>,
  at: { known: PackageFacts; npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  const { known, npm, folder } = at
  const what = `${known.package}@${known.version}`
  const tarball = await npm.pack(what, folder, signal)
  const { manifest, files, bytes } = await readManifest(tarball, what, signal)
  const inside = toFacts(manifest)
  if (inside.package !== known.package || inside.version !== known.version) {
    throw new CrabError('invalid', `Cannot use ${what}: its tarball is ${inside.package}@${inside.version}`)
  }
  const { publisher, maintainers, publishedAt, deprecated, hasSignature, hasProvenance } = known
  const told = { publisher, maintainers, publishedAt, deprecated, hasSignature, hasProvenance }
  const facts = { ...inside, bytes, ...told }
  return { manifest, facts, source: toNpmSpec(wanted), origin: 'registry', tarball, files }
}

/** Takes a tarball, or packs a folder without running its scripts. A copy: what is looked at is what is installed. */
export async function takePackage(
  { kind, path }: Exclude<PackageSpec, { kind: 'registry' }>,
  { npm, folder }: { npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  const tarball = kind === 'folder' ? await npm.pack(path, folder, signal) : await copyIn(path, folder)
  const { manifest, files, bytes } = await readManifest(tarball, path, signal)
  const nobody = { publisher: undefined, maintainers: [], hasSignature: false, hasProvenance: false }
  return {
    manifest,
    facts: { ...toFacts(manifest), bytes, ...nobody },
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

/** What a tarball's package.json says, and how large it is unpacked. Fails with `invalid`. */
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
  ) // what npm unpacks last counts
}

const MANIFEST_ONLY: TarLimits = {
  keeps: (path) => path === 'package.json',
  maxKeptBytes: 2 ** 20,
  maxBytes: 2 ** 30,
  maxFiles: 100_000,
}
