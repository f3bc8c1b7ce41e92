import { CrabError } from '../../core/base/errors.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import type { RunningWork } from '../../core/runtime/running-turns.ts'
import type { Services } from '../services.ts'

/** Returns the `conflict` error for a change that has to wait for a turn, with a hint how to end that turn. */
export function turnConflict(
  { node, running }: Pick<Services, 'node' | 'running'>,
  what: string,
  { pid, runs }: { pid: number | undefined; runs: (running: RunningWork) => boolean },
): CrabError {
  const own = pid === node.pid ? running.list().find(runs) : undefined
  if (!own) {
    return new CrabError('conflict', `${what}: process ${pid} is running a turn in it`, {
      hint: 'wait for the turn to end, or end that process',
    })
  }
  const address = quoteWord(`${own.agent}/${own.pair.sender}`)
  return new CrabError('conflict', `${what}: it has a turn running`, {
    hint: `wait for the turn to end, or cancel it: crabtalk conversation kill ${address}`,
  })
}
