import type { RunResult, StreamEnd, WaitRun } from '../../core/protocol/crabtalk.generated.ts'
import type { TurnRun } from '../../core/runtime/live/run.ts'
import type { Services } from '../services.ts'
import { toDenialInfo, toWireEvent } from './stream-events.ts'

/**
 * Handles `wait_run`: returns the result of a run of this process when it ends, or with `peek` its current
 * state.
 */
export async function waitRun(
  { live }: Pick<Services, 'live'>,
  { runId, peek }: WaitRun,
  signal: AbortSignal,
): Promise<RunResult> {
  return toResult(peek ? live.get(runId) : (await live.wait(runId, signal)).run)
}

function toResult({ id, agent, sender, start, summary, end }: TurnRun): RunResult {
  return {
    runId: id,
    session: start?.sessionId ?? '',
    agent: start?.primary.name ?? agent,
    sender,
    content: summary.text,
    end: end && (toWireEvent(end, 'local').value as StreamEnd), // an end has no question
    tools: [...summary.tools.values()],
    denied: summary.denied.map(({ denial, ...call }) => ({ ...call, denial: toDenialInfo(denial) })),
  }
}
