import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server'
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
 * The answers to a batch are one line, too. A line that is not a message is reported to onerror and ignored; a
 * line over 64 MiB ends the connection.
 */
export function lineTransport({ input, write }: ServedStreams): LineTransport {
  const gate = Promise.withResolvers<void>()
  let isOver = false
  const batches: Batch[] = []
  const transport: LineTransport = {
    ended: gate.promise,
    async start() {
      read()
        .then(() => transport.close())
        .catch(gate.reject)
    },
    async send(message) {
      const batch = 'method' in message ? undefined : batches.find(({ ids }) => ids.includes(message.id))
      const text = batch ? addAnswer(batch, message) : serializeMessage(message)
      if (!isOver && text !== undefined) await write(text)
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
    const { messages, isBatch } = parseLine(line)
    const ids = messages.flatMap((message) => ('method' in message && 'id' in message ? message.id : []))
    if (isBatch && ids.length > 0) batches.push({ ids, answers: [] })
    if (messages.length === 0) {
      transport.onerror?.(
        new Error(`ignored a line of ${line.length} characters that is not a JSON-RPC message`),
      )
    }
    try {
      for (const message of messages) {
        transport.onmessage?.(message)
        if ('method' in message && message.method === 'notifications/cancelled') forget(message)
      }
    } catch (reason) {
      transport.onerror?.(reason as Error) // the next line may be a message
    }
  }

  /** Returns all answers of a batch with the last of them. */
  function addAnswer(batch: Batch, answer: JSONRPCMessage): string | undefined {
    if ('id' in answer) batch.ids.splice(batch.ids.indexOf(answer.id), 1)
    batch.answers.push(answer)
    return finish(batch)
  }

  /** Sends a batch without the answer to a cancelled request, which never comes. */
  function forget({ params }: { params?: Readonly<Record<string, unknown>> | undefined }): void {
    const id = params?.['requestId']
    const batch = batches.find(({ ids }) => ids.includes(id))
    if (!batch) return
    batch.ids.splice(batch.ids.indexOf(id), 1)
    const text = finish(batch)
    if (!isOver && text !== undefined) void write(text)
  }

  function finish(batch: Batch): string | undefined {
    if (batch.ids.length > 0) return undefined
    batches.splice(batches.indexOf(batch), 1)
    return batch.answers.length > 0 ? `${JSON.stringify(batch.answers)}\n` : undefined
  }
}

/** The requests of one line whose answers are sent together (MCP 2025-03-26, "Batching"). */
interface Batch {
  /** Those that are not answered yet. Two of them may have the same id. */
  ids: unknown[]
  answers: JSONRPCMessage[]
}

/** Parses a line; parts of it that are not messages are left out. */
function parseLine(line: string): { messages: JSONRPCMessage[]; isBatch: boolean } {
  if (!line.trimStart().startsWith('[')) return { messages: toMessages(line), isBatch: false }
  try {
    const parts: unknown[] = JSON.parse(line)
    return { messages: parts.flatMap((part) => toMessages(JSON.stringify(part))), isBatch: true }
  } catch {
    return { messages: [], isBatch: true }
  }
}

function toMessages(text: string): JSONRPCMessage[] {
  try {
    return [deserializeMessage(text)]
  } catch {
    return [] // the caller reports it: the error of the SDK is forty lines long
  }
}

/** The same limit as for servers that this program runs. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20
