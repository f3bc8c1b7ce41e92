import { defaultSender } from '../../cli/conversation-address.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { quoteWord } from '../../core/base/quote-word.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { Unanswered } from '../../tui/state/pending-asks.ts'

/**
 * Returns lines that say what becomes of unanswered questions, and what to type. Each ends with a line break.
 */
export function exitHint(unanswered: Unanswered, host: Pick<Host, 'env'>): string {
  const { agent, sender, askIds, isWaiting } = unanswered
  const where = escapeLine(`${agent}/${sender}`)
  const reopen = `Reopen the chat: ${openCommand({ agent, sender }, host)}\n`
  const [only = ''] = askIds.length === 1 ? askIds : []
  if (!isWaiting) {
    const what = only === '' ? `The ${askIds.length} open questions` : 'The open question'
    return `${what} in ${where} ended with the chat and its turn.\n${reopen}`
  }
  return only === ''
    ? `${askIds.length} questions are waiting in ${where}. See them: crabtalk asks\n${reopen}`
    : `A question is waiting in ${where}. Answer it: crabtalk answer ${shortId(only)}\n${reopen}`
}

/** Returns the shortest command that opens the chat of a conversation. */
function openCommand({ agent, sender }: { agent: string; sender: string }, host: Pick<Host, 'env'>): string {
  const options = [
    ...(agent === DEFAULT_AGENT ? [] : ['-a', quoteWord(escapeLine(agent))]),
    ...(sender === defaultSender(host) ? [] : ['-s', quoteWord(escapeLine(sender))]),
  ]
  return options.length === 0 ? 'crabtalk' : ['crabtalk chat', ...options].join(' ')
}
