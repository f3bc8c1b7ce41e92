import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateDirSync, toStorageError } from '../base/files.ts'
import { newUlid } from '../base/ids.ts'
import { Serial } from '../base/serial.ts'

/** The result of a spill. */
export interface SpillResult {
  path: string
  /** Whether all output was written, rather than cut at the limit. */
  isWhole: boolean
  /** The reason why there is no file after all. */
  failure: string | undefined
}

/**
 * A new file (mode 0600, in a folder of mode 0700) that stores output up to a limit. It never throws: after a
 * failure the file is removed, so that it takes no space on a full disk.
 */
export class SpillFile {
  readonly #folder: string
  readonly #path: string
  #roomBytes: number
  #isWhole = true
  #file: FileHandle | undefined
  #failure: string | undefined
  readonly #writes = new Serial()

  constructor({ folder, maxBytes }: { folder: string; maxBytes: number }) {
    this.#folder = folder
    this.#path = join(folder, `${newUlid()}.txt`)
    this.#roomBytes = maxBytes
  }

  /** Resolves when this chunk and all earlier ones are written. Until then they are held in memory. */
  write(piece: Uint8Array): Promise<void> {
    return this.#writes.run(() => this.#append(piece))
  }

  async close(): Promise<SpillResult> {
    await this.#writes.settled()
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
      await this.#file.writeFile(fitting) // appends at the current position
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
    await file?.close().catch(() => undefined) // report the first failure
    await rm(this.#path, { force: true }).catch(() => undefined) // report the first failure
  }
}
