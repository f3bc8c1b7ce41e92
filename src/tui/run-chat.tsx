import { render } from 'ink'
import { toCrabError } from '../core/base/errors.ts'
import type { GarbageCollector } from '../core/base/garbage-collector.ts'
import { App } from './components/app.tsx'
import { followAgentDefaults } from './controller/agent-defaults.ts'
import { Controller, type TerminalControl } from './controller/controller.ts'
import { type OpenContext, openInitialConversation } from './controller/conversations.ts'
import { DraftKeeper } from './controller/draft-keeper.ts'
import { Feed } from './controller/feed.ts'
import { SettingsSync } from './controller/settings-sync.ts'
import { loadCommands, slashContext } from './controller/slash.ts'
import { showBlocks, showTranscript } from './controller/transcript.ts'
import { openTerminalSession } from './outside/terminal-session.ts'
import type { ChatOptions, ChatPorts, SettingsResult } from './ports.ts'
import { type Farewell, toFarewell } from './state/farewell.ts'
import type { ChatStore } from './state/store.ts'
import type { Screen } from './terminal/screen.ts'
import { withHistory } from './text/prompt-state.ts'
import { ANSI_PALETTE, setPalette } from './view/style.ts'

/** The chat after its first frame. */
export interface RunningChat {
  ports: ChatPorts
  options: ChatOptions
  /** The settings as they were read while this file was loaded. */
  settings: SettingsResult
  stdin: NodeJS.ReadStream
  store: ChatStore
  screen: Screen
  /** Lends the terminal, once `onTerminal` has received the function that does. */
  control: TerminalControl
  onTerminal(lend: TerminalControl['lend']): void
  /** Resolves when the terminal cannot be written any more. */
  gone: Promise<unknown>
}

/** Runs the chat whose first frame is on the screen; resolves and throws like openChat(). */
export async function runChat(
  { ports, options, settings, stdin, store, screen, control, onTerminal, gone }: RunningChat,
  signal: AbortSignal,
): Promise<Farewell> {
  const shutdown = new AbortController()
  const feed = new Feed({ store, ports, signal: shutdown.signal })
  new SettingsSync({ store, ports }, shutdown.signal).start(settings)
  const open: OpenContext = { store, ports, feed, options, leaveTurn: (stop) => controller.turns.leave(stop) }
  const chat = { store, ports, options, open, shutdown: shutdown.signal }
  await using _drafts = new DraftKeeper({ store, ports })
  const exit = new ChatExit(() => controller.end(), store)
  void gone.then(() => exit.leave())
  const terminal = openTerminalSession({ store, ports, screen, stdin, color: options.color })
  const transcript = {
    ...{ store, ports, screen, stdin: terminal.keys },
    get color() {
      return options.color && store.get().settings.theme !== 'none'
    },
  }
  const commands = loadCommands(
    slashContext(
      {
        ...open,
        ...{ ports, rules: options.rules },
        send: (line, message) => controller.turns.queuePrepared(line, message),
        say: (text) => controller.turns.say(text),
        addContext: (text) => controller.turns.addContext(text),
        putBack: (text, files) => controller.pasted.putBack(text, files),
        showBlocks: (title, blocks) =>
          control.lend(() => showBlocks({ title, blocks }, transcript, shutdown.signal)),
        leave: () => controller.leave(),
      },
      shutdown.signal,
    ),
  )
  const controller: Controller = new Controller({
    store,
    ports,
    rules: options.rules,
    terminal: control,
    size: () => screen.size,
    commands,
    feed,
    showTranscript: () => showTranscript(transcript, shutdown.signal),
    leave: () => exit.leave(),
    signal: shutdown.signal,
  })
  let collector: GarbageCollector | undefined
  const app = render(
    <App
      store={store}
      controller={controller}
      color={options.color}
      location={ports}
      screen={screen}
      onTerminal={onTerminal}
      onFailure={(reason) => exit.leave(reason)}
      collectYoung={() => collector?.collectYoung()}
      now={ports.now}
      elapsed={ports.elapsed}
    />,
    { ...INK, stdin: terminal.keys, stdout: screen.ink },
  )
  const onAbort = () => exit.leave()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  commands.load()
  startChat({ ...chat, offerConnect: commands.offerConnect }, controller, (reason) => exit.leave(reason))
  void ports.garbageCollector().then((loaded) => {
    collector = loaded
    setImmediate(loaded.collectAll) // most of what a start has made is garbage now
  })
  try {
    await app.waitUntilExit()
    await terminal.settle()
    exit.throwReason()
    return exit.farewell ?? toFarewell(store.get())
  } finally {
    signal.removeEventListener('abort', onAbort)
    app.unmount()
    shutdown.abort()
    terminal[Symbol.dispose]()
    setPalette(ANSI_PALETTE)
  }
}

