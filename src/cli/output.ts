import { write } from 'node:fs'
import { promisify } from 'node:util'
import { CrabError } from '../core/base/errors.ts'
import { getErrorCode } from '../core/base/system-error.ts'

/**
 * The amount of buffered text, in UTF-16 units, above which `write` asks its caller to wait for a slow
 * reader.
 */
const HIGH_WATER = 64 * 1024
const RETRY_MS = 5

const writeBytes = promisify(write)

/**
 * A file descriptor to print to.
 *
 * Text is written as soon as `write` is called, and never buffered to wait for more; what arrives during a
 * write is part of the next one. Writes never block the event loop, so signals are noticed while the reader
 * is stalled.
 */
export class Output {
  readonly #fd: number
  readonly #isTerminal: () => boolean
  #waiting = ''
  #busy: Promise<void> | undefined
  #closed = false
  #holds = 0
  #failure: CrabError | undefined
  #onClosed: (() => void) | undefined

  constructor(fd: number, isTerminal: () => boolean) {
    this.#fd = fd
    this.#isTerminal = isTerminal
  }

  get isTerminal(): boolean {
    return this.#isTerminal()
  }

  /** Called once when the reader goes away. */
  set onClosed(listener: () => void) {
    this.#onClosed = listener
  }

  /**
   * Prints text, or drops it when the reader is gone; a returned promise asks the caller to wait for a slow
   * reader.
   */
  write(text: string): Promise<void> | undefined {
    if (this.#closed || text === '') return undefined
    this.#waiting += text
    return this.#start()
  }

  /**
   * Holds back further output until disposed, while the terminal is used otherwise. Callers are not asked to
   * wait meanwhile.
   */
  hold(): Disposable {
    this.#holds++
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#holds--
        isHeld = false
        this.#start()
      },
    }
  }

  #start(): Promise<void> | undefined {
    if (this.#holds > 0 || this.#waiting === '') return undefined
    this.#busy ??= this.#drain()
    return this.#waiting.length > HIGH_WATER ? this.#busy : undefined
  }

  /**
   * Resolves when everything that is not held back has been written. Throws `storage` when it could not be
   * written, for example to a full disk.
   */
  async flush(): Promise<void> {
    await this.#busy
    if (this.#failure) throw this.#failure
  }

  async #drain(): Promise<void> {
    while (this.#waiting !== '' && this.#holds === 0) {
      const bytes = Buffer.from(this.#waiting)
      this.#waiting = ''
      try {
        await writeAll(this.#fd, bytes)
      } catch (reason) {
        this.#close(reason)
      }
    }
    this.#busy = undefined // synchronously: a later write starts again
  }

  #close(reason: unknown): void {
    this.#closed = true
    this.#waiting = ''
    if (getErrorCode(reason) !== 'EPIPE') {
      const isFull = ['ENOSPC', 'EDQUOT'].includes(getErrorCode(reason) ?? '')
      const why = isFull
        ? 'there is no space left'
        : reason instanceof Error
          ? reason.message
          : String(reason)
      this.#failure = new CrabError('storage', `Cannot write the output: ${why}`, {
        cause: reason,
        ...(isFull ? { hint: 'free some space on that disk' } : {}),
      })
    }
    this.#onClosed?.()
  }
}

/**
 * Writes all bytes, even to a descriptor that another process made non-blocking: a full pipe then fails with
 * EAGAIN.
 */
async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let at = 0
  while (at < bytes.length) {
    try {
      const { bytesWritten } = await writeBytes(fd, bytes, at, bytes.length - at)
      at += bytesWritten
    } catch (reason) {
      if (getErrorCode(reason) !== 'EAGAIN') throw reason
      const { setTimeout: sleep } = await import('node:timers/promises')
      await sleep(RETRY_MS)
    }
  }
}
