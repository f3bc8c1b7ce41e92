import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import { type ConversationAddress, findAddress } from '../../cli/conversation-address.ts'
import { requireDaemon } from '../../cli/require-daemon.ts'
import { followToEnd } from './tail.ts'

/**
 * Runs `crabtalk attach`: opens the chat on a conversation; in a pipe or with --json, prints what `tail`
 * does.
 */
export const attachConversationCommand: CommandHandler = async (invocation) => {
  const { options, host, signal } = invocation
  if (options.has('json') || host.screen() === undefined) return await followToEnd(options, host)
  const address = await resolveAddress()
  const { chatCommand } = await import('../chat/chat.ts')
  return await chatCommand({ ...invocation, options: toChatOptions(address, options) })

  async function resolveAddress(): Promise<ConversationAddress> {
    await using attached = await requireDaemon(
      host,
      { task: 'attach to the conversation', start: true },
      signal,
    )
    return await findAddress({ options, host }, attached.dispatch, signal)
  }
}

/** Returns a command line of the chat that opens this conversation. */
function toChatOptions({ agent, sender }: ConversationAddress, { has, count }: ParsedOptions): ParsedOptions {
  const preset: Readonly<Record<string, string>> = { agent, sender }
  const value = (name: string) => preset[name]
  const isFlag = (name: string) => FLAGS.has(name) && has(name)
  return {
    args: [],
    value,
    values: (name) => [value(name) ?? []].flat(),
    has: (name) => value(name) !== undefined || isFlag(name),
    count: (name) => (isFlag(name) ? count(name) : 0),
  }
}

/** The flags that are passed on. */
const FLAGS: ReadonlySet<string> = new Set(['plain', 'debug'])
