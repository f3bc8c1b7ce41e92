import type { Socket } from 'node:net'

/**
 * Yields the bytes that arrive at a socket, until it ends or closes, or `stop` is aborted.
 *
 * Unlike the socket's own iterator it leaves the socket open, because replies still have to be written.
 */
export async function* receivedBytes(socket: Socket, stop: AbortSignal): AsyncGenerator<Uint8Array> {
  let change = Promise.withResolvers<void>()
  const announce = () => change.resolve()
  for (const event of EVENTS) socket.on(event, announce)
  stop.addEventListener('abort', announce)
  try {
    while (!stop.aborted) {
      change = Promise.withResolvers<void>()
      const chunk: Uint8Array | null = socket.read()
      if (chunk !== null) yield chunk
      else if (socket.readableEnded || socket.destroyed) return
      else await change.promise
    }
  } finally {
    for (const event of EVENTS) socket.off(event, announce)
    stop.removeEventListener('abort', announce)
  }
}

const EVENTS = ['readable', 'end', 'close'] as const
