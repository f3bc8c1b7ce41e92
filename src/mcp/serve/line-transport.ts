import { deserializeMessage, serializeMessage, type Transport } from '@modelcontextprotocol/server'
import { LineReader } from '../stdio/line-reader.ts'

/** The standard streams of a process that serves. */
export interface ServedStreams {
  input: AsyncIterable<Uint8Array> & { destroy(): void }
  /** The promise, when there is one, asks to wait for a slow reader. */
  write(text: string): Promise<void> | undefined
}

/** A transport, and when it is over. */
export interface LineTransport extends Transport {
  /** Resolves when no message will come any more; why, if that is a failure, is told to onerror before. */
  readonly ended: Promise<void>
}

/**
 * MCP over the standard streams of this process: a JSON-RPC message a line.
 *
 * A line that is none is told to onerror and ignored; one of over 64 MiB ends the connection.
 */
export function lineTransport({ input, write }: ServedStreams): LineTransport {
  const gate = Promise.withResolvers<void>()
  let isOver = false
  const transport: LineTransport = {
    ended: gate.promise,
    async start() {
      read()
        .then(() => transport.close())
        .catch(gate.reject)
    },
    async send(message) {
      if (!isOver) await write(serializeMessage(message))
    },
    async close() {
      if (isOver) return
      isOver = true
      input.destroy()
      transport.onclose?.()
      gate.resolve()
    },
  }
  return transport

  async function read(): Promise<void> {
    const reader = new LineReader(MAX_MESSAGE_BYTES)
    try {
      for await (const piece of input) {
        const lines = reader.push(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
        for (const line of lines ?? []) if (line.trim() !== '') take(line)
        if (isOver) return
        if (!lines) throw new Error(`a message has more than ${MAX_MESSAGE_BYTES / 2 ** 20} MiB`)
      }
    } catch (reason) {
      if (!isOver) transport.onerror?.(reason as Error) // else it is the input that was closed
    }
  }

  function take(line: string): void {
    try {
      transport.onmessage?.(deserializeMessage(line))
    } catch (reason) {
      transport.onerror?.(reason as Error) // the next line may be a message
    }
  }
}

/** As much as a server of ours may send. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
