import { write } from 'node:fs'
import { promisify } from 'node:util'
import { CrabError } from '../core/base/errors.ts'
import { getErrorCode } from '../core/base/system-error.ts'

/** How much may wait for a slow reader before `write` asks its caller to wait too, UTF-16 units. */
const HIGH_WATER = 64 * 1024
const AGAIN_MS = 5

const writeBytes = promisify(write)

/**
 * A file descriptor to print to.
 *
 * Text is on its way when `write` returns and never waits in here for more to come; what arrives while a write is
 * under way leaves with the next one. Writes never block the event loop, so signals are heard while a reader sleeps.
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

  /** Prints text, or drops it when the reader has gone; the promise, when there is one, asks the caller to wait for a slow reader. */
  write(text: string): Promise<void> | undefined {
    if (this.#closed || text === '') return undefined
    this.#waiting += text
    return this.#start()
  }

  /** Keeps back what is written from now on, until disposed: somebody else has the terminal. Nobody is asked to wait meanwhile. */
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

  /** Resolves when everything is out that is not held. Throws `storage` when it could not be written (a full disk, say). */
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
    this.#busy = undefined // at once: what is written from now on starts anew
  }

  #close(reason: unknown): void {
    this.#closed = true
    this.#waiting = ''
    if (getErrorCode(reason) !== 'EPIPE') {
      const why = reason instanceof Error ? reason.message : String(reason)
      this.#failure = new CrabError('storage', `Cannot write the output: ${why}`, { cause: reason })
    }
    this.#onClosed?.()
  }
}

/** Also for descriptors that somebody made non-blocking: a full pipe then says EAGAIN. */
async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let at = 0
  while (at < bytes.length) {
    try {
      const { bytesWritten } = await writeBytes(fd, bytes, at, bytes.length - at)
      at += bytesWritten
    } catch (reason) {
      if (getErrorCode(reason) !== 'EAGAIN') throw reason
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
}
