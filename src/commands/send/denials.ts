import { allowOptions } from '../../core/base/allow-options.ts'
import { CrabError } from '../../core/base/errors.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { toVisible } from '../../core/base/visible.ts'
import { DeniedBy, type ToolDenial } from '../../core/protocol/crabtalk.generated.ts'

/** A tool call that was not permitted. */
export interface DenialRecord extends CallRefusal {
  tool: string
  /** Null for a built-in tool. */
  server: string | null
}

interface CallRefusal {
  /** What it would have done, in words. */
  action: string
  reason: string
  /** The rules that would allow it, together. */
  rules: readonly string[]
  by: 'rule' | 'person' | 'nobody'
}

/** Most calls that are told one by one. */
const MOST_LINES = 5
/** Longest action, and longest options, in such a line. */
const MOST_CHARS = 200

/** Why a call was not permitted, as programs read it. */
export function toDenial({ action, reason, rules, by }: ToolDenial): CallRefusal {
  return { action, reason, rules, by: DENIED_BY.get(by) ?? 'rule' }
}

/** What a run ends with that went on without a permission nobody could give (docs/decisions/0081-exit-4.md). */
export function permissionNeededError(calls: readonly DenialRecord[], sender = ''): CrabError {
  const what = calls.length === 1 ? 'A tool call' : `${calls.length} tool calls`
  const helps = calls.some(({ rules }) => rules.length > 0)
  const place = tableFor(sender)
  const widening = place
    ? `write rules for it under ${place}`
    : 'allow what is needed with --allow, or run it on a terminal'
  return new CrabError('denied', `${what} needed permission, and nobody could be asked`, {
    hint: helps ? widening : place ? `no rule under ${place} allows it` : 'run it on a terminal',
  })
}

/**
 * A line for each of these calls, the same one once, with what would allow it: options, to be pasted into a shell, or rules
 * of the table that holds for turns of that sender.
 */
export function formatDenials(calls: readonly DenialRecord[], sender = ''): string {
  const lines = [...new Set(calls.map((call) => toLine(call, tableFor(sender))))]
  const left = lines.length - MOST_LINES
  const shown = left > 0 ? [...lines.slice(0, MOST_LINES), `crabtalk: denied ${left} more`] : lines
  return shown.map((line) => `${line}\n`).join('')
}

function toLine({ action, reason, rules }: DenialRecord, place: string | undefined): string {
  const list = rules.map((rule) => JSON.stringify(rule)).join(', ')
  const widening = place ? `under ${place}: allow = [${list}]` : `with ${allowOptions(rules)}`
  const isUsable = rules.length > 0 && toVisible(widening) === widening && widening.length <= MOST_CHARS
  return `crabtalk: denied ${toSingleLine(action)} (${toSingleLine(reason)})${isUsable ? `; allow it ${widening}` : ''}`
}

/** The table of rules for turns of a sender; undefined where options hold, which is for this user's own. */
function tableFor(sender: string): string | undefined {
  const only = classifySender(sender)
  return only === 'local' ? undefined : `[permissions.${only}]`
}

function toSingleLine(text: string): string {
  const line = toVisible(text).replaceAll('\n', '\\n')
  return line.length > MOST_CHARS ? `${takeStart(line, MOST_CHARS)}…` : line
}

const DENIED_BY: ReadonlyMap<DeniedBy, CallRefusal['by']> = new Map([
  [DeniedBy.RULE, 'rule'],
  [DeniedBy.PERSON, 'person'],
  [DeniedBy.NOBODY, 'nobody'],
])
