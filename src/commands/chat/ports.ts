import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { lazy } from '../../core/base/lazy.ts'
import type { Dispatch } from '../../core/protocol/dispatch.ts'
import { withoutProviderKeys } from '../../core/provider/provider-keys.ts'
import type { CatalogPort, ChatOptions, ChatPorts, ProviderSetup, SchedulesPort } from '../../tui/ports.ts'
import { openChatLink } from './link.ts'
import { openSessionServers } from './session-servers.ts'
import { openSettings } from './settings.ts'
import { newWindowSender, openWindowMemory } from './window-memory.ts'

/** The ports of a chat; disposing disconnects from the agents and stops what was started. */
export interface OpenedPorts extends AsyncDisposable {
  readonly ports: ChatPorts
}

/**
 * Opens the ports of a chat in the working directory. Expensive parts are loaded, and connected, on first
 * use.
 */
export function openChatPorts(host: Host, { noMcp }: Pick<ChatOptions, 'noMcp'> = {}): OpenedPorts {
  const home = host.homeDir
  const paths = resolvePaths(host)
  const place = { cwd: host.cwd(), home }
  const env = withoutProviderKeys(host.env)
  const link = openChatLink(host)
  const processes = lazy(async () => {
    const { openProcessHost } = await import('../../core/process/process-host.ts')
    return openProcessHost({ pid: host.pid })
  })
  const openFinder = () =>
    lazy(async () => (await import('./find-files.ts')).openFileFinder({ ...place, now: Date.now }))
  let finder = openFinder()
  const system = { env, platform: platform(), cwd: place.cwd }
  const ports: ChatPorts = {
    dispatch: link.dispatch,
    connect: link.connect,
    providers: lazyProviders(host),
    get cwd() {
      return place.cwd
    },
    get shownCwd() {
      return abbreviateHome(place.cwd, home)
    },
    abbreviate: (path) => abbreviateHome(path, home),
    async enter(cwd) {
      if (cwd === place.cwd) return true
      if (!(await isFolder(cwd))) return false
      place.cwd = cwd
      finder = openFinder()
      return true
    },
    newSender: newWindowSender,
    memory: openWindowMemory(paths.cache),
    garbageCollector: host.garbageCollector,
    env,
    settings: openSettings(host),
    schedules: lazySchedules(host, link.dispatch),
    servers: openSessionServers({
      host,
      dispatch: link.dispatch,
      isOff: noMcp === true,
      cwd: () => place.cwd,
    }),
    catalog: lazyCatalog(host, link.dispatch, () => place.cwd),
    checkSetup: async (options, signal) =>
      (await import('./check-setup.ts')).checkSetup(host, options, signal),
    now: Date.now,
    elapsed: () => performance.now(),
    branch: async () => (await import('./branch.ts')).readBranch(place.cwd),
    readHistory: async () => (await import('./history-file.ts')).readSentHistory(paths.history),
    rememberSent: async (text, pasted = []) =>
      (await import('./history-file.ts')).appendSentHistory(paths.history, { text, pasted }),
    findFiles: async (query, signal) => (await finder.get())(query, signal),
    hasFile: async (name) => (await statIfThere(join(place.cwd, name)))?.isFile() ?? false,
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
    async runShell(line, onOutput, signal) {
      const { runLocalShell } = await import('../../core/hooks/bash/user-shell.ts')
      const spillFolder = join(paths.cache, 'output', 'shell')
      const columns = host.columns()
      const { cwd } = place
      const options = { processes: await processes.get(), cwd, env, spillFolder, columns, onOutput }
      return runLocalShell(line, options, signal)
    },
    async readGit(args, signal) {
      const { readGit } = await import('./read-git.ts')
      const spillFolder = join(paths.cache, 'output', 'shell')
      const options = { processes: await processes.get(), cwd: place.cwd, env, homeDir: home, spillFolder }
      return readGit(args, options, signal)
    },
  }
  return {
    ports,
    async [Symbol.asyncDispose]() {
      const host = await processes.current?.catch(() => undefined) // the code that used it got the failure
      host?.releaseAll()
      await link[Symbol.asyncDispose]()
    },
  }
}

/** Loads the setup of providers when it is used first. */
function lazyProviders(host: Host): ProviderSetup {
  const setup = lazy(async () => (await import('./provider-setup.ts')).openProviderSetup(host))
  return {
    list: async (signal) => (await setup.get()).list(signal),
    tryProvider: async (input, signal) => (await setup.get()).tryProvider(input, signal),
    save: async (model, options, signal) => (await setup.get()).save(model, options, signal),
    claimFirstOffer: async () => (await setup.get()).claimFirstOffer(),
  }
}

/** Loads the schedules when they are used first. */
function lazySchedules(host: Host, dispatch: Dispatch): SchedulesPort {
  const schedules = lazy(async () => (await import('./schedules.ts')).openSchedules(host, dispatch))
  return {
    list: async () => (await schedules.get()).list(),
    run: async (id, signal) => (await schedules.get()).run(id, signal),
    remove: async (id, signal) => (await schedules.get()).remove(id, signal),
  }
}

/** Loads the catalog when it is used first. */
function lazyCatalog(host: Host, dispatch: Dispatch, cwd: () => string): CatalogPort {
  const catalog = lazy(async () => (await import('./catalog.ts')).openCatalogPort(host, dispatch, cwd))
  return {
    list: async (agent, signal) => (await catalog.get()).list(agent, signal),
    plan: async (id, agent, signal) => (await catalog.get()).plan(id, agent, signal),
    install: async (id, agent, signal) => (await catalog.get()).install(id, agent, signal),
  }
}

function writeToTerminal(host: Host, sequence: string): void {
  using terminal = host.terminal()
  terminal?.output.write(sequence)
}

async function isFolder(path: string): Promise<boolean> {
  return (await statIfThere(path))?.isDirectory() ?? false
}

function statIfThere(path: string): Promise<Stats | undefined> {
  return stat(path).catch(() => undefined)
}

/** Abbreviates the home directory to `~`. */
function abbreviateHome(path: string, home: string): string {
  if (home === '' || !`${path}/`.startsWith(`${home}/`)) return path
  return `~${path.slice(home.length)}`
}
