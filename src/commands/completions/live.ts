import { relativeTime } from '../../core/base/relative-time.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { formatAskLine } from '../asks/ask-line.ts'
import { fetchAsks } from '../asks/asks.ts'
import { shortId } from '../conversation/find.ts'
import type { Host } from '../host.ts'
import type { WordCompletion } from './suggest.ts'

/** The questions that wait in the daemon, oldest first. Throws `unavailable` where none runs. */
export async function completeAsks(host: Host, signal: AbortSignal): Promise<WordCompletion[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  const asks = await fetchAsks(attached.dispatch, '', signal)
  return asks.map(({ ask, agent, openedAt }) => {
    const description = `${relativeTime(openedAt, Date.now())}, ${agent}: ${formatAskLine(ask)}`
    return { value: shortId(ask.askId), description }
  })
}

/** The runs that go on in the daemon, oldest first. Throws `unavailable` where none runs. */
export async function completeRuns(host: Host, signal: AbortSignal): Promise<WordCompletion[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  return await fetchRuns(attached.dispatch, signal)
}

async function fetchRuns(dispatch: Dispatch, signal: AbortSignal): Promise<WordCompletion[]> {
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  const runs = conversations.filter(({ runId }) => runId !== '')
  return runs.map(({ runId, agent, sender, title }) => {
    return { value: runId, description: `${agent}/${sender}${title === '' ? '' : `: ${title}`}` }
  })
}
