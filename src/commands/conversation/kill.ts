import type { CommandHandler } from '../../cli/command.ts'
import { findAddress } from '../../cli/conversation-address.ts'
import { CrabError } from '../../core/base/errors.ts'
import { namePair } from '../../core/base/sender-class.ts'
import { escapeLine } from '../../core/base/visible.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation kill`: cancels what runs in a conversation, which stays usable. */
export const killConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host, { signal })
  const { dispatch } = attached
  const address = await findAddress({ options, host }, dispatch, signal)
  const { conversations } = await request(dispatch, 'listActiveConversations', address, signal)
  const word = (options.args[0] ?? '').toUpperCase()
  const run = conversations.find(({ runId }) => word !== '' && runId.endsWith(word))
  if (isRunId(word) && !run) {
    throw new CrabError('missing', `Cannot interrupt run ${word}: it is not running`, {
      hint: `crabtalk wait ${word} shows how it ended`,
    })
  }
  await request(dispatch, 'kill', address, signal)
  const what = escapeLine(namePair(address))
  host.stdout.write(conversations.length > 0 ? `interrupted ${what}\n` : `nothing is running in ${what}\n`)
  return 0
}

function isRunId(word: string): boolean {
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(word)
}
