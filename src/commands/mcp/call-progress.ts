import { isObject, parseObject } from '../../core/base/json.ts'
import type { McpTraceEvent } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, requestMany } from '../../core/protocol/dispatch.ts'

/**
 * Reports the progress that the servers of an agent send for calls that are not part of a turn. It ends with the
 * signal, or when the messages cannot be read; never rejects.
 */
export async function followCallProgress(
  dispatch: Dispatch,
  { agent, report }: { agent: string; report(text: string): void },
  signal: AbortSignal,
): Promise<void> {
  const calls = new Set<string>()
  try {
    for await (const frame of requestMany(dispatch, 'mcpTrace', { agent }, signal)) {
      if (frame.runId !== '') continue
      if (frame.outgoing && frame.method === 'tools/call') calls.add(`${frame.fingerprint} ${frame.id}`)
      const text = readProgress(frame, calls)
      if (text !== '') report(text)
    }
  } catch {
    // the call reports what is wrong
  }
}

/** Returns the text of a progress notification for one of these calls; empty for any other message. */
function readProgress(
  { outgoing, method, payload, fingerprint }: McpTraceEvent,
  calls: ReadonlySet<string>,
): string {
  if (outgoing || method !== 'notifications/progress') return ''
  const { params } = parseObject(payload) ?? {}
  if (!isObject(params) || !calls.has(`${fingerprint} ${params['progressToken']}`)) return ''
  const { message, progress, total } = params
  if (typeof message === 'string' && message.trim() !== '') return message
  return typeof total === 'number' ? `${progress} of ${total}` : `${progress}`
}
