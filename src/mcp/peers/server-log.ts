import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Lines that arrived together, and how many they are. */
interface Chunk {
  read: () => string[]
  count: number
}

/**
 * A file with the last lines that a server wrote to standard error, in any process: `FOLDER/FINGERPRINT.log`.
 * It holds at most 256 KiB. Lines are written within 200 ms and by flush(); a disk that fails costs only the log.
 */
export class ServerLog {
  readonly #path: string
  #pending: Chunk[] = []
  #lines = 0
  #timer: NodeJS.Timeout | undefined
  #isNew = true

  /** `folder` is absolute and may be missing. */
  constructor(folder: string, fingerprint: string) {
    this.#path = join(folder, `${fingerprint}.log`)
  }

  /** Adds lines; `read` returns them without secrets. Of more than 200 lines in one interval the last are written. */
  add(read: () => string[], count = 1): void {
    this.#pending.push({ read, count })
    this.#lines += count
    while (this.#lines - this.#pending[0]!.count >= MAX_LINES) this.#lines -= this.#pending.shift()!.count
    this.#timer ??= setTimeout(() => this.flush(), INTERVAL_MS).unref()
  }

  /** Writes the lines that are not written yet. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const lines = this.#pending.flatMap(({ read }) => read()).slice(-MAX_LINES)
    this.#pending = []
    this.#lines = 0
    if (lines.length === 0) return
    const head = this.#isNew ? `[crabtalk: ${new Date().toISOString()}]\n` : ''
    try {
      if (this.#isNew) prepareFolder(dirname(this.#path))
      this.#isNew = false
      appendFileSync(this.#path, `${head}${lines.join('\n')}\n`, { mode: 0o600 })
      if (statSync(this.#path).size > MAX_BYTES) this.#shorten()
    } catch {
      // the lines are still in memory, where the daemon shows them
    }
  }

  /** Returns the last 200 lines of all processes, oldest first. */
  read(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').slice(0, -1).slice(-MAX_LINES)
    } catch {
      return [] // it has written nothing
    }
  }

  #shorten(): void {
    const tail = readFileSync(this.#path, 'utf8').slice(-MAX_BYTES / 2)
    writeFileSync(this.#path, tail.slice(tail.indexOf('\n') + 1))
  }
}

/** Creates the folder, and removes the logs of servers that have written nothing for a month. */
function prepareFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const oldest = Date.now() - MAX_AGE_MS
  for (const file of readdirSync(folder)) {
    const path = join(folder, file)
    if (statSync(path).mtimeMs < oldest) rmSync(path, { force: true })
  }
}

const INTERVAL_MS = 200
const MAX_LINES = 200
const MAX_BYTES = 256 * 1024
const MAX_AGE_MS = 30 * 24 * 3_600_000
