import type { DenialRecord } from '../../cli/turn/denials.ts'
import { findRunFailure, RunRecord } from '../../cli/turn/record.ts'
import { CrabError } from '../../core/base/errors.ts'
import { didYouMean } from '../../core/base/nearest.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { type CronEntry, cronContent } from '../../core/cron/cron-entry.ts'
import { findSkillCalls } from '../../core/hooks/skills/skill-call.ts'
import { RetryPolicy } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../core/protocol/dispatch.ts'
import type { WireTurnEvent } from '../../core/protocol/turn-fold.ts'
import { attach } from '../../daemon/attach.ts'
import type { AttachingProcess } from '../../daemon/attaching-process.ts'

/** The time in milliseconds after which a silent turn is considered stuck. */
const IDLE_TIMEOUT_MS = 30 * 60_000

/** A turn of an entry. */
interface EntryTurn {
  entry: CronEntry
  /** Holds what was completed, also when the turn fails. */
  record: RunRecord
  show?(event: WireTurnEvent): Promise<void>
}

/**
 * Runs the turn of an entry to its end, in the daemon if one answers, else in this process; in both it has at
 * most the rights of an unattended turn, whatever its sender. Throws the error that the turn failed with.
 */
export async function fireEntry(
  { caller, ...turn }: EntryTurn & { caller: AttachingProcess },
  signal: AbortSignal,
): Promise<void> {
  await using attached = await attach(caller, { signal })
  await fireEntryThrough(attached.dispatch, turn, signal)
}

/** Runs the turn of an entry through a connection that is open, as fireEntry() does. */
export async function fireEntryThrough(
  dispatch: Dispatch,
  { entry, record, show }: EntryTurn,
  signal: AbortSignal,
): Promise<void> {
  using silence = new IdleTimeout(IDLE_TIMEOUT_MS)
  const either = AbortSignal.any([signal, silence.signal])
  await requireSkill(dispatch, entry, either)
  const { agent, sender } = entry
  // what is shown while it arrives cannot be taken back
  const retryPolicy = show ? RetryPolicy.QUICK : RetryPolicy.PATIENT
  const message = { agent, sender, content: cronContent(entry), options: { unattended: true, retryPolicy } }
  for await (const { event } of streamTurn(dispatch, message, either)) {
    silence.reset()
    if (!event) continue
    record.apply(event, performance.now())
    await show?.(event)
  }
  const error = findRunFailure(record, { failOnToolError: false })
  const refused = refusedCalls(record)
  if (refused.length > 0 && (!error || error.kind === 'denied')) throw notPermitted(record, refused)
  if (error && !isSilentWork(error, record)) throw error
}

/** Creates the record of an entry's turn before it starts. */
export function newEntryRecord({ agent, sender }: CronEntry): RunRecord {
  return new RunRecord({ startedAt: performance.now(), agent, sender })
}

/**
 * Throws `missing` when the agent does not have the skill that the entry names: a model could only guess what
 * is meant.
 */
export async function requireSkill(
  dispatch: Dispatch,
  entry: Pick<CronEntry, 'skill' | 'agent'>,
  signal: AbortSignal,
): Promise<void> {
  if (entry.skill === undefined) return
  const { skills } = await request(dispatch, 'listSkills', { agent: entry.agent }, signal)
  if (findSkillCalls(cronContent(entry), skills).length > 0) return
  const [name = ''] = entry.skill.replace(/^skill:/, '').split(/\s/)
  const names = skills.map((skill) => skill.name)
  const hint =
    didYouMean(name, names) ?? 'skills are folders with a SKILL.md in the skills folder of the home'
  throw new CrabError('missing', `Cannot find the skill "${name}"`, { hint })
}

/**
 * Returns the calls that were refused because no rule allows them; those that a rule of the user denies are
 * refused on purpose.
 */
function refusedCalls({ sender, unattendedDenials: unasked, denied }: RunRecord): readonly DenialRecord[] {
  return classifySender(sender) === 'remote' ? denied : unasked
}

/**
 * Returns the error for calls that were not permitted; it names the table for the missing rules, because no
 * option helps here.
 */
function notPermitted({ agent, sender }: RunRecord, calls: readonly DenialRecord[]): CrabError {
  const [first] = calls
  const more = calls.length > 1 ? `, and ${calls.length - 1} more` : ''
  const what = `Cannot do "${first?.action}"${more} without permission: ${first?.reason}`
  const rules = calls.flatMap((call) => call.rules)
  if (rules.length === 0) return new CrabError('denied', what)
  const table = classifySender(sender) === 'remote' ? 'remote' : 'unattended'
  const allow = [...new Set(rules)].map((rule) => JSON.stringify(rule)).join(', ')
  return new CrabError('denied', what, {
    hint: `under [permissions.${table}] in agents/${agent}.toml: allow = [${allow}]`,
  })
}

/** Accepts a turn that used tools and has no answer, since a schedule does not need one. */
function isSilentWork({ kind }: CrabError, { summary }: RunRecord): boolean {
  return kind === 'empty' && summary.tools.size > 0
}

/** Aborts its signal unless it is reset in time. */
class IdleTimeout implements Disposable {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(ms: number) {
    const why = new CrabError('timeout', `Cannot finish the turn: it made no progress for ${ms / 60_000} min`)
    this.#timer = setTimeout(() => this.#controller.abort(why), ms)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  reset(): void {
    this.#timer.refresh()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }
}
