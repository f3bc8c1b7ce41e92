import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { basename, dirname, extname, relative, sep } from 'node:path'
import { getErrorCode, isMissing } from '../base/system-error.ts'
import { isInside } from '../policy/paths.ts'
import { isOwned } from '../trust/find-project.ts'
import { FD_LINKS } from './folder.ts'
import type { ProtectedPaths } from './protected-paths.ts'

/** The limits on opening a file that a user's folder, or a project, has for crabtalk. */
export interface OwnedFileAccess {
  uid: number
  /**
   * The folder that links may not lead out of; undefined for the user's own file, whose links may lead
   * anywhere.
   */
  linkRoot: string | undefined
  /** The files that a link of a project may lead to: their extensions, and what they are called in an error. */
  linkTargets: { extensions: ReadonlySet<string>; name: string }
  /** Opens the protected paths, which are recognized by path and by inode. */
  closed(): Promise<ProtectedPaths>
  /** The folder whose links lead to the open files of this process, where the system has one. */
  fdLinks?: string
}

/** The reason such a file is not read, as the end of a sentence about it. */
export class RefusedFile extends Error {}

/**
 * Reads the first `maxBytes` of a file; undefined when it does not exist.
 *
 * Throws a RefusedFile for anything but a regular file that belongs to this user or root and that other users
 * cannot write, for a link that leads out of its project or to another kind of file, and for crabtalk's
 * own files under any name. The checks are made on the open file, so the file that was checked is the one
 * that is read.
 */
export async function readOwnedFile(
  path: string,
  access: OwnedFileAccess,
  maxBytes: number,
): Promise<Buffer | undefined> {
  try {
    const found = await lstat(path, { bigint: true })
    if (!found.isSymbolicLink()) return await readChecked({ path, found }, access, maxBytes)
    const target = await followLink(path, access)
    return await readChecked({ path: target, found: await lstat(target, { bigint: true }) }, access, maxBytes)
  } catch (reason) {
    if (reason instanceof RefusedFile) throw reason
    if (isMissing(reason)) return undefined
    throw new RefusedFile(
      REASONS[getErrorCode(reason)] ?? `the system reports ${getErrorCode(reason) || String(reason)}`,
    )
  }
}

async function readChecked(
  { path, found }: { path: string; found: BigIntStats },
  access: OwnedFileAccess,
  maxBytes: number,
): Promise<Buffer> {
  refuseKind(found) // checked before opening, because opening a device may have effects, and a pipe may block
  await using file = await open(path, OPEN_FLAGS)
  const stats = await file.stat({ bigint: true })
  if (stats.ino !== found.ino || stats.dev !== found.dev) throw new RefusedFile(SWAPPED)
  await requireSamePath(file, { path, stats }, access)
  await refuseWriters(path, stats, access)
  if (access.linkRoot !== undefined || stats.nlink > 1n) {
    const closed = await access.closed()
    if (closed.holds(path) || (await closed.hasNameIn(stats))) throw new RefusedFile(OWN)
  }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0)
  return buffer.subarray(0, bytesRead)
}

/** Returns the target of a link, which must be a file of the right kind inside its project. */
async function followLink(path: string, { linkRoot, linkTargets, closed }: OwnedFileAccess): Promise<string> {
  const target = await realpath(path).catch((reason: unknown) => {
    throw isMissing(reason) ? new RefusedFile('it is a broken link') : reason
  })
  if ((await closed()).holds(target)) throw new RefusedFile(OWN)
  if (linkRoot === undefined) return target
  if (!isInside(linkRoot, target)) throw new RefusedFile('it is a link that points outside its folder')
  const inGit = relative(linkRoot, target).toLowerCase().split(sep).includes('.git')
  if (inGit || !linkTargets.extensions.has(extname(target).toLowerCase())) {
    throw new RefusedFile(`it is a link to something other than a ${linkTargets.name}`)
  }
  return target
}

function refuseKind(stats: BigIntStats): void {
  if (stats.isFile()) return
  const kind = KINDS.find(([is]) => is(stats))
  throw new RefusedFile(kind ? `it is ${kind[1]}` : 'it is not a regular file')
}

/**
 * Requires the open file to be the one that the path leads to without a link, because a parent folder may
 * have been replaced.
 */
async function requireSamePath(
  file: FileHandle,
  { path, stats }: { path: string; stats: BigIntStats },
  { fdLinks = FD_LINKS }: OwnedFileAccess,
): Promise<void> {
  // Undefined on a system without such links.
  const opened = await readlink(`${fdLinks}/${file.fd}`).catch(() => undefined)
  if (opened !== undefined) {
    const isSame = dirname(opened) === dirname(path) && fold(basename(opened)) === fold(basename(path))
    if (!isSame) throw new RefusedFile(SWAPPED)
    return
  }
  const [folder, now] = await Promise.all([realpath(dirname(path)), lstat(path, { bigint: true })])
  if (folder !== dirname(path) || now.ino !== stats.ino || now.dev !== stats.dev)
    throw new RefusedFile(SWAPPED)
}

/** Normalizes a name: file systems that ignore case report the stored spelling. */
function fold(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

async function refuseWriters(path: string, stats: BigIntStats, access: OwnedFileAccess): Promise<void> {
  if (!isOwned(stats, access)) throw new RefusedFile('it belongs to another user')
  if (platform() === 'win32') return
  if (stats.mode & ANYBODY_WRITES) throw new RefusedFile('every user of this machine can write it')
  const { mode } = await stat(dirname(path), { bigint: true })
  if (mode & ANYBODY_WRITES && !(mode & STICKY)) {
    throw new RefusedFile('every user of this machine can replace it: its folder is writable by everyone')
  }
}

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const ANYBODY_WRITES = 0o002n
const STICKY = 0o1000n
const SWAPPED = 'another program is replacing it right now'
const OWN = "it is one of crabtalk's own files"

const KINDS: readonly (readonly [(stats: BigIntStats) => boolean, string])[] = [
  [(stats) => stats.isDirectory(), 'a folder'],
  [(stats) => stats.isSymbolicLink(), 'a link now'],
  [(stats) => stats.isFIFO(), 'a named pipe'],
  [(stats) => stats.isSocket(), 'a socket'],
  [(stats) => stats.isCharacterDevice() || stats.isBlockDevice(), 'a device'],
]

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'the file system denies it to this user',
  EPERM: 'the file system denies it to this user',
  ELOOP: 'its links form a loop',
  EMLINK: 'it is a link now',
  ENXIO: 'it is a socket or a device',
  EIO: 'the disk reports an error',
}
