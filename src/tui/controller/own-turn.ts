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
export async function untilOver(
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
      if (feed.own.hasBegun(runId) && kind !== 'unavailable') break // how it ended comes with the conversation
      if (kind === 'missing') throw neverBegun(reason)
      if (kind !== 'unavailable') throw reason
      await sleep(A_MOMENT_MS, undefined, { signal }) // the conversation learns of the loss, too
      await feed.ready(signal)
    }
  }
  await feed.ended(runId, signal)
}

const A_MOMENT_MS = 50

function neverBegun(cause: unknown): CrabError {
  return new CrabError('unavailable', 'The turn did not begin: the daemon ended before', {
    hint: 'Up brings the message back',
    cause,
  })
}
