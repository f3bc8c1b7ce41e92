import { setTimeout as sleep } from 'node:timers/promises'
import { toCancelledError } from '../../../core/base/abortable.ts'
import { CrabError } from '../../../core/base/errors.ts'
import type { ActiveConversationInfo } from '../../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../../core/protocol/dispatch.ts'
import { escapeLine } from '../../../tui/cards/subject.ts'
import { findRunningDaemon } from '../../daemon/running.ts'
import type { Host } from '../../host.ts'

/** How turns are waited for. */
export interface TurnWait {
  /** What is about to be done, as in `restart`. */
  verb: string
  /** Nobody waits. */
  now: boolean
  /** By default 60 s. */
  limitMs?: number
}

/**
 * Resolves when no turn runs in the daemon of this home. A person at a terminal is told of them, and may have them cut.
 * Fails with `timeout` when they take too long, and `cancelled` when the person thinks better of it.
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
  throw new CrabError('timeout', `Cannot ${verb} the daemon: ${counted(left)} after ${limitMs / 1000} s`, {
    hint: `add --now to cut ${left.length === 1 ? 'it' : 'them'}; what was said is kept`,
  })
}

/** On a terminal a person decides; elsewhere they are waited for. */
async function ask(
  host: Host,
  verb: string,
  turns: readonly ActiveConversationInfo[],
  signal: AbortSignal,
): Promise<'wait' | 'cut'> {
  const names = turns.map(
    ({ agent, sender, asks }) => `${escapeLine(`${agent}/${sender}`)}${asks > 0 ? ' (asks)' : ''}`,
  )
  const who = `${counted(turns)}: ${names.slice(0, MOST_NAMED).join(', ')}${names.length > MOST_NAMED ? ', …' : ''}`
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
    throw new CrabError('cancelled', `Cannot ${verb} the daemon: you changed your mind`)
  }
}

/** What still runs when the time is over; a daemon that ends meanwhile runs nothing. */
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

function counted(turns: readonly unknown[]): string {
  return turns.length === 1 ? 'a turn runs' : `${turns.length} turns run`
}

const LIMIT_MS = 60_000
const POLL_MS = 200
const MOST_NAMED = 3
