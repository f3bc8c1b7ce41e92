import { connect, type Socket } from 'node:net'
import { encodeFrame, readFrames } from '../../src/core/protocol/frame.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'
import { decodeFixed, encodeFixed, type FixedMessage, type FixedValue } from './fixed-wire.ts'

/** One event of a turn, or one reply: its case, and its message. */
export interface FixedCase {
  name: string
  value: FixedMessage
}

/** The error that a typed client of the fixed protocol throws for an `error` reply. */
export class FixedError extends Error {
  readonly code: number

  constructor({ code = 0, message = '' }: FixedMessage) {
    super(String(message))
    this.code = Number(code)
  }
}

/**
 * A client of the fixed protocol, as strict as generated code in other languages: anything unknown is an
 * error.
 */
export interface FixedClient {
  /** Runs an operation with one reply, on a connection of its own. */
  request(operation: string, body?: FixedMessage): Promise<FixedCase>
  /** Runs a turn and yields its events, `end` last. */
  stream(body: FixedMessage): AsyncGenerator<FixedCase>
}

/** Creates a client of the daemon at an endpoint. */
export function fixedClient(endpoint: SocketEndpoint): FixedClient {
  return {
    async request(operation, body = {}) {
      for await (const reply of replies(endpoint, operation, body)) return reply
      throw new Error('the connection was closed without a reply')
    },
    async *stream(body) {
      for await (const { name, value } of replies(endpoint, 'stream', body)) {
        if (name !== 'stream') throw new Error(`unexpected reply: ${name}`)
        const event = toCase(value)
        yield event
        if (event.name === 'end') return
      }
      throw new Error('the connection was closed before the end of the turn')
    },
  }
}

/** Encodes the frame of a request. */
export function fixedFrame(operation: string, body: FixedMessage | undefined): Uint8Array {
  return encodeFrame(encodeFixed('ClientMessage', body === undefined ? {} : { [operation]: body }))
}

async function* replies(
  endpoint: SocketEndpoint,
  operation: string,
  body: FixedMessage,
): AsyncGenerator<FixedCase> {
  using socket = await open(endpoint)
  socket.write(fixedFrame(operation, body))
  for await (const payload of readFrames(socket)) {
    const reply = toCase(decodeFixed('ServerMessage', Buffer.from(payload)))
    if (reply.name === 'error') throw new FixedError(reply.value)
    yield reply
  }
}

function toCase(message: FixedMessage): FixedCase {
  const [[name, value], ...others] = Object.entries(message) as [[string, FixedValue], ...unknown[]]
  if (others.length > 0) throw new Error(`${name} is not the only case`)
  return { name, value: value as FixedMessage }
}

async function open(endpoint: SocketEndpoint): Promise<Socket & Disposable> {
  const socket = connect(endpoint.kind === 'tcp' ? { ...endpoint } : { path: endpoint.path })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return Object.assign(socket, { [Symbol.dispose]: () => void socket.destroy() })
}
