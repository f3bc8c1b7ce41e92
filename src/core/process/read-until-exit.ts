import type { Readable } from 'node:stream'
import { setImmediate as nextPhase } from 'node:timers/promises'

/**
 * Reads a program's output until it ends, or until the program has exited and what it wrote before has been read: others
 * may hold the pipe for ever. What comes after that is read and thrown away, so that nobody blocks on it.
 *
 * A promise of `take` makes the stream wait. Fails as `take` does.
 */
export async function readUntilExit(
  stream: Readable,
  exited: Promise<unknown>,
  take: (piece: Buffer) => Promise<void> | undefined,
): Promise<void> {
  let bytes = 0
  let taking: Promise<void> | undefined
  const failed = Promise.withResolvers<never>()
  const onData = (piece: Buffer) => {
    bytes += piece.length
    try {
      const taken = take(piece)
      if (taken === undefined) return
      stream.pause()
      taking = taken.finally(() => stream.resume())
      taking.catch(failed.reject)
    } catch (reason) {
      failed.reject(reason)
    }
  }
  /** A pipe holds what was written at the time of the exit, so that a look at it that finds nothing has seen it all. */
  const untilQuiet = async () => {
    const limit = bytes + LATE_BYTES
    for (let before = -1; before !== bytes && bytes < limit; ) {
      before = bytes
      await taking
      await nextPhase()
      await nextPhase() // between the two, the event loop has looked at all pipes
    }
  }
  stream.on('data', onData)
  try {
    await Promise.race([whenClosed(stream), exited.then(untilQuiet), failed.promise])
    await taking
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

/** More than a pipe holds; what comes beyond it after the exit is somebody else's flood. */
const LATE_BYTES = 4 * 1024 * 1024
