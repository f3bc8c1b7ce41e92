import { closeSync, fstatSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateDirSync } from './files.ts'
import type { Log } from './log.ts'

/** The options of a LogFile. */
export interface LogFileOptions {
  /** The path of the log; a missing folder is created. */
  path: string
  /** The process id, which is part of every line. */
  pid: number
  now(): number
  /** The size at which the file is rotated to `<path>.1`; by default 10 MiB. */
  maxBytes?: number
  /** The maximum number of files, including the current one; by default 5. */
  files?: number
}

/** The maximum length of a message, in UTF-16 units, so that a single failure cannot fill the file. */
const MAX_MESSAGE = 8192

/**
 * A rotating log of JSON lines `{time, level, pid, message, …fields}`, with mode 0600 and bounded size.
 *
 * A line is written before the call returns, so a crash does not lose the lines before it. `debug` lines are
 * skipped. A line that cannot be written is dropped: a full disk must not end the daemon.
 */
export class LogFile implements Disposable {
  readonly #options: LogFileOptions & { maxBytes: number; files: number }
  #fd: number | undefined
  #size = 0
  #hasFolder = false

  /** Opens nothing until the first line. */
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
      this[Symbol.dispose]() // there is nowhere to report it; the next line reopens the file
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
    this.#hasFolder = true // a folder that is removed later is not recreated
    this.#fd = openSync(this.#options.path, 'a', 0o600)
    this.#size = fstatSync(this.#fd).size
  }

  /** Whether the open file is still at the path: another process may have moved or removed it. */
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
