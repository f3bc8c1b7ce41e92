import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { decodeMessage } from '../../../src/core/protocol/codec.ts'
import {
  ClientMessage,
  type DeepPartial,
  ServerMessage,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { encodeFrame, readFrames } from '../../../src/core/protocol/frame.ts'
import type { SocketEndpoint } from '../../../src/core/transport/endpoint.ts'

/** A connection whose bytes are controlled by the test; it reads only on request. */
export class RawClient implements Disposable {
  readonly socket: Socket
  readonly #payloads: AsyncGenerator<Uint8Array>

  static async open(endpoint: SocketEndpoint): Promise<RawClient> {
    const place =
      endpoint.kind === 'tcp' ? { host: endpoint.host, port: endpoint.port } : { path: endpoint.path }
    const socket = connect({ ...place, allowHalfOpen: true })
    socket.on('error', () => undefined) // tests look at what arrives
    const closed = once(socket, 'close').then(() => Promise.reject(new Error('cannot connect')))
    closed.catch(() => undefined)
    await Promise.race([once(socket, 'connect'), closed])
    return new RawClient(socket)
  }

  constructor(socket: Socket) {
    this.socket = socket
    this.#payloads = readFrames(readBytes(socket))
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'hex') : bytes)
  }

  send(requestId: number, msg?: DeepPartial<ClientMessage['msg']>): void {
    this.write(toFrame(requestId, msg))
  }

  /** Returns the next payload; undefined when the daemon closed the connection. */
  async payload(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#payloads.next()
    return done ? undefined : value
  }

  /** Returns the next reply; undefined when the daemon closed the connection. */
  async reply(): Promise<ServerMessage | undefined> {
    const payload = await this.payload()
    return payload && decodeMessage(ServerMessage, payload)
  }

  /** Returns all replies until the daemon closes the connection. */
  async replies(): Promise<ServerMessage[]> {
    const payloads = await Array.fromAsync(this.#payloads)
    return payloads.map((payload) => decodeMessage(ServerMessage, payload))
  }

  halfClose(): void {
    this.socket.end()
  }

  hangUp(): void {
    this.socket.destroy()
  }

  [Symbol.dispose](): void {
    this.hangUp()
  }
}

/** Returns a client's message as the bytes of its frame. */
export function toFrame(requestId: number, msg?: DeepPartial<ClientMessage['msg']>): Uint8Array {
  return encodeFrame(ClientMessage.encode(ClientMessage.create({ requestId, ...(msg && { msg }) })).finish())
}

/** Yields what arrives; a reset ends it like a close. */
async function* readBytes(socket: Socket): AsyncGenerator<Uint8Array> {
  try {
    yield* socket.iterator({ destroyOnReturn: false })
  } catch {
    // the test sees that nothing more came
  }
}
