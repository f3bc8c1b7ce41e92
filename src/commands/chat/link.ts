import { CrabError } from '../../core/base/errors.ts'
import { type Lazy, lazy } from '../../core/base/lazy.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import type { RuntimeConnection } from '../../daemon/runtime-connection.ts'
import type { ChatLink, ChatPorts } from '../../tui/ports.ts'
import type { Host } from '../host.ts'

/** A way to the agents that is found again when it is lost. Disposing lets go of them. */
export interface AgentLink extends AsyncDisposable {
  readonly dispatch: Dispatch
  connect: ChatPorts['connect']
}

interface AttachResult {
  attached: RuntimeConnection
  /** What there was to say on the way. */
  notes: readonly string[]
}

/** Reaches the agents when they are first needed: those of a daemon, which is started where it may be (decision 31). */
export function openChatLink(host: Host): AgentLink {
  const over = new AbortController()
  const reach = () => lazy(() => attachQuietly(host, over.signal))
  let current: Lazy<AttachResult> = reach()
  return {
    async *dispatch(message, signal) {
      yield* (await current.get()).attached.dispatch(message, signal)
    },
    async connect({ anew, mayStart }, signal) {
      const before = await current.current?.catch(() => undefined) // whoever waited for it was told
      if (anew && before?.attached.place === 'daemon') {
        if (!mayStart) await probe(host, signal)
        current = reach()
        await before.attached[Symbol.asyncDispose]()
      }
      return await describe(await current.get(), signal)
    },
    async [Symbol.asyncDispose]() {
      over.abort()
      const made = await current.current?.catch(() => undefined)
      await made?.attached[Symbol.asyncDispose]()
    },
  }
}

/** What the person should be told is not written over the screen. */
async function attachQuietly(host: Host, signal: AbortSignal): Promise<AttachResult> {
  const notes: string[] = []
  const { attach } = await import('../../daemon/attach.ts')
  const stderr = { write: (text: string) => notes.push(text.replace(/^crabtalk: /, '').trim()) }
  const attached = await attach({ ...host, stderr }, { daemon: 'start', signal })
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

/** Throws `unavailable` while no daemon is there. */
async function probe(host: Host, signal: AbortSignal): Promise<void> {
  const { attach } = await import('../../daemon/attach.ts')
  await using _found = await attach({ ...host, stderr: { write() {} } }, { daemon: 'only', signal })
}

async function describe({ attached, notes }: AttachResult, signal: AbortSignal): Promise<ChatLink> {
  const { place, dispatch } = attached
  if (place === 'process') return { place, instance: 'process', notes }
  const { pid } = await request(dispatch, 'hello', { versions: [1] }, signal)
  return { place, instance: String(pid), notes }
}
