import type { RunResult, StreamEnd } from '../../core/protocol/crabtalk.generated.ts'
import type { Services } from '../compose.ts'
import { toWireEvent } from './stream-events.ts'

/** `wait_run`: how a run of this process ends. */
export async function waitRun(services: Services, runId: string, signal: AbortSignal): Promise<RunResult> {
  const { run, end } = await services.live.wait(runId, signal)
  const { $case, value } = toWireEvent(end)
  return {
    runId,
    session: run.start?.sessionId ?? '',
    agent: run.start?.primary.name ?? run.request.agent,
    sender: run.request.sender,
    content: run.text,
    end: $case === 'end' ? (value as StreamEnd) : undefined,
  }
}
