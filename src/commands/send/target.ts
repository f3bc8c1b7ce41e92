import { CrabError } from '../../core/base/errors.ts'
import { DEFAULT_AGENT } from '../../core/config/default-name.ts'
import type { ConversationInfo } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { SendSettings } from './settings.ts'

type TargetSettings = Pick<SendSettings, 'agent' | 'target' | 'fork'>

/** Returns the sender whose conversation a message goes to; with --fork, after copying its session. */
export async function chooseSender(
  at: { settings: TargetSettings; cwd: string; newSender(): string },
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<string> {
  const { settings, newSender } = at
  const { target, fork } = settings
  if (target.kind === 'fresh') return newSender()
  if (target.kind === 'named' && !fork) return target.sender
  const found = await findConversation(at, dispatch, signal)
  if (fork) await request(dispatch, 'forkSession', { session: found.filePath }, signal)
  else await request(dispatch, 'activateSession', { session: found.filePath }, signal) // a newer one may be empty
  return found.sender
}

async function findConversation(
  { settings, cwd }: { settings: TargetSettings; cwd: string },
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<ConversationInfo> {
  const { target, agent } = settings
  const which = target.kind === 'named' ? { sender: target.sender, limit: 1 } : { cwd, limit: 0 }
  const filter = { agent: agent || DEFAULT_AGENT, ...which }
  const { readConversations } = await import('../conversation/find.ts')
  const { conversations } = await readConversations(dispatch, filter, signal)
  const latest = conversations.find((info) => target.kind === 'named' || isOurs(info.sender)) // newest first
  if (latest) return latest
  const what = target.kind === 'named' ? `named "${target.sender}"` : `of ${agent || DEFAULT_AGENT} in ${cwd}`
  throw new CrabError('missing', `Cannot continue: no conversation ${what} exists`, {
    hint: 'leave out the option to start one',
  })
}

/**
 * Whether a user on this machine started the conversation: its sender is a plain name, or one that `send`
 * generated.
 */
function isOurs(sender: string): boolean {
  return !sender.includes(':') || sender.startsWith('sh:')
}
