import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { toCancelledError } from '../../core/base/abortable.ts'
import { CrabError } from '../../core/base/errors.ts'
import { toVisible } from '../../core/base/visible.ts'

/** A file in a tarball. */
export interface TarFile {
  /** The path relative to the package, with `/`, such as `package.json`. */
  path: string
  size: number
  /** The content of the file when `keeps` selected it. */
  content: Buffer | undefined
  /** Set when its owner may execute it. */
  isExecutable?: true
  /** Set for a link or a device, which is never written to disk; only with `letsSpecial`. */
  isSpecial?: true
}

/** The limits and choices for reading a tarball. */
export interface TarLimits {
  /** Whether to keep the content of a file. */
  keeps(path: string): boolean
  /** The maximum size of one kept file, in bytes. */
  maxKeptBytes: number
  /** The maximum unpacked size, in bytes. */
  maxBytes: number
  maxFiles: number
  /** Lists links and devices for the caller to judge instead of rejecting them. */
  letsSpecial?: true
  /** The name for messages; the path by default. */
  displayName?: string
}

/**
 * Lists the files of a package's tarball (ustar, with the path records of pax and GNU), in archive order.
 * Nothing is unpacked to disk.
 *
 * The tarball is gzip-compressed unless its name ends in `.tar`. All of its files lie in one top-level
 * folder, which is left out of the paths. Throws `invalid` when the file is not such a tarball, exceeds the
 * limits, or contains absolute paths, `..`, links or devices.
 */
export async function readTarball(path: string, limits: TarLimits, signal: AbortSignal): Promise<TarFile[]> {
  const { displayName = path } = limits
  const reader = new TarReader(displayName, limits)
  try {
    const take = reader.take.bind(reader)
    if (path.endsWith('.tar')) await pipeline(createReadStream(path), take, { signal })
    else await pipeline(createReadStream(path), createGunzip(), take, { signal })
  } catch (reason) {
    if (signal.aborted) throw toCancelledError(signal)
    if (reason instanceof CrabError) throw reason
    throw tarballError(displayName, 'it is not a complete gzip file', reason)
  }
  return reader.files
}

interface Entry {
  path: string
  type: string
  size: number
  isExecutable: boolean
  pieces: Buffer[] | undefined
  /** The bytes of content that are still to come, and then of padding. */
  left: number
  padding: number
}

class TarReader {
  readonly files: TarFile[] = []
  readonly #tarball: string
  readonly #limits: TarLimits
  #rest: Buffer = Buffer.alloc(0)
  #entry: Entry | undefined
  /** The path of the next entry, from the record before it. */
  #longPath: string | undefined
  #bytes = 0
  #isOver = false

  constructor(tarball: string, limits: TarLimits) {
    this.#tarball = tarball
    this.#limits = limits
  }

