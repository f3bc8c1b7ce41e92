import { render } from 'ink'
import { toCrabError } from '../core/base/errors.ts'
import type { ProcessHooks } from '../core/base/process-hooks.ts'
import { request } from '../core/protocol/dispatch.ts'
import { App } from './components/app.tsx'
import { Controller, type TerminalControl } from './controller/controller.ts'
import { openInitialConversation } from './controller/conversations.ts'
import { Feed } from './controller/feed.ts'
import { loadCommands, slashContext } from './controller/slash.ts'
import { showTranscript } from './controller/transcript.ts'
import type { ChatOptions, ChatPorts } from './ports.ts'
import { initialState } from './state/initial.ts'
import { type Unanswered, unansweredAsks } from './state/pending-asks.ts'
import { ChatStore } from './state/store.ts'
import { guardTerminal } from './terminal/guard.ts'
import type { Reflow } from './terminal/reflow.ts'
import { Screen } from './terminal/screen.ts'
import { withHistory } from './text/prompt.ts'
import type { Block } from './view/blocks.ts'

/** The terminal the chat is drawn on. */
export interface ChatTerminal {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  hooks: ProcessHooks
  /** The terminal's treatment of lines that no longer fit after it is resized. */
  reflow: Reflow
}

/**
 * Opens the chat on a terminal. Resolves when the user leaves it, with the questions that are still
 * unanswered. Aborting the signal also leaves it. Throws the error that kept the requested conversation from
 * being opened, and `internal` when something cannot be drawn.
 */
export async function openChat(
  ports: ChatPorts,
  options: ChatOptions,
  terminal: ChatTerminal,
  signal: AbortSignal,
): Promise<Unanswered | undefined> {
  const shutdown = new AbortController()
  using store = new ChatStore(initialState(options))
  const feed = new Feed({ store, ports, signal: shutdown.signal })
  const chat = { store, ports, options, feed, shutdown: shutdown.signal }
  const exit = new ChatExit(() => controller.end(), store)
  using screen = new Screen({ output: terminal.stdout, reflow: terminal.reflow, onGone: () => exit.leave() })
  const lending = Promise.withResolvers<TerminalControl['lend']>()
  const lend = createLend(store, lending.promise)
  using guard = guardTerminal({ hooks: terminal.hooks, screen, lend })
  const commands = loadCommands(
    slashContext(
      {
        ...{ store, ports, feed, rules: options.rules },
        send: (line, message) => controller.turns.queuePrepared(line, message),
        say: (text) => controller.turns.say(text),
        leave: () => exit.leave(),
      },
      shutdown.signal,
    ),
  )
  const controller: Controller = new Controller({
    store,
    ports,
    rules: options.rules,
    terminal: { lend, suspend: () => guard.suspend() },
    size: () => screen.size,
    commands,
    feed,
    showTranscript: () =>
      showTranscript({ store, ports, screen, stdin: terminal.stdin, color: options.color }, shutdown.signal),
    leave: () => exit.leave(),
    signal: shutdown.signal,
  })
  store.act({ type: 'print', block: welcome(options, ports) })
  const app = render(
    <App
      store={store}
      controller={controller}
      color={options.color}
      location={{ shownCwd: ports.shownCwd }}
      onTerminal={lending.resolve}
      onFailure={(reason) => exit.leave(reason)}
      now={ports.now}
      elapsed={ports.elapsed}
    />,
    { ...INK, stdin: terminal.stdin, stdout: screen.ink },
  )
  const onAbort = () => exit.leave()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  commands.load()
  startChat(chat, controller, (reason) => exit.leave(reason))
  try {
    await app.waitUntilExit()
    exit.throwReason()
    return exit.unanswered
  } finally {
    signal.removeEventListener('abort', onAbort)
    app.unmount()
    shutdown.abort()
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
  /** The questions without an answer, recorded before the turn ends, because ending the turn closes them. */
  unanswered: Unanswered | undefined

  constructor(end: () => Promise<void>, store: ChatStore) {
    this.#end = end
    this.#store = store
  }

  /** Leaves the chat, once. Pass a `reason` when a failure is the cause. */
  leave(reason?: unknown): void {
    this.#reason ??= reason
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.unanswered = unansweredAsks(this.#store.get())
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
  store: ChatStore
  ports: ChatPorts
  options: ChatOptions
  feed: Feed
  /** Aborted when the chat ends. */
  shutdown: AbortSignal
}

/**
 * Lends the terminal and records that in the state: meanwhile nothing is printed, and no key reaches an
 * overlay that is hidden.
 */
function createLend(store: ChatStore, ready: Promise<TerminalControl['lend']>): TerminalControl['lend'] {
  return async (use) => {
    const lend = await ready
    store.act({ type: 'lent', isLent: true })
    try {
      await lend(use)
    } finally {
      store.act({ type: 'lent', isLent: false })
    }
  }
}

/**
 * Loads data and sends the initial prompt after the first frame. The chat ends when the requested
 * conversation does not exist.
 */
function startChat(
  { store, ports, options, feed, shutdown }: Chat,
  controller: Controller,
  leave: (reason: unknown) => void,
): void {
  const fail = (reason: unknown) => {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') return
    store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text: message, hint } })
  }
  const opened = controller.open(openInitialConversation({ store, ports, feed }, options, shutdown))
  opened.then(
    () => loadModels({ store, ports }, shutdown).catch(fail),
    (reason) => (isFatal(reason, options) ? leave(reason) : fail(reason)),
  )
  if (options.prompt !== undefined) controller.do({ type: 'submit', text: options.prompt })
  const remember = (sent: Awaited<ReturnType<ChatPorts['readHistory']>>) =>
    store.act({ type: 'set', change: { prompt: withHistory(store.get().prompt, sent) } })
  ports.readHistory().then(remember, fail)
  ports.branch().then((branch) => store.act({ type: 'set', change: { branch } }), fail)
}

/** Whether the chat cannot continue, because the requested agent or conversation does not exist. */
function isFatal(reason: unknown, { session }: ChatOptions): boolean {
  return session !== undefined || toCrabError(reason).kind === 'missing'
}

/** Loads the models, and the one used by an agent that names none. */
async function loadModels(
  { store, ports }: Pick<Chat, 'store' | 'ports'>,
  signal: AbortSignal,
): Promise<void> {
  const { models } = await request(ports.dispatch, 'listModels', {}, signal)
  const model = store.get().model || (models.find(({ active }) => active)?.name ?? '')
  store.act({ type: 'set', change: { models, model } })
}

function welcome({ agent, model = '', version }: ChatOptions, { shownCwd: cwd }: ChatPorts): Block {
  return { kind: 'welcome', agent, model, cwd, version, hint: '/help for commands, Ctrl+C twice to leave' }
}
