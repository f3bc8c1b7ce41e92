import { shownTitle } from '../../core/base/auto-title.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { WaitingAsk } from './find.ts'

/** A pending question with the title of its conversation. */
export interface TitledAsk extends WaitingAsk {
  /** Empty when it is not known. */
  title: string
}

/** Adds the titles of the conversations. A conversation that cannot be read has no title: the question matters more. */
export async function addTitles(
  dispatch: Dispatch,
  asks: readonly WaitingAsk[],
  signal: AbortSignal,
): Promise<TitledAsk[]> {
  const sessions = [...new Set(asks.map(({ session }) => session))].filter(Boolean)
  const titles = new Map(
    await Promise.all(
      sessions.map(async (session): Promise<[string, string]> => {
        const info = await request(dispatch, 'getSession', { session }, signal).catch(() => undefined) // deleted, or an older daemon
        return [session, info ? shownTitle(info) : '']
      }),
    ),
  )
  signal.throwIfAborted()
  return asks.map((ask) => ({ ...ask, title: titles.get(ask.session) ?? '' }))
}