  async take(pieces: AsyncIterable<Buffer>): Promise<void> {
    for await (const piece of pieces) {
      this.#bytes += piece.length
      if (this.#bytes > this.#limits.maxBytes)
        throw tarballError(this.#tarball, 'it is too large when unpacked')
      this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
      while (this.#step());
    }
    if (this.#entry) throw tarballError(this.#tarball, 'it is truncated')
  }

  /** Consumes one header or the available content; returns false when it needs more bytes. */
  #step(): boolean {
    if (this.#entry) return this.#takeContent(this.#entry)
    if (this.#isOver || this.#rest.length < BLOCK) {
      if (this.#isOver) this.#rest = Buffer.alloc(0)
      return false
    }
    const header = this.#rest.subarray(0, BLOCK)
    this.#rest = this.#rest.subarray(BLOCK)
    if (header.every((byte) => byte === 0)) this.#isOver = true
    else this.#open(header)
    return true
  }

  #open(header: Buffer): void {
    if (!hasChecksum(header)) throw tarballError(this.#tarball, 'it is not a tar file')
    const type = String.fromCharCode(header[156] || FILE)
    const size = readOctal(header, 124, 12)
    if (size === undefined) throw tarballError(this.#tarball, 'it has a file without a size')
    if (RECORDS.includes(type) && size > MAX_RECORD)
      throw tarballError(this.#tarball, 'it has a path that is too long')
    const isFile = !RECORDS.includes(type)
    const path = isFile ? (this.#longPath ?? headerPath(header)) : ''
    if (isFile) this.#longPath = undefined
    const inside = isFile ? this.#checkedPath(path, type) : undefined
    const isKept = !isFile || (inside !== undefined && this.#limits.keeps(inside))
    if (isFile && isKept && size > this.#limits.maxKeptBytes) {
      throw tarballError(this.#tarball, `${inside} has more than ${this.#limits.maxKeptBytes} bytes`)
    }
    this.#entry = {
      ...{ path: inside ?? '', type, size, pieces: isKept ? [] : undefined },
      isExecutable: ((readOctal(header, 100, 8) ?? 0) & OWNER_RUNS) !== 0,
      ...{ left: size, padding: (BLOCK - (size % BLOCK)) % BLOCK },
    }
  }

  #takeContent(entry: Entry): boolean {
    const now = Math.min(entry.left, this.#rest.length)
    if (now > 0) entry.pieces?.push(this.#rest.subarray(0, now))
    entry.left -= now
    const skipped = entry.left === 0 ? Math.min(entry.padding, this.#rest.length - now) : 0
    entry.padding -= skipped
    this.#rest = this.#rest.subarray(now + skipped)
    if (entry.left > 0 || entry.padding > 0) return false
    this.#entry = undefined
    this.#close(entry)
    return true
  }

  #close({ path, type, size, isExecutable, pieces }: Entry): void {
    const content = pieces && Buffer.concat(pieces)
    if (type === 'L') this.#longPath = toText(content!)
    else if (type === 'x') this.#longPath = paxPath(content!) ?? this.#longPath
    else if (!RECORDS.includes(type) && type !== '5' && path !== '') {
      if (this.files.length >= this.#limits.maxFiles)
        throw tarballError(this.#tarball, 'it has too many files')
      const isSpecial = type !== '0'
      this.files.push({
        ...{ path, size, content },
        ...(isExecutable && { isExecutable }),
        ...(isSpecial && { isSpecial }),
      })
    }
  }

  /** Returns the path without the top-level folder. Throws when the path is hostile. */
  #checkedPath(path: string, type: string): string {
    const parts = path.replace(/\/+$/, '').split('/')
    const isHostile =
      path.startsWith('/') ||
      /^[a-zA-Z]:|[\\\p{Cc}]/u.test(path) ||
      parts.includes('..') ||
      parts.includes('')
    if (isHostile)
      throw tarballError(this.#tarball, `it would write outside of its folder: ${toVisible(path)}`)
    if (!this.#limits.letsSpecial && type !== '0' && type !== '5') {
      throw tarballError(
        this.#tarball,
        `it contains something other than files and folders: ${toVisible(path)}`,
      )
    }
    return parts
      .slice(1)
      .filter((part) => part !== '.')
      .join('/')
  }
}

function headerPath(header: Buffer): string {
  const name = toText(header.subarray(0, 100))
  const isUstar = header.subarray(257, 262).toString('latin1') === 'ustar'
  const prefix = isUstar && header[262] === 0 ? toText(header.subarray(345, 500)) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

/** Parses pax records such as `27 path=package/…`, each ending in a line break; the length counts bytes. */
function paxPath(content: Buffer): string | undefined {
  let path: string | undefined
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const length = Number(content.subarray(at, space).toString('latin1'))
    if (space < 0 || !Number.isInteger(length) || length <= 0) return path
    const record = content.subarray(space + 1, at + length - 1).toString()
    if (record.startsWith('path=')) path = record.slice(5)
    at += length
  }
  return path
}

/** Whether the checksum is right: the sum of the header's bytes, with its own field as blanks. */
function hasChecksum(header: Buffer): boolean {
  const stored = readOctal(header, 148, 8)
  const sum = header.reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 0x20 : byte), 0)
  return stored === sum
}

function readOctal(header: Buffer, at: number, length: number): number | undefined {
  const text = toText(header.subarray(at, at + length)).trim()
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : undefined
}

function toText(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end < 0 ? bytes.length : end).toString()
}

function tarballError(tarball: string, why: string, cause?: unknown): CrabError {
  return new CrabError('invalid', `Cannot use ${tarball}: ${why}`, cause === undefined ? {} : { cause })
}

const BLOCK = 512
const FILE = 0x30
const OWNER_RUNS = 0o100
/** The types of entries that describe the next one: pax, global pax, GNU long name and GNU long link. */
const RECORDS: readonly string[] = ['x', 'g', 'L', 'K']
const MAX_RECORD = 64 * 1024
