import { homedir } from 'node:os'
import { once } from '../../core/base/once.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { withoutProviderKeys } from '../../core/provider/provider-keys.ts'
import type { ChatPorts } from '../../tui/ports.ts'
import type { Host } from '../host.ts'

/** What the chat is given; disposing lets go of the agents. */
export interface OpenedPorts extends AsyncDisposable {
  readonly ports: ChatPorts
}

/** The ports of a chat in the working directory. The agents are attached to when they are first needed. */
export function openPorts(host: Host): OpenedPorts {
  const cwd = host.cwd()
  const attached = once(async () => (await import('../../daemon/attach.ts')).attach(host))
  const dispatch: Dispatch = async function* (message, signal) {
    yield* (await attached.get()).dispatch(message, signal)
  }
  const ports: ChatPorts = {
    dispatch,
    place: 'process',
    cwd,
    shownCwd: shorten(cwd, homedir()),
    env: withoutProviderKeys(host.env),
    now: Date.now,
    branch: async () => undefined,
    readHistory: async () => [],
    rememberSent: async () => {},
    findFiles: async () => [],
    expand: async (content) => ({ content, attachments: [], problems: [] }),
    editText: async () => undefined,
    copy: async () => '',
    paste: async () => undefined,
    writeNewFile: async (path) => path,
    runShell: async () => ({ output: '', exitCode: 0 }),
  }
  return {
    ports,
    async [Symbol.asyncDispose]() {
      const made = await attached.made?.catch(() => undefined) // whoever used it was told
      await made?.[Symbol.asyncDispose]()
    },
  }
}

/** The home directory as `~`. */
function shorten(path: string, home: string): string {
  if (home === '' || !`${path}/`.startsWith(`${home}/`)) return path
  return `~${path.slice(home.length)}`
}
