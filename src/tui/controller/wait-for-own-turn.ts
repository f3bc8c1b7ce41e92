import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatPorts } from '../ports.ts'
import type { Feed } from './feed.ts'

/**
 * Resolves when a turn that this chat began is over and shown, also when the connection is lost meanwhile.
 *
 * Throws why it never began: what refused it, `unavailable` when its daemon ended before.
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
      if (feed.own.hasStarted(runId) && kind !== 'unavailable') break // how it ended comes with the conversation
      if (kind === 'missing') throw toNeverStarted(reason)
      if (kind !== 'unavailable') throw reason
      await sleep(RETRY_MS, undefined, { signal }) // the conversation learns of the loss, too
      await feed.ready(signal)
    }
  }
  const shown = new AbortController()
  const until = AbortSignal.any([signal, shown.signal])
  const late = sleep(LATE_MS, undefined, { signal: until }).catch(() => undefined)
  await Promise.race([feed.ended(runId, signal), late]).finally(() => shown.abort())
}

const RETRY_MS = 50
/** A turn that began and ended while there was no connection comes as stored messages, without its end. */
const LATE_MS = 2_000

function toNeverStarted(cause: unknown): CrabError {
  return new CrabError('unavailable', 'The turn did not begin: the daemon ended before', {
    hint: 'Up brings the message back',
    cause,
  })
}
