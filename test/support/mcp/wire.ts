import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Message } from './message.ts'
import { splitIntoPieces } from './noise.ts'
import type { ServerOptions } from './options.ts'
import type { Recorder } from './record.ts'

/** Standard input and output as lines of JSON, with the noise that the options select. */
export class Wire {
  readonly #options: ServerOptions
  readonly #record: Recorder
  #written: Promise<void> = Promise.resolve()
  #isFirst = true

  constructor({ options, record }: { options: ServerOptions; record: Recorder }) {
    this.#options = options
    this.#record = record
    process.stdout.on('error', () => {
      if (!options.ignore?.includes('eof')) process.exit(0) // the reader is gone
    })
  }

  /** Starts reading. Each message is recorded before it is passed on. */
  listen(onMessage: (message: Message) => void, onEnd: () => void): void {
    let rest = ''
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop()!
      for (const line of lines) this.#take(line, onMessage)
    })
    process.stdin.on('end', onEnd)
  }

  /** Stops reading, so that the pipe fills. */
  deafen(): void {
    process.stdin.pause()
  }

  /** Writes a message after the earlier ones. */
  send(message: Message): Promise<void> {
    this.#written = this.#written.then(() => this.#write(message))
    return this.#written
  }

  /** Writes text unchanged, after the earlier messages. */
  print(text: string): Promise<void> {
    this.#written = this.#written.then(() => write(process.stdout, Buffer.from(text)))
    return this.#written
  }

  /** Waits until all earlier messages have been answered, except slow calls. */
  async settled(): Promise<void> {
    await setImmediate()
    await this.#written
  }

  #take(line: string, onMessage: (message: Message) => void): void {
    const message = parse(line)
    this.#record(message === undefined ? { text: line } : { message })
    if (message !== undefined) onMessage(message)
  }

  async #write(message: Message): Promise<void> {
    await floodStderr(this.#options.flood ?? 0)
    const pieces = splitIntoPieces(JSON.stringify(message), this.#isFirst, this.#options)
    this.#isFirst = false
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await sleep(1) // otherwise the reader gets the pieces joined
      await write(process.stdout, piece)
    }
  }
}

/** Writes numbered lines to standard error, about `bytes` bytes in all; blocks while they are not read. */
export async function floodStderr(bytes: number): Promise<void> {
  const count = Math.ceil(bytes / FLOOD_LINE)
  if (count === 0) return
  const lines = Array.from({ length: count }, (_, index) =>
    `flood ${index + 1} of ${count} `.padEnd(FLOOD_LINE - 1, '.'),
  )
  await write(process.stderr, Buffer.from(`${lines.join('\n')}\n`))
}

const FLOOD_LINE = 100

function write(stream: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => stream.write(bytes, () => resolve()))
}

function parse(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message
  } catch {
    return undefined // recorded as text
  }
}
