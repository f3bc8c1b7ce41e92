import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { Feed } from './feed.ts'

/**
 * Resolves when a turn that this chat started has ended and is shown, even if the connection was lost
 * meanwhile.
 *
 * Throws when it never started: the error that refused it, or `unavailable` when its daemon ended first.
 */
export async function waitForOwnTurn(
  runId: string,
  { ports, feed }: { ports: Pick<ChatPorts, 'dispatch'>; feed: Feed },
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await request(ports.dispatch, 'waitRun', { runId }, signal)
      break
    } catch (reason) {
      const { kind } = toCrabError(reason)
      if (feed.own.hasStarted(runId) && kind !== 'unavailable') break // its result arrives with the conversation
      if (kind === 'missing') throw toNeverStarted(reason)
      if (kind !== 'unavailable') throw reason
      await sleep(RETRY_MS, undefined, { signal }) // the follower of the conversation must notice the loss, too
      await feed.ready(signal)
    }
  }
  const shown = new AbortController()
  const until = AbortSignal.any([signal, shown.signal])
  const late = sleep(LATE_MS, undefined, { signal: until }).catch(() => undefined)
  await Promise.race([feed.ended(runId, signal), late]).finally(() => shown.abort())
}

const RETRY_MS = 50
/**
 * The time, in milliseconds, to wait for the end of a run. A turn that started and ended without a connection
 * arrives as stored messages, without an end event.
 */
const LATE_MS = 2_000

function toNeverStarted(cause: unknown): CrabError {
  return new CrabError('unavailable', 'The turn did not start: the daemon stopped first', {
    hint: 'Press Up to get the message back',
    cause,
  })
}
