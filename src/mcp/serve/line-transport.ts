import { deserializeMessage, serializeMessage, type Transport } from '@modelcontextprotocol/server'
import { LineReader } from '../stdio/line-reader.ts'

/** The standard streams of a serving process. */
export interface ServedStreams {
  input: AsyncIterable<Uint8Array> & { destroy(): void }
  /** Writes text; returns a promise when the writer must wait for a slow reader. */
  write(text: string): Promise<void> | undefined
}

/** A transport that reports its end. */
export interface LineTransport extends Transport {
  /** Resolves when no more messages will arrive; a failure is reported to onerror before. */
  readonly ended: Promise<void>
}

/**
 * Creates a transport for MCP over the standard streams of this process: one JSON-RPC message a line.
 *
 * A line that is not a message is reported to onerror and ignored; a line over 64 MiB ends the connection.
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
      if (!isOver) transport.onerror?.(reason as Error) // otherwise the input was closed on purpose
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

/** The same limit as for servers that this program runs. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
