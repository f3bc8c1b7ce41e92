import { toCancelledError } from '../core/base/abortable.ts'
import { CrabError } from '../core/base/errors.ts'
import type { ServerMessage, StreamEnd } from '../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../core/protocol/dispatch.ts'
import { toDetail } from '../core/protocol/failure.ts'

/** Longer than it takes to store what was said; whoever is in a hurry leaves before. */
const WAIT_MS = 2000

/**
 * The dispatch of a daemon whose turns, when their client cancels them, end as they do in the client's own process: what
 * was said is stored before the last event, which says so. Hanging up alone would leave before that.
 */
export function withStoredEnd(dispatch: Dispatch): Dispatch {
  return async function* told(message, signal) {
    let runId = ''
    for await (const reply of dispatch(message, signal)) {
      runId ||= getRunId(reply)
      const isCut = signal.aborted && runId !== '' && reply.msg?.$case === 'error'
      const end = isCut ? await fetchStoredEnd(dispatch, runId) : undefined
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
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), WAIT_MS)
  try {
    return (await request(dispatch, 'waitRun', { runId }, late.signal)).end
  } catch (reason) {
    if (reason instanceof CrabError) return undefined // an old daemon, or one that went away: the client's own reason stands
    throw reason
  } finally {
    clearTimeout(timer)
  }
}

/** The daemon knows only that its client hung up; the client knows why. One that had ended before ended as it says. */
function toReply(requestId: number, end: StreamEnd, why: CrabError): ServerMessage {
  const stopReason = end.detail?.stopReason
  const told = { ...end, error: why.message, detail: toDetail(why, stopReason) }
  const value = stopReason === 'cancelled' ? told : end
  return { requestId, msg: { $case: 'stream', value: { seq: 0, event: { $case: 'end', value } } } }
}
