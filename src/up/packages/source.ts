import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { parseObject } from '../../core/base/json.ts'
import type { JsonObject } from '../../core/base/message.ts'
import { type PackageFacts, toFacts } from './facts.ts'
import type { InstalledService } from './installed.ts'
import type { Npm } from './npm.ts'
import { readTarball, type TarFile, type TarLimits } from './tarball.ts'
import { isVersion } from './version-order.ts'
import type { Wanted } from './wanted.ts'

/** A package as far as it was looked at. */
export interface PackageSource {
  manifest: JsonObject
  facts: PackageFacts
  /** As it was named. */
  source: string
  origin: InstalledService['origin']
  /** Brings its tarball, which was checked, into the folder it was looked up with. */
  fetch(signal: AbortSignal): Promise<string>
}

/** Looks at what is wanted; of the registry nothing is downloaded yet, a folder is packed without running its scripts. */
export async function lookAt(
  wanted: Wanted,
  { npm, folder }: { npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  if (wanted.kind === 'registry') return await lookUp(wanted, { npm, folder }, signal)
  const tarball =
    wanted.kind === 'folder' ? await npm.pack(wanted.path, folder, signal) : await copyIn(wanted.path, folder)
  const { manifest, bytes } = await readManifest(tarball, wanted.path, signal)
  const facts = { ...toFacts(manifest), publisher: undefined, bytes }
  return { manifest, facts, source: wanted.path, origin: wanted.kind, fetch: async () => tarball }
}

async function lookUp(
  wanted: Extract<Wanted, { kind: 'registry' }>,
  { npm, folder }: { npm: Npm; folder: string },
  signal: AbortSignal,
): Promise<PackageSource> {
  const spec = wanted.version === undefined ? wanted.package : `${wanted.package}@${wanted.version}`
  const manifest = await npm.view(spec, signal)
  const facts = toFacts(manifest)
  const what = `${wanted.package}@${facts.version}`
  if (facts.package !== wanted.package || !isVersion(facts.version)) {
    throw new CrabError('invalid', `Cannot use ${spec}: the registry names another package or version`)
  }
  return {
    manifest,
    facts,
    source: spec,
    origin: 'registry',
    fetch: async (fetchSignal) => {
      const tarball = await npm.pack(what, folder, fetchSignal)
      const inside = toFacts((await readManifest(tarball, what, fetchSignal)).manifest)
      if (inside.package === facts.package && inside.version === facts.version) return tarball
      throw new CrabError('invalid', `Cannot use ${what}: the tarball is ${inside.package}@${inside.version}`)
    },
  }
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
): Promise<{ manifest: JsonObject; bytes: number }> {
  const files = await readTarball(tarball, MANIFEST_ONLY, signal)
  const manifest = parseObject(contentOf(files, 'package.json'))
  const { package: name, version } = toFacts(manifest ?? {})
  if (!manifest || name === '' || !isVersion(version)) {
    throw new CrabError('invalid', `Cannot use ${named}: it has no package.json with a name and a version`)
  }
  return { manifest, bytes: files.reduce((total, { size }) => total + size, 0) }
}

function contentOf(files: readonly TarFile[], path: string): string {
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
