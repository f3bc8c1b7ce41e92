import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, read, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const readBytes = promisify(read)

/** Both ends of a pipe of the system. */
export interface Fifo extends Disposable {
  /** Descriptor to write to. */
  readonly input: number
  /** Descriptor to read from. */
  readonly output: number
  /** Reads what is in the pipe now, at most 64 KiB; empty when the pipe is. */
  take(): Promise<Buffer>
  /** Closes the end that is read. */
  hangUp(): void
  /** Closes the end that is written. */
  endInput(): void
}

/** Opens a pipe; by default a write blocks when the pipe is full. */
export function openFifo({ nonBlocking = false } = {}): Fifo {
  const folder = mkdtempSync(join(tmpdir(), 'crab-fifo-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const output = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const input = openSync(path, constants.O_WRONLY | (nonBlocking ? constants.O_NONBLOCK : 0))
  rmSync(folder, { recursive: true })
  const open = new Set([input, output])
  const close = (end: number) => {
    if (open.delete(end)) closeSync(end)
  }
  return {
    input,
    output,
    async take() {
      try {
        const { bytesRead, buffer } = await readBytes(output, Buffer.alloc(65_536), 0, 65_536, null)
        return buffer.subarray(0, bytesRead)
      } catch (reason) {
        if ((reason as NodeJS.ErrnoException).code === 'EAGAIN') return Buffer.alloc(0)
        throw reason
      }
    },
    hangUp: () => close(output),
    endInput: () => close(input),
    [Symbol.dispose]() {
      close(output)
      close(input)
    },
  }
}
