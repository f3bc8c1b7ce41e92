import { setTimeout as sleep } from 'node:timers/promises'
import type { Host } from '../../../cli/host.ts'
import { toCancelledError } from '../../../core/base/abortable.ts'
import { CrabError } from '../../../core/base/errors.ts'
import { namePair } from '../../../core/base/sender-class.ts'
import { escapeLine } from '../../../core/base/visible.ts'
import type { ActiveConversationInfo } from '../../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../../core/protocol/dispatch.ts'
import { findRunningDaemon } from '../../daemon/running.ts'

/** The options of waitForTurns(). */
export interface TurnWait {
  /** The verb in messages, such as `restart`. */
  verb: string
  /** Whether to skip the wait. */
  now: boolean
  /** The maximum wait, 60 s by default. */
  limitMs?: number
}

/**
 * Resolves when no turn is running in the daemon of this home. At a terminal the user sees the turns and may
 * choose to cancel them. Throws `timeout` when they take too long, and `cancelled` when the user cancels.
 */
export async function waitForTurns(
  host: Host,
  { verb, now, limitMs = LIMIT_MS }: TurnWait,
  signal: AbortSignal,
): Promise<void> {
  if (now) return
  const found = await findRunningDaemon(host, signal)
  if (!found) return
  const turns = await fetchTurns(found.dispatch, signal)
  if (turns.length === 0) return
  if ((await ask(host, verb, turns, signal)) === 'cut') return
  const left = await waitForNone(found.dispatch, limitMs, signal)
  if (left.length === 0) return
  throw new CrabError('timeout', `Cannot ${verb} the daemon: ${countTurns(left)} after ${limitMs / 1000} s`, {
    hint: `add --now to cancel ${left.length === 1 ? 'it' : 'them'}; messages so far are kept`,
  })
}

/** Asks the user at a terminal; otherwise chooses to wait. */
async function ask(
  host: Host,
  verb: string,
  turns: readonly ActiveConversationInfo[],
  signal: AbortSignal,
): Promise<'wait' | 'cut'> {
  const names = turns.map(
    ({ agent, sender, asks }) => `${escapeLine(namePair({ agent, sender }))}${asks > 0 ? ' (asks)' : ''}`,
  )
  const who = `${countTurns(turns)}: ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', …' : ''}`
  using terminal = host.stdinKind() === 'terminal' ? host.terminal() : undefined
  if (!terminal) {
    host.stderr.write(`crabup: waiting: ${who}\n`)
    return 'wait'
  }
  terminal.forgetInput()
  for (;;) {
    terminal.output.write(`${who}\n[w]ait for them, ${verb} [n]ow, or [c]ancel? [W/n/c] `)
    const answer = (await terminal.readLine(signal))?.trim().toLowerCase()
    if (answer === '' || answer === 'w' || answer === 'wait') return 'wait'
    if (answer === 'n' || answer === 'now') return 'cut'
    if (answer !== undefined && !'cancel'.startsWith(answer)) continue
    throw new CrabError('cancelled', `Cannot ${verb} the daemon: you cancelled it`)
  }
}

/** Returns the turns that still run when the time is up; none when the daemon ends meanwhile. */
async function waitForNone(
  dispatch: Dispatch,
  limitMs: number,
  signal: AbortSignal,
): Promise<readonly ActiveConversationInfo[]> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const turns = await fetchTurns(dispatch, signal)
    if (turns.length === 0 || performance.now() > deadline) return turns
    if (signal.aborted) throw toCancelledError(signal)
    await sleep(POLL_MS)
  }
}

async function fetchTurns(
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<readonly ActiveConversationInfo[]> {
  try {
    return (await request(dispatch, 'listActiveConversations', {}, signal)).conversations
  } catch (reason) {
    if (reason instanceof CrabError && reason.kind === 'unavailable') return []
    throw reason
  }
}

function countTurns(turns: readonly unknown[]): string {
  return turns.length === 1 ? 'a turn is running' : `${turns.length} turns are running`
}

const LIMIT_MS = 60_000
const POLL_MS = 200
const MAX_NAMED = 3
