import { toCrabError } from '../../core/base/errors.ts'
import { isWindowSender } from '../../core/base/sender-class.ts'
import { VERSION } from '../../core/base/version.ts'
import { ContextPartKind, McpPeerState, type McpView } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import type { ChatState } from '../state/types.ts'
import { printRows } from './print.ts'
import type { SlashContext } from './types.ts'

/** `/status`: shows the conversation and the place it runs in. */
export async function showStatus(_args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, sender, session, title, model, mode, branch, place } = context.state()
  const { shownCwd } = context.ports
  printRows(context, `crabtalk ${VERSION}`, [
    ['agent', agent],
    ...(isWindowSender(sender) ? [] : [['sender', sender]]),
    ['conversation', session === undefined ? 'none yet' : [title, session].filter(Boolean).join(' · ')],
    [
      'model',
      [model || 'not known before the first answer', choiceNote(context.state())].filter(Boolean).join(' · '),
    ],
    ['mode', mode],
    ['directory', [shownCwd, branch].filter(Boolean).join(' · ')],
    ['runs in', place === 'daemon' ? 'a daemon' : 'this process'],
    ['instructions', await instructionsText(context, signal)],
    ['MCP', await serversText(context, signal)],
  ])
}

/** Says who chose the model, if it is not the agent's. */
function choiceNote({ chosenModel, choiceScope }: ChatState): string {
  if (chosenModel === undefined) return ''
  return choiceScope === 'window' ? 'chosen for this window by --model' : 'chosen for this conversation'
}

/** Names the instruction files that the next message would use. A failure is reported in place, as for servers. */
async function instructionsText(
  { dispatch, state, ports }: SlashContext,
  signal: AbortSignal,
): Promise<string> {
  const { session } = state()
  if (session === undefined) return 'not known before the first message'
  try {
    const { parts } = await request(dispatch, 'contextView', { session, cwd: ports.cwd }, signal)
    const files = parts.filter(({ kind }) => kind === ContextPartKind.INSTRUCTIONS)
    return files.length === 0 ? 'no files' : files.map(({ name }) => ports.abbreviate(name)).join(', ')
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    return message
  }
}

/** Summarizes the MCP servers. A failure is reported in place, so that the other rows are still shown. */
async function serversText(context: SlashContext, signal: AbortSignal): Promise<string> {
  try {
    const { agent } = context.state()
    return summary(await request(context.dispatch, 'mcpView', { agent }, signal))
  } catch (reason) {
    const { kind, message } = toCrabError(reason)
    if (kind === 'cancelled') throw reason
    return message
  }
}

function summary({ agents }: McpView): string {
  const servers = agents
    .flatMap((view) => view.servers)
    .filter(({ state }) => state !== McpPeerState.DISABLED) // as in the status line
  if (servers.length === 0) return 'no servers'
  const connected = servers.filter(({ state }) => state === McpPeerState.CONNECTED).length
  const failed = servers.filter(({ error }) => error !== '').map(({ name }) => name)
  const trouble = failed.length === 0 ? '' : ` · failed: ${failed.join(', ')}`
  return `${connected} of ${servers.length} connected${trouble}`
}
