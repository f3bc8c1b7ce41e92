import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Opens what a service writes to standard output and error, for appending, mode 0600; undefined where that is not
 * possible (a full disk), which is no reason not to run. A home that was removed is not made anew.
 */
export function openOutput(path: string): number | undefined {
  try {
    mkdirSync(dirname(path), { mode: 0o700 })
  } catch {
    // it is there, or the next step says why not
  }
  try {
    truncateOutput(path)
    return openSync(path, 'a', 0o600)
  } catch {
    return undefined
  }
}

/** Keeps the last half of a file that became larger than that many bytes. Nobody may be writing it. */
export function truncateOutput(path: string, maxBytes = 1024 * 1024): void {
  let fd: number
  try {
    fd = openSync(path, 'r+')
  } catch {
    return // there is none yet
  }
  try {
    const { size } = fstatSync(fd)
    if (size <= maxBytes) return
    const tail = Buffer.alloc(Math.floor(maxBytes / 2))
    const bytes = readSync(fd, tail, 0, tail.length, size - tail.length)
    const start = tail.indexOf('\n') + 1
    writeSync(fd, tail, start, bytes - start, 0)
    ftruncateSync(fd, bytes - start)
  } finally {
    closeSync(fd)
  }
}

/** Adds a line of our own, for who looks there why a service does not run. */
export function appendLine(fd: number, line: string): void {
  try {
    writeSync(fd, `crabup: ${line}\n`)
  } catch {
    // a full disk: the log of the supervisor may have it
  }
}
