import { createHash } from 'node:crypto'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { arch, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, toStorageError } from '../../core/base/files.ts'
import { getErrorCode } from '../../core/base/system-error.ts'
import type { Npm } from '../packages/npm.ts'
import { isNpmVersion } from '../packages/npm-version.ts'
import type { UpHost } from '../types.ts'
import { extractProgram } from './archive.ts'

/** The source of another version: a file, or the registry. */
export interface UpdateSource {
  /** The absolute path of a release archive, an npm package or a program. */
  file?: string
  /** The expected SHA-256 in hexadecimal; read from a file beside it when absent. */
  sha256?: string
  /** The requested version; the newest by default. */
  version?: string
}

/**
 * Fetches the program of another version and verifies its checksum. Returns undefined, without fetching, when
 * the registry's version is the own one, or when the newest is requested and it is not newer. `npm` is called
 * only when the registry is needed.
 */
export async function fetchProgram(
  { file, sha256, version }: UpdateSource,
  { own, host, npm }: { own: string; host: Pick<UpHost, 'platform'>; npm: () => Promise<Npm> },
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (file === undefined) {
    const found = await npm()
    const spec = `${packageFor(host)}@${version ?? 'latest'}`
    const { version: latest } = await found.view(spec, signal)
    if (latest === own || (version === undefined && (await isOlder(latest, own)))) return undefined
    return await fromRegistry(spec, found, signal)
  }
  const bytes = await readFile(file, { signal }).catch((reason) => {
    const code = getErrorCode(reason)
    const why = code === 'ENOENT' ? 'it does not exist' : code === 'EISDIR' ? 'it is a folder' : undefined
    if (why !== undefined)
      throw new CrabError('no-input', `Cannot read ${file}: ${why}`, { hint: NAME_A_FILE })
    throw toStorageError(`Cannot read ${file}`, reason)
  })
  await verifyFile(file, bytes, sha256)
  return await extractProgram(bytes, basename(file))
}

const NAME_A_FILE = 'give --from a release archive, or leave it out to install from npm'

/**
 * A request for the newest version never downgrades: the own version may be a local build, or newer than a
 * withdrawn release.
 */
async function isOlder(version: unknown, own: string): Promise<boolean> {
  if (typeof version !== 'string' || !isNpmVersion(version) || !isNpmVersion(own)) return false
  const { compareVersions } = await import('../packages/versions.ts')
  return compareVersions(version, own) < 0
}

/** npm verifies the checksum from the registry. */
async function fromRegistry(spec: string, npm: Npm, signal: AbortSignal): Promise<Buffer> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-'))
  const tarball = await npm.pack(spec, folder.path, signal)
  return await extractProgram(await readFile(tarball), spec)
}

/** Returns the npm package that carries the program for this platform and architecture. */
function packageFor({ platform }: Pick<UpHost, 'platform'>): string {
  return `crabtalk-${platform === 'win32' ? 'win' : platform}-${arch()}`
}

function hashSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/**
 * Verifies the checksum of a file: `sum`, or the one in `FILE.sha256` or SHA256SUMS beside it. Throws
 * `invalid` when it differs, and when no checksum is known.
 */
async function verifyFile(path: string, bytes: Uint8Array, sum: string | undefined): Promise<void> {
  const expected =
    sum === undefined ? await findChecksum(path) : { sum: sum.trim().toLowerCase(), from: '--sha256' }
  if (expected === undefined) {
    throw new CrabError('invalid', `Cannot update from ${path}: its checksum is unknown`, {
      hint: `put SHA256SUMS or ${basename(path)}.sha256 beside it, or pass --sha256`,
    })
  }
  if (!/^[\da-f]{64}$/.test(expected.sum)) {
    throw new CrabError(
      'invalid',
      `Cannot use the checksum of ${expected.from}: it is not 64 hexadecimal digits`,
    )
  }
  if (hashSha256(bytes) === expected.sum) return
  throw new CrabError('invalid', `Cannot update from ${path}: its checksum does not match ${expected.from}`, {
    hint: 'nothing was changed; download it again',
  })
}

/**
 * Finds the checksum beside a file. Lines are `HEX  NAME` as sha256sum writes them; a file named after this
 * one may hold the checksum alone.
 */
async function findChecksum(path: string): Promise<{ sum: string; from: string } | undefined> {
  const name = basename(path)
  for (const file of [`${path}.sha256`, join(dirname(path), 'SHA256SUMS')]) {
    const text = await readFile(file, 'utf8').catch((reason) => {
      if (isMissingFile(reason)) return ''
      throw reason
    })
    const rows = text.split('\n').map((line) => line.trim().split(/\s+\*?/))
    const row = rows.find(([sum = '', of]) => sum !== '' && (of === undefined || of === name))
    if (row?.[0]) return { sum: row[0].toLowerCase(), from: basename(file) }
  }
  return undefined
}
