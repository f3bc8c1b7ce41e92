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

/** The most that a file of printed output may hold before it is set aside: 10 MiB. */
export const MAX_PRINTED_BYTES = 10 * 1024 * 1024

/**
 * Bounds the files to which services print: one that became larger than `maxBytes` is emptied, and its last half is kept
 * as `FILE.1`. Service managers and our supervisor open these files for appending, so a service that is writing goes on
 * at the new end; what it writes in that very moment is lost. Gives whether a file was too large.
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
    return false // it was removed meanwhile, or is not ours
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

/** The whole lines in the last bytes of a file. */
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
    rmSync(path, { force: true }) // a full disk: room matters more than what was printed
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // nothing was ever written, or the home was removed
  }
}
