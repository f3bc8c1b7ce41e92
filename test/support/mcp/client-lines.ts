import type { Readable, Writable } from 'node:stream'

/** A client's end of standard input and output, for both major versions of the official SDK. */
export class LineTransport {
  onmessage?: (message: never) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  /** The revision in the handshake; undefined without one. */
  revision: string | undefined
  readonly stderr = null
  readonly pid = null
  readonly #streams: { input: Readable; output: Writable }

  constructor(streams: { input: Readable; output: Writable }) {
    this.#streams = streams
  }

  async start(): Promise<void> {
    let rest = ''
    this.#streams.input.on('data', (piece: Buffer) => {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.onmessage?.(JSON.parse(line) as never)
    })
  }

  async send(message: object): Promise<void> {
    this.#streams.output.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    this.#streams.output.end()
    this.onclose?.()
  }

  setProtocolVersion(revision: string): void {
    this.revision = revision
  }
}
