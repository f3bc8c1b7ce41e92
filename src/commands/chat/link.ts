import type { Host } from '../../cli/host.ts'
import { CrabError } from '../../core/base/errors.ts'
import { type Lazy, lazy } from '../../core/base/lazy.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import type { RuntimeConnection } from '../../daemon/runtime-connection.ts'
import type { ChatLink, ChatPorts, LinkNote } from '../../tui/ports.ts'

/** A connection to the agents that is restored when it is lost. Disposing closes it. */
export interface AgentLink extends AsyncDisposable {
  readonly dispatch: Dispatch
  connect: ChatPorts['connect']
}

interface AttachResult {
  attached: RuntimeConnection
  /** The messages of attaching that are not shown yet. */
  notes: LinkNote[]
}

/**
 * Connects to the agents on first use: through the daemon, which is started where config.toml allows it
 * (ADR 0105).
 */
export function openChatLink(host: Host): AgentLink {
  const lifetime = new AbortController()
  const connectLazily = () => lazy(() => attachQuietly(host, lifetime.signal))
  let current: Lazy<AttachResult> = connectLazily()
  return {
    async *dispatch(message, signal) {
      yield* (await current.get()).attached.dispatch(message, signal)
    },
    async connect({ anew, mayStart }, signal) {
      const before = await current.current?.catch(() => undefined) // the caller that waited for it got the failure
      if (anew && before?.attached.place === 'daemon') {
        if (!mayStart) await probe(host, signal)
        current = connectLazily()
        await before.attached[Symbol.asyncDispose]()
      }
      return await describe(await current.get(), signal)
    },
    async [Symbol.asyncDispose]() {
      lifetime.abort()
      const attachResult = await current.current?.catch(() => undefined)
      await attachResult?.attached[Symbol.asyncDispose]()
    },
  }
}

/** Attaches, and collects messages instead of writing them over the screen. */
async function attachQuietly(host: Host, signal: AbortSignal): Promise<AttachResult> {
  const notes: LinkNote[] = []
  const { attach } = await import('../../daemon/attach.ts')
  const stderr = { write: (text: string) => notes.push({ text: text.replace(/^crabtalk: /, '').trim() }) }
  const attached = await attach({ ...host, stderr, isInteractive: true }, { daemon: 'start', signal })
  const { why, hint } = attached
  if (hint !== undefined) notes.push({ text: `This chat runs in its own process: ${why}`, hint })
  if (attached.olderAt === undefined) return { attached, notes }
  await attached[Symbol.asyncDispose]()
  throw new CrabError(
    'unavailable',
    `Cannot chat: the process at ${attached.olderAt} speaks an older protocol (no hello)`,
    {
      hint: '`crabtalk send` runs turns there; for everything else use another CRABTALK_HOME',
    },
  )
}

/** Throws `unavailable` when no daemon is running. */
async function probe(host: Host, signal: AbortSignal): Promise<void> {
  const { attach } = await import('../../daemon/attach.ts')
  await using _found = await attach({ ...host, stderr: { write() {} } }, { daemon: 'only', signal })
}

/** Describes the connection, with the messages that no earlier call returned. */
async function describe({ attached, notes: unseen }: AttachResult, signal: AbortSignal): Promise<ChatLink> {
  const { place, dispatch } = attached
  const notes = unseen.splice(0)
  if (place === 'process') return { place, instance: 'process', notes }
  const { request } = await import('../../core/protocol/dispatch.ts') // the first frame needs no codec
  const { pid } = await request(dispatch, 'hello', { versions: [1] }, signal)
  return { place, instance: String(pid), notes }
}
