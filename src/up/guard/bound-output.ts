import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** The size at which a file of printed output is truncated: 10 MiB. */
const MAX_PRINTED_BYTES = 10 * 1024 * 1024

/**
 * Bounds the files that services print to: truncates each one larger than `maxBytes` and keeps its last half
 * as `FILE.1`. Service managers and crabup's supervisor open these files for appending, so a running service
 * continues at the new end; output it writes at the very moment of truncation is lost. Returns whether any
 * file was too large.
 */
export function boundOutputs(logs: string, maxBytes = MAX_PRINTED_BYTES): boolean {
  const paths = listNames(logs).filter((name) => name.endsWith('.crash.log'))
  return paths.map((name) => boundOutput(join(logs, name), maxBytes)).includes(true)
}

function boundOutput(path: string, maxBytes: number): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= maxBytes) return false
  let fd: number
  try {
    fd = openSync(path, 'r+')
  } catch {
    return false // it was removed meanwhile, or belongs to another user
  }
  try {
    const tail = readTail(fd, Math.floor(maxBytes / 2))
    keepTail(`${path}.1`, tail)
    ftruncateSync(fd, 0)
    return true
  } finally {
    closeSync(fd)
  }
}

/** Reads the whole lines among the last `most` bytes of a file. */
function readTail(fd: number, most: number): Buffer {
  const { size } = fstatSync(fd)
  const tail = Buffer.alloc(Math.min(most, size))
  const bytes = readSync(fd, tail, 0, tail.length, size - tail.length)
  return tail.subarray(tail.indexOf('\n') + 1, bytes)
}

function keepTail(path: string, tail: Buffer): void {
  try {
    writeFileSync(path, tail, { mode: 0o600 })
  } catch {
    rmSync(path, { force: true }) // the disk is full: freeing space matters more than old output
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // no output yet, or the home was removed
  }
}
