import { defaultSender } from '../../cli/conversation-address.ts'
import type { Host } from '../../cli/host.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { WaitingAsk } from './find.ts'

/** Sends an answer in the name of the user; `args` change the call that it allows. Throws `missing` when the question was already answered. */
export async function sendReply(
  dispatch: Dispatch,
  { info, answers, host, args }: { info: WaitingAsk; answers: unknown; host: Host; args?: string },
  signal: AbortSignal,
): Promise<void> {
  const { agent, ask } = info
  const content = JSON.stringify(answers)
  const sender = defaultSender(host)
  const changed = args === undefined ? {} : { arguments: args }
  await request(dispatch, 'replyToAsk', { agent, sender, askId: ask.askId, content, ...changed }, signal)
}
