import { toCancelledError } from '../core/base/abortable.ts'
import { withDeadline } from '../core/base/deadline.ts'
import { CrabError } from '../core/base/errors.ts'
import type { ServerMessage, StreamEnd } from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../core/protocol/dispatch.ts'
import { toDetail } from '../core/protocol/failure.ts'

/**
 * The timeout in milliseconds, longer than storing a turn takes. A client that cannot wait disconnects
 * earlier.
 */
const STORE_TIMEOUT_MS = 2000

/**
 * Wraps the dispatch of a daemon so that a turn that its client cancels ends as in the client's own process:
 * with its `end`, once everything is stored.
 *
 * Cancelling closes the connection, so the `end` that the daemon's LiveTurns emits cannot arrive on it and is
 * fetched. Only its reason is replaced by the client's, because the daemon only knows that the client left.
 */
export function withStoredEnd(dispatch: Dispatch): Dispatch {
  return async function* storedEndDispatch(message, signal) {
    let runId = ''
    for await (const reply of dispatch(message, signal)) {
      runId ||= getRunId(reply)
      const isCancelled = signal.aborted && runId !== '' && reply.msg?.$case === 'error'
      const end = isCancelled ? await fetchStoredEnd(dispatch, runId) : undefined
      if (!end) yield reply
      else yield toReply(message.requestId, end, toCancelledError(signal))
    }
  }
}

function getRunId({ msg }: ServerMessage): string {
  if (msg?.$case !== 'stream') return ''
  return msg.value.event?.$case === 'start' ? msg.value.event.value.runId : ''
}

async function fetchStoredEnd(dispatch: Dispatch, runId: string): Promise<StreamEnd | undefined> {
  const deadline = {
    ms: STORE_TIMEOUT_MS,
    toError: () => new CrabError('timeout', 'Cannot fetch the end of the turn'),
  }
  try {
    const { end } = await withDeadline((soon) => request(dispatch, 'waitRun', { runId }, soon), deadline)
    return end
  } catch (reason) {
    // an older daemon, or one that is gone: the turn then fails with the client's reason
    if (reason instanceof CrabError) return undefined
    throw reason
  }
}

/** Returns the end event with the client's reason. A turn that had ended before keeps its own end. */
function toReply(requestId: number, end: StreamEnd, why: CrabError): ServerMessage {
  const stopReason = end.detail?.stopReason
  const cancelledEnd = { ...end, error: why.message, detail: toDetail(why, stopReason) }
  const value = stopReason === 'cancelled' ? cancelledEnd : end
  return { requestId, msg: { $case: 'stream', value: { seq: 0, event: { $case: 'end', value } } } }
}
