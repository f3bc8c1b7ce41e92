import type { Readable } from 'node:stream'
import { setImmediate as nextPhase } from 'node:timers/promises'

/**
 * Reads a program's output until the stream ends, or until the program has exited and everything it wrote
 * before has been read: other processes may hold the pipe open forever. Later output is read and discarded,
 * so that no writer blocks.
 *
 * A promise returned by `take` pauses the stream. Rejects with the failure of `take`.
 */
export async function readUntilExit(
  stream: Readable,
  exited: Promise<unknown>,
  take: (piece: Buffer) => Promise<void> | undefined,
): Promise<void> {
  let bytes = 0
  let pending: Promise<void> | undefined
  const failed = Promise.withResolvers<never>()
  const onData = (piece: Buffer) => {
    bytes += piece.length
    try {
      const result = take(piece)
      if (result === undefined) return
      stream.pause()
      pending = result.finally(() => stream.resume())
      pending.catch(failed.reject)
    } catch (reason) {
      failed.reject(reason)
    }
  }
  /**
   * Waits until the pipe is drained. All output of the program is in the pipe when it exits, so a read that
   * finds nothing has seen everything.
   */
  const untilQuiet = async () => {
    const limit = bytes + LATE_BYTES
    for (let before = -1; before !== bytes && bytes < limit; ) {
      before = bytes
      await pending
      await nextPhase()
      await nextPhase() // the event loop has polled all pipes between the two
    }
  }
  stream.on('data', onData)
  try {
    await Promise.race([whenClosed(stream), exited.then(untilQuiet), failed.promise])
    await pending
  } finally {
    stream.off('data', onData)
    stream.resume()
  }
}

function whenClosed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve()
    else stream.once('close', resolve)
  })
}

/**
 * The limit for output after the exit. It is more than a pipe holds; anything beyond comes from other
 * processes.
 */
const LATE_BYTES = 4 * 1024 * 1024
