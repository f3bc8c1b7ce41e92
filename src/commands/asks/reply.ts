import { defaultSender } from '../../cli/conversation-address.ts'
import type { Host } from '../../cli/host.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { WaitingAsk } from './find.ts'

/** Sends an answer in the name of the user. Throws `missing` when the question was already answered. */
export async function sendReply(
  dispatch: Dispatch,
  { info, answers, host }: { info: WaitingAsk; answers: unknown; host: Host },
  signal: AbortSignal,
): Promise<void> {
  const { agent, ask } = info
  const content = JSON.stringify(answers)
  const sender = defaultSender(host)
  await request(dispatch, 'replyToAsk', { agent, sender, askId: ask.askId, content }, signal)
}
