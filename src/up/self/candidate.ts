import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { arch, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { toStorageError } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import type { Npm } from '../packages/npm.ts'
import { compareVersions, isNpmVersion } from '../packages/version-order.ts'
import type { UpHost } from '../types.ts'
import { extractProgram } from './archive.ts'
import { verifyFile } from './checksum.ts'

/** Where another version comes from: a file, or the registry. */
export interface UpdateSource {
  /** An archive of a release, a package of npm, or a program; absolute. */
  file?: string
  /** What SHA-256 the file has, in hexadecimal; else it is looked for beside the file. */
  sha256?: string
  /** The one that is wanted; by default the newest. */
  version?: string
}

/**
 * The program of another version, its checksum verified; undefined when the registry has that which there is, or none
 * newer where the newest is wanted, of which nothing is fetched. `npm` is asked for only when the registry is.
 */
export async function fetchProgram(
  { file, sha256, version }: UpdateSource,
  { own, host, npm }: { own: string; host: Pick<UpHost, 'platform'>; npm: () => Promise<Npm> },
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (file === undefined) {
    const found = await npm()
    const spec = `${packageFor(host)}@${version ?? 'latest'}`
    const { version: there } = await found.view(spec, signal)
    if (there === own || (version === undefined && isOlder(there, own))) return undefined
    return await fromRegistry(spec, found, signal)
  }
  const bytes = await readFile(file, { signal }).catch((reason) => {
    const code = getErrorCode(reason)
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EISDIR' ? 'it is a folder' : undefined
    if (why !== undefined) throw new CrabError('no-input', `Cannot read ${file}: ${why}`)
    throw toStorageError(`Cannot read ${file}`, reason)
  })
  await verifyFile(file, bytes, sha256)
  return await extractProgram(bytes, basename(file))
}

/** Nobody who asks for the newest wants an older one: a build of their own, or a release that was taken back. */
function isOlder(there: unknown, own: string): boolean {
  return (
    typeof there === 'string' && isNpmVersion(there) && isNpmVersion(own) && compareVersions(there, own) < 0
  )
}

/** npm holds what it fetches against the checksum of the registry. */
async function fromRegistry(spec: string, npm: Npm, signal: AbortSignal): Promise<Buffer> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const tarball = await npm.pack(spec, folder.path, signal)
  return await extractProgram(await readFile(tarball), spec)
}

/** The npm package that carries the program for this system and processor. */
function packageFor({ platform }: Pick<UpHost, 'platform'>): string {
  return `crabtalk-${platform === 'win32' ? 'win' : platform}-${arch()}`
}
