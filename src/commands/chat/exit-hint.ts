import { shortId } from '../../cli/find-conversation.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { escapeLine } from '../../core/base/visible.ts'
import type { Farewell } from '../../tui/state/farewell.ts'
import type { Unanswered } from '../../tui/state/pending-asks.ts'

/**
 * Returns lines that say what still runs or waits, and how to come back. Each ends with a line break; nothing
 * is returned when there is nothing to come back to.
 */
export function exitHint({ session, running, others, otherAsks, unanswered }: Farewell): string {
  const lines = [
    ...(running === undefined || unanswered
      ? []
      : [`A turn is still running. Watch it: crabtalk attach ${toTarget(running)}`]),
    ...(unanswered ? [describeUnanswered(unanswered)] : []),
    ...(others === 0 ? [] : [describeOthers(others)]),
    ...(otherAsks === 0 ? [] : [describeOtherAsks(otherAsks)]),
    ...(session === undefined ? [] : [`Continue: crabtalk --resume ${shortId(session)}`]),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function toTarget(running: string): string {
  return running.includes('/') ? quoteWord(escapeLine(running)) : shortId(running)
}

function describeUnanswered({ askIds, isWaiting }: Unanswered): string {
  const [only = ''] = askIds.length === 1 ? askIds : []
  if (!isWaiting) {
    const what = only === '' ? `The ${askIds.length} open questions` : 'The open question'
    return `${what} ended with the chat and its turn.`
  }
  return only === ''
    ? `${askIds.length} questions are waiting. See them: crabtalk asks`
    : `A question is waiting. Answer it: crabtalk answer ${shortId(only)}`
}

function describeOthers(count: number): string {
  const what = count === 1 ? '1 turn of another conversation is' : `${count} turns of other conversations are`
  return `${what} still running. See them: /agents in the chat`
}

function describeOtherAsks(count: number): string {
  return count === 1
    ? '1 question of another conversation is waiting. See it: crabtalk asks'
    : `${count} questions of other conversations are waiting. See them: crabtalk asks`
}
