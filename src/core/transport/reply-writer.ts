import type { Socket } from 'node:net'
import { CrabError } from '../base/errors.ts'
import { encodeReply } from '../protocol/codec.ts'
import type { ServerMessage } from '../protocol/crabtalk.generated.ts'
import { toErrorMsg } from '../protocol/failure.ts'
import { encodePieces } from '../protocol/frame.ts'

/** Writes the replies to all requests of one connection; batches the writes of one turn of the event loop. */
export class ReplyWriter {
  readonly #socket: Socket
  #isCorked = false
  #room: Promise<void> | undefined

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /**
   * Writes a reply as soon as the socket has room, so that a waiting request holds one reply and the socket
   * little more than its buffer. Throws `cancelled` when the connection is closed, and `failed` when the
   * reply does not fit into a frame.
   */
  async write(reply: ServerMessage): Promise<void> {
    while (this.#socket.writableNeedDrain && !this.#socket.destroyed) await this.#waitForRoom()
    if (!this.#socket.writable) throw new CrabError('cancelled', 'Cancelled: the client disconnected')
    this.#cork()
    this.#socket.write(toFrame(reply))
  }

  /** Writes an error, if the connection is still open. */
  async writeError(requestId: number, error: CrabError): Promise<void> {
    // the client disconnected
    await this.write({ requestId, msg: { $case: 'error', value: toErrorMsg(error) } }).catch(() => undefined)
  }

  /** Resolves when the buffer has drained or the connection is closed. */
  #waitForRoom(): Promise<void> {
    this.#room ??= new Promise((resolve) => {
      const settle = () => {
        this.#socket.off('drain', settle).off('close', settle)
        this.#room = undefined
        resolve()
      }
      this.#socket.on('drain', settle).on('close', settle)
    })
    return this.#room
  }

  #cork(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    this.#socket.cork()
    setImmediate(() => {
      this.#isCorked = false
      this.#socket.uncork()
    })
  }
}

function toFrame(reply: ServerMessage): Uint8Array {
  try {
    return encodePieces(encodeReply(reply))
  } catch (cause) {
    if (!(cause instanceof CrabError)) throw cause
    throw new CrabError('failed', `Cannot send the reply: ${cause.message}`, {
      cause,
      hint: 'request less at a time',
    })
  }
}