/**
 * Options for Ink. Streamed text needs 20 frames a second; `maxFps` is higher so that keys are drawn
 * immediately.
 */
const INK = {
  exitOnCtrlC: false,
  patchConsole: false,
  interactive: true,
  isScreenReaderEnabled: false,
  maxFps: 120,
  kittyKeyboard: { mode: 'auto' },
} as const

/** The time, in milliseconds, that running work may take to end when the user leaves the chat. */
const EXIT_TIMEOUT_MS = 5_000

/** Leaves the chat: ends running work and shows how it ended, then gives the screen back. */
class ChatExit {
  readonly #end: () => Promise<void>
  readonly #store: ChatStore
  #reason: unknown
  #isLeaving = false
  /** The facts for the user, recorded before the turn ends, because ending it closes its questions. */
  farewell: Farewell | undefined

  constructor(end: () => Promise<void>, store: ChatStore) {
    this.#end = end
    this.#store = store
  }

  /** Leaves the chat, once. Pass a `reason` when a failure is the cause. */
  leave(reason?: unknown): void {
    this.#reason ??= reason
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.farewell = toFarewell(this.#store.get())
    const go = () => {
      clearTimeout(timer)
      this.#store.act({ type: 'set', change: { isLeaving: true } })
    }
    const timer = setTimeout(go, EXIT_TIMEOUT_MS)
    queueMicrotask(() => this.#end().then(go, go)) // never while a frame is being drawn
  }

  throwReason(): void {
    if (this.#reason !== undefined) throw this.#reason
  }
}

interface Chat {
  /** Offers to connect a model if there is none. */
  offerConnect(signal: AbortSignal): Promise<void>
  store: ChatStore
  ports: ChatPorts
  options: ChatOptions
  open: OpenContext
  /** Aborted when the chat ends. */
  shutdown: AbortSignal
}

/**
 * Loads data and sends the initial prompt after the first frame. The chat ends when the requested
 * conversation does not exist.
 */
function startChat(
  { store, ports, options, open, shutdown, offerConnect }: Chat,
  controller: Controller,
  leave: (reason: unknown) => void,
): void {
  const fail = (reason: unknown) => {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') return
    store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text: message, hint } })
  }
  const begin = async () => {
    if (options.picks) controller.do({ type: 'command', line: '/resume' })
    else if (options.prompt === undefined) await offerConnect(shutdown)
  }
  const opened = controller.open(openInitialConversation(open, options, shutdown))
  const known = opened.then(() => followAgentDefaults({ store, ports }, shutdown))
  opened.then(
    () => known.then(() => begin()).catch(fail),
    (reason) => (isFatal(reason, options) ? leave(reason) : fail(reason)),
  )
  if (options.prompt !== undefined) controller.do({ type: 'submit', text: options.prompt })
  const remember = (sent: Awaited<ReturnType<ChatPorts['readHistory']>>) =>
    store.act({ type: 'set', change: { prompt: withHistory(store.get().prompt, sent) } })
  ports.readHistory().then(remember, fail)
  const branched = ports.branch().then((branch) => store.act({ type: 'set', change: { branch } }), fail)
  void Promise.allSettled([known, branched]).then(() => store.act({ type: 'welcome-known' }))
}

/** Whether the chat cannot continue, because the requested agent or conversation does not exist. */
function isFatal(reason: unknown, { session }: ChatOptions): boolean {
  return session !== undefined || toCrabError(reason).kind === 'missing'
}
