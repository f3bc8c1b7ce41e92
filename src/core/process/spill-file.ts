import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDirSync, toStorageError } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'

/** What became of a spill. */
export interface SpillResult {
  path: string
  /** Whether all that came was written, and not only as much as was allowed. */
  isWhole: boolean
  /** Why there is no such file after all. */
  failure: string | undefined
}

/**
 * A file of its own (mode 0600, in a folder of mode 0700) that takes what comes, up to a bound. It never fails: what
 * cannot be written is removed, so that it takes no room on a full disk.
 */
export class SpillFile {
  readonly #folder: string
  readonly #path: string
  #roomBytes: number
  #isWhole = true
  #file: FileHandle | undefined
  #failure: string | undefined
  #written = Promise.resolve()

  constructor({ folder, maxBytes }: { folder: string; maxBytes: number }) {
    this.#folder = folder
    this.#path = join(folder, `${newUlid()}.txt`)
    this.#roomBytes = maxBytes
  }

  /** Resolves when this piece and all before it are written; who does not wait for that holds them in memory. */
  write(piece: Uint8Array): Promise<void> {
    this.#written = this.#written.then(() => this.#append(piece))
    return this.#written
  }

  async close(): Promise<SpillResult> {
    await this.#written
    await this.#file?.close().catch((reason: unknown) => this.#giveUp(reason))
    return { path: this.#path, isWhole: this.#isWhole, failure: this.#failure }
  }

  async #append(piece: Uint8Array): Promise<void> {
    const fitting = piece.subarray(0, this.#roomBytes)
    this.#roomBytes -= fitting.length
    this.#isWhole &&= fitting.length === piece.length
    if (this.#failure !== undefined || fitting.length === 0) return
    try {
      this.#file ??= await this.#open()
      await this.#file.writeFile(fitting) // where the last one ended
    } catch (reason) {
      await this.#giveUp(reason)
    }
  }

  async #open(): Promise<FileHandle> {
    makePrivateDirSync(this.#folder)
    return await open(this.#path, 'wx', 0o600)
  }

  async #giveUp(reason: unknown): Promise<void> {
    this.#failure = toStorageError(`Cannot write ${this.#path}`, reason).message
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => undefined) // the first failure is the one to report
    await rm(this.#path, { force: true }).catch(() => undefined) // as above
  }
}
