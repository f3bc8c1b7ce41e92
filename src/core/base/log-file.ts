import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirSync } from './files.ts'
import type { Log } from './log.ts'

export interface LogFileOptions {
  /** Its folder is made when it is missing. */
  path: string
  /** Of this process; it stands in every line. */
  pid: number
  now(): number
  /** When the file would become larger it is set aside as `<path>.1`; by default 10 MiB. */
  maxBytes?: number
  /** Files there are at most, the one that is written included; by default 5. */
  files?: number
}

/** Longest message, in UTF-16 units: one failure must not fill the file. */
const MAX_MESSAGE = 8192

/**
 * A log as JSON lines `{time, level, pid, message, …fields}`, mode 0600, of bounded size.
 *
 * A line is written before the call returns, so that what kills the process comes after it. `debug` is left out. What
 * cannot be written is lost: a full disk is no reason for a daemon to end.
 */
export class LogFile implements Disposable {
  readonly #options: LogFileOptions & { maxBytes: number; files: number }
  #fd: number | undefined
  #size = 0
  #hasFolder = false

  /** Nothing is opened before the first line. */
  constructor(options: LogFileOptions) {
    this.#options = { maxBytes: 10 * 1024 * 1024, files: 5, ...options }
  }

  readonly log: Log = (level, message, fields) => {
    if (level === 'debug') return
    const { pid, now } = this.#options
    const time = new Date(now()).toISOString()
    const line = { time, level, pid, message: message.slice(0, MAX_MESSAGE), ...fields }
    try {
      this.#write(Buffer.from(`${JSON.stringify(line)}\n`))
    } catch {
      this[Symbol.dispose]() // nowhere is left to say it; the next line tries again
    }
  };

  [Symbol.dispose](): void {
    const fd = this.#fd
    this.#fd = undefined
    if (fd !== undefined) closeSync(fd)
  }

  #write(line: Uint8Array): void {
    if (this.#fd === undefined || !this.#isCurrent(this.#fd)) this.#open()
    if (this.#size > 0 && this.#size + line.length > this.#options.maxBytes) this.#rotate()
    this.#size += writeSync(this.#fd!, line)
  }

  #open(): void {
    this[Symbol.dispose]()
    if (!this.#hasFolder) makePrivateDirSync(dirname(this.#options.path))
    this.#hasFolder = true // one that somebody removes stays removed
    this.#fd = openSync(this.#options.path, 'a', 0o600)
    this.#size = fstatSync(this.#fd).size
  }

  /** Somebody else may have moved the file away, or removed it. */
  #isCurrent(fd: number): boolean {
    return statSync(this.#options.path, { throwIfNoEntry: false })?.ino === fstatSync(fd).ino
  }

  #rotate(): void {
    const { path, files } = this.#options
    rmSync(`${path}.${files - 1}`, { force: true })
    for (let n = files - 2; n >= 0; n -= 1) {
      const from = n === 0 ? path : `${path}.${n}`
      if (statSync(from, { throwIfNoEntry: false })) renameSync(from, `${path}.${n + 1}`)
    }
    this.#open()
  }
}
