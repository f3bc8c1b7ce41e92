import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../base/errors.ts'
import type { ToolCall } from '../base/message.ts'
import type { PolicyAction } from '../policy/types.ts'
import type { Denial } from './asks.ts'
import type { GroupLock } from './group-lock.ts'
import type { Permissions } from './permission.ts'

/**
 * A group of calls that may run concurrently. Groups keep command lines that read files apart from calls that
 * may change files: the files such a line reads are checked before it runs, and a concurrent call could put a
 * link there. A line that does both is in a group of its own, so it runs alone (ADR 0166).
 */
export type FileGroup = 'reading' | 'changing' | symbol

/** A call of a step. */
interface DescribedCall {
  call: ToolCall
  /** Describes what the call would do in the current state; throws for arguments that make no sense. */
  describe(call: ToolCall): Promise<PolicyAction>
  /** Resolves when the earlier calls of the step have ended. */
  earlier: Promise<unknown>
}

/** A call that is permitted to run now. */
interface PermittedCall {
  /** The call as it may run. */
  call: ToolCall
  /** The sender that has changed the call; undefined when it is unchanged. */
  editedBy: string | undefined
  action: PolicyAction
  /** The lock that keeps other groups out; the caller releases it by disposing it. */
  turn: Disposable | undefined
}

/**
 * Permits a call and then takes its group's lock, so that no other call waits while a person is asked. A
 * command line that reads files is described again under the lock; when the description has changed, the lock
 * is released and the call is judged again.
 */
export async function permitCall(
  { call: requested, describe, earlier }: DescribedCall,
  { permissions, order }: { permissions: Permissions; order: GroupLock<FileGroup> },
  signal: AbortSignal,
): Promise<{ denial: Denial } | PermittedCall> {
  let call = requested
  let editedBy: string | undefined
  let action = await describe(call)
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const outcome = await permissions.permit({ call, action, earlier }, signal)
    if (outcome && 'reason' in outcome) return { denial: outcome }
    if (outcome) {
      call = { ...call, arguments: outcome.arguments }
      editedBy = outcome.by
      action = await describe(call)
      const denial = await permissions.permitEdited(call, action, editedBy)
      if (denial) return { denial }
    }
    const group = findGroup(action)
    const turn = group && (await order.enter(group, signal))
    const current = call
    const now =
      group === undefined || group === 'changing' ? action : await describeIn(turn, () => describe(current))
    if (isDeepStrictEqual(now, action)) return { call, editedBy, action, turn }
    turn?.[Symbol.dispose]()
    action = now
  }
  throw new CrabError('conflict', `Cannot call ${call.name}: the file it reads keeps changing`)
}

/** Describes a call under its lock, which is released when that fails. */
async function describeIn(
  turn: Disposable | undefined,
  describe: () => Promise<PolicyAction>,
): Promise<PolicyAction> {
  try {
    return await describe()
  } catch (reason) {
    turn?.[Symbol.dispose]()
    throw reason
  }
}

/** Returns the group of calls that may run concurrently with a call; undefined when it may run at any time. */
function findGroup(action: PolicyAction): FileGroup | undefined {
  if (action.kind === 'mcp' || action.kind === 'edit') return 'changing'
  if (action.kind !== 'bash') return undefined
  const { readOnly = [] } = action
  const changes = readOnly.length === 0 || !readOnly.every(Boolean)
  const reads = readOnly.some((use) => use !== undefined && use.paths.length > 0)
  if (changes) return reads ? Symbol('mixed') : 'changing'
  return reads ? 'reading' : undefined
}

/** The most times that a call is judged. It is refused afterwards, because what it reads differs each time. */
const MAX_TRIES = 5
