import { relativeTime } from '../../core/base/relative-time.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { listAsks } from '../asks/asks.ts'
import { askInLine } from '../asks/in-line.ts'
import { shortId } from '../conversation/find.ts'
import type { Host } from '../host.ts'
import type { Candidate } from './suggest.ts'

/** The questions that wait in the daemon, oldest first. Throws `unavailable` where none runs. */
export async function liveAsks(host: Host, signal: AbortSignal): Promise<Candidate[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  const asks = await listAsks(attached.dispatch, '', signal)
  return asks.map(({ ask, agent, openedAt }) => {
    const description = `${relativeTime(openedAt, Date.now())}, ${agent}: ${askInLine(ask)}`
    return { value: shortId(ask.askId), description }
  })
}

/** The runs that go on in the daemon, oldest first. Throws `unavailable` where none runs. */
export async function liveRuns(host: Host, signal: AbortSignal): Promise<Candidate[]> {
  await using attached = await attach(host, { daemon: 'only', signal })
  return await runsOf(attached.dispatch, signal)
}

async function runsOf(dispatch: Dispatch, signal: AbortSignal): Promise<Candidate[]> {
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  const runs = conversations.filter(({ runId }) => runId !== '')
  return runs.map(({ runId, agent, sender, title }) => {
    return { value: runId, description: `${agent}/${sender}${title === '' ? '' : `: ${title}`}` }
  })
}
