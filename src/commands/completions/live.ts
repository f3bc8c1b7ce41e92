import { formatAskLine } from '../../cli/ask/ask-line.ts'
import { shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { namePair } from '../../core/base/sender-class.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { fetchAsks } from '../asks/asks.ts'
import type { WordCompletion } from './suggest.ts'

/**
 * Returns the pending questions in the daemon as completions, oldest first. Throws `unavailable` when no
 * daemon is running.
 */
export async function completeAsks(host: Host, signal: AbortSignal): Promise<WordCompletion[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  const asks = await fetchAsks(attached.dispatch, '', signal)
  return asks.map(({ ask, agent, openedAt }) => {
    const description = `${relativeTime(openedAt, Date.now())}, ${agent}: ${formatAskLine(ask)}`
    return { value: shortId(ask.askId), description }
  })
}

/**
 * Returns the active runs in the daemon as completions, oldest first. Throws `unavailable` when no daemon is
 * running.
 */
export async function completeRuns(host: Host, signal: AbortSignal): Promise<WordCompletion[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  return await fetchRuns(attached.dispatch, signal)
}

async function fetchRuns(dispatch: Dispatch, signal: AbortSignal): Promise<WordCompletion[]> {
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  const runs = conversations.filter(({ runId }) => runId !== '')
  return runs.map(({ runId, agent, sender, title }) => {
    return { value: runId, description: `${namePair({ agent, sender })}${title === '' ? '' : `: ${title}`}` }
  })
}
