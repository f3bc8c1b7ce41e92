import { type Dispatch, request } from '../../core/protocol/dispatch.ts'

/** Gives a conversation without a title the one that a model proposes. Throws the error of a request. */
export async function nameByModel(
  { dispatch, session, model }: { dispatch: Dispatch; session: string; model: string },
  signal: AbortSignal,
): Promise<void> {
  const { title: known } = await request(dispatch, 'getSession', { session }, signal)
  if (known !== '') return
  const { title } = await request(dispatch, 'generateTitle', { session, model }, signal)
  if (title !== '') await request(dispatch, 'setTitle', { session, title }, signal)
}
