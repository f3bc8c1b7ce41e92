import { allowOptions } from '../../core/base/allow-options.ts'
import { CrabError } from '../../core/base/errors.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { escapeLine, toVisible } from '../../core/base/visible.ts'
import { DeniedBy, type ToolDenial } from '../../core/protocol/crabtalk.generated.ts'

/** A tool call that was not permitted. */
export interface DenialRecord extends CallRefusal {
  tool: string
  /** Null for a built-in tool. */
  server: string | null
}

interface CallRefusal {
  /** The action that was refused, in words. */
  action: string
  reason: string
  /** The rules that, together, would allow it. */
  rules: readonly string[]
  by: 'rule' | 'person' | 'nobody'
}

/** The maximum number of calls that are listed individually. */
const MAX_LINES = 5
/** The maximum length of an action, and of its options, in such a line. */
const MAX_CHARS = 200

/** Converts the reason of a refusal to its form for programs. */
export function toDenial({ action, reason, rules, by }: ToolDenial): CallRefusal {
  return { action, reason, rules, by: DENIED_BY.get(by) ?? 'rule' }
}

/** Returns the error of a run that continued without a permission that no user could give (ADR 0081). */
export function permissionNeededError(calls: readonly DenialRecord[], sender = ''): CrabError {
  const what = calls.length === 1 ? '1 tool call was' : `${calls.length} tool calls were`
  const helps = calls.some(({ rules }) => rules.length > 0)
  const table = tableFor(sender)
  const widening = table
    ? `write rules for it under ${table}`
    : 'allow what is needed with --allow, or run it on a terminal'
  return new CrabError('denied', `${what} denied`, {
    hint: helps ? widening : table ? `no rule under ${table} allows it` : 'run it on a terminal',
  })
}

/**
 * Formats a line for each distinct call, with what would allow it: options that can be pasted into a shell,
 * or rules for the table that applies to turns of that sender.
 */
export function formatDenials(calls: readonly DenialRecord[], sender = ''): string {
  const lines = [...new Set(calls.map((call) => toLine(call, tableFor(sender))))]
  const left = lines.length - MAX_LINES
  const shown = left > 0 ? [...lines.slice(0, MAX_LINES), `crabtalk: denied ${left} more`] : lines
  return shown.map((line) => `${line}\n`).join('')
}

function toLine({ action, reason, rules }: DenialRecord, table: string | undefined): string {
  const list = rules.map((rule) => JSON.stringify(rule)).join(', ')
  const widening = table ? `under ${table}: allow = [${list}]` : `with ${allowOptions(rules)}`
  const isUsable = rules.length > 0 && toVisible(widening) === widening && widening.length <= MAX_CHARS
  return `crabtalk: denied ${toSingleLine(action)} (${toSingleLine(reason)})${isUsable ? `; allow it ${widening}` : ''}`
}

/**
 * Returns the table of rules for turns of a sender; undefined for turns of this user, to which options apply.
 */
function tableFor(sender: string): string | undefined {
  const only = classifySender(sender)
  return only === 'local' ? undefined : `[permissions.${only}]`
}

function toSingleLine(text: string): string {
  const line = escapeLine(text)
  return line.length > MAX_CHARS ? `${takeStart(line, MAX_CHARS)}…` : line
}

const DENIED_BY: ReadonlyMap<DeniedBy, CallRefusal['by']> = new Map([
  [DeniedBy.RULE, 'rule'],
  [DeniedBy.PERSON, 'person'],
  [DeniedBy.NOBODY, 'nobody'],
])
