import { constants } from 'node:os'
import { runDialog } from '../../cli/ask/dialog.ts'
import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { openPlainChat } from '../../tui/plain/plain-chat.ts'
import type { ChatOptions } from '../../tui/ports.ts'
import { openChatPorts } from './ports.ts'
import { resolveConversationId } from './resolve-conversation-id.ts'

/** Runs the chat with plain lines, and returns the exit code. */
export async function plainChat(host: Host, options: ChatOptions, signal: AbortSignal): Promise<number> {
  using terminal = host.terminal()
  if (!terminal) {
    throw new CrabError('usage', 'Cannot open the chat: there is no terminal', {
      hint: 'crabtalk send runs one turn in a pipe',
    })
  }
  if (options.picks) {
    throw new CrabError('usage', 'Cannot show a list of conversations in plain lines', {
      hint: 'crabtalk conversation list shows their ids: crabtalk --plain --resume ID',
    })
  }
  const { output } = terminal
  const ended = new AbortController()
  let exitCode = 0
  await using opened = openChatPorts(host, options)
  using _listening = host.onSignal((name) => {
    if (name === 'SIGINT') return
    exitCode = 128 + constants.signals[name]
    ended.abort()
  })
  const session = await resolveConversationId(options.session, opened.ports.dispatch, signal)
  const farewell = await openPlainChat(
    opened.ports,
    { ...options, session, color: false },
    {
      write: (text) => host.stdout.write(text),
      columns: () => host.columns(),
      readLine: (stop) => terminal.readLine(stop),
      onInterrupt: (listener) => host.onSignal((name) => name === 'SIGINT' && listener()),
      async converse(ask, { agent, readLine, see }, stop) {
        await host.stdout.flush() // questions go straight to the terminal, past this buffer
        const style = { columns: host.columns(), color: false }
        const dialog = { terminal: { output, readLine }, style, agent, see, hasComposer: true }
        return await runDialog(ask, dialog, stop)
      },
    },
    AbortSignal.any([signal, ended.signal]),
  )
  host.stdout.write((await import('./exit-hint.ts')).exitHint(farewell))
  return exitCode
}
