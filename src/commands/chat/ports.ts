import { platform } from 'node:os'
import { join } from 'node:path'
import { lazy } from '../../core/base/lazy.ts'
import { withoutProviderKeys } from '../../core/provider/provider-keys.ts'
import type { ChatPorts } from '../../tui/ports.ts'
import type { Host } from '../host.ts'
import { resolvePaths } from '../paths.ts'
import { openChatLink } from './link.ts'

/** What the chat is given; disposing lets go of the agents, and of what was started. */
export interface OpenedPorts extends AsyncDisposable {
  readonly ports: ChatPorts
}

/** The ports of a chat in the working directory. What costs time is loaded, and attached to, when it is first needed. */
export function openChatPorts(host: Host): OpenedPorts {
  const cwd = host.cwd()
  const home = host.homeDir
  const paths = resolvePaths(host)
  const place = { cwd, home }
  const env = withoutProviderKeys(host.env)
  const link = openChatLink(host)
  const processes = lazy(async () => {
    const { openProcessHost } = await import('../../core/process/process-host.ts')
    return openProcessHost({ pid: host.pid })
  })
  const finder = lazy(async () =>
    (await import('./find-files.ts')).openFileFinder({ ...place, now: Date.now }),
  )
  const system = { env, platform: platform(), cwd }
  const ports: ChatPorts = {
    dispatch: link.dispatch,
    connect: link.connect,
    cwd,
    shownCwd: shorten(cwd, home),
    env,
    now: Date.now,
    branch: async () => (await import('./branch.ts')).readBranch(cwd),
    readHistory: async () => (await import('./history-file.ts')).readSentHistory(paths.history),
    rememberSent: async (text, pasted = []) =>
      (await import('./history-file.ts')).appendSentHistory(paths.history, { text, pasted }),
    findFiles: async (query, signal) => (await finder.get())(query, signal),
    expand: async (text, pasted, signal) =>
      (await import('./expand.ts')).expandMentions({ text, pasted }, place, signal),
    editText: async (text) => (await import('./edit-text.ts')).editText(text, host),
    async copy(text) {
      const { copyText } = await import('./clipboard-copy.ts')
      return copyText(text, { ...system, writeToTerminal: (sequence) => writeToTerminal(host, sequence) })
    },
    async paste(signal) {
      const { pasteClipboard } = await import('./clipboard-paste.ts')
      return pasteClipboard({ ...system, processes: await processes.get() }, signal)
    },
    writeNewFile: async (path, text) => (await import('./write-new.ts')).writeNewFile(path, text, place),
    async runShell(line, tell, signal) {
      const { runLocalShell: runShell } = await import('./shell.ts')
      const spillFolder = join(paths.cache, 'output', 'shell')
      const columns = host.columns()
      const options = { processes: await processes.get(), cwd, env, spillFolder, columns, tell }
      return runShell(line, options, signal)
    },
  }
  return {
    ports,
    async [Symbol.asyncDispose]() {
      const host = await processes.current?.catch(() => undefined) // whoever used it was told
      host?.releaseAll()
      await link[Symbol.asyncDispose]()
    },
  }
}

function writeToTerminal(host: Host, sequence: string): void {
  using terminal = host.terminal()
  terminal?.output.write(sequence)
}

/** The home directory as `~`. */
function shorten(path: string, home: string): string {
  if (home === '' || !`${path}/`.startsWith(`${home}/`)) return path
  return `~${path.slice(home.length)}`
}
