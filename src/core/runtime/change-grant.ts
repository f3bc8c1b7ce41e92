import { CrabError } from '../base/errors.ts'
import { parseRule } from '../policy/pattern.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import { LeasedConversation } from './leased-conversation.ts'
import type { Sessions } from './sessions.ts'

/** A rule that the user allows for a conversation, or takes back. */
export interface GrantChange {
  session: string
  /** The current name of the agent. */
  agent: string
  pattern: string
  remove: boolean
}

/**
 * Adds a rule that allows to a conversation, or removes it. Throws `invalid` for an invalid rule, `missing` when
 * there is none to remove, and `conflict` while a turn runs.
 */
export async function changeGrant(
  { stores, running }: Sessions,
  { session, agent, pattern, remove }: GrantChange,
  signal: AbortSignal,
): Promise<void> {
  parseRule(pattern)
  if (running.findConversation(session))
    throw new CrabError('conflict', `${WHAT}: a turn is running`, { hint: 'wait for it to end, or stop it' })
  const open = (either: AbortSignal) => LeasedConversation.open(stores, { id: session, agent }, either)
  await using conversation = await acquireWithin(open, { what: WHAT, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
  const isThere = conversation.history.grants.some((rule) => rule.pattern === pattern)
  if (remove && !isThere)
    throw new CrabError('missing', `${WHAT}: the conversation has no rule ${JSON.stringify(pattern)}`)
  if (remove) await conversation.append([{ kind: 'event', event: 'grants_removed', rules: [pattern] }])
  else if (!isThere)
    await conversation.append([{ kind: 'event', event: 'permission', ...GRANT, rules: [pattern] }])
}

const WHAT = 'Cannot change the rules of the conversation'

/** A decision without a call: the user has added the rule. */
const GRANT = {
  call_id: '',
  name: '',
  effect: 'allow',
  by: 'person',
  reason: 'the user added the rule',
  grant: 'session',
} as const
