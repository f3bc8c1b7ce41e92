import { render } from 'ink'
import { toCrabError } from '../core/base/errors.ts'
import { request } from '../core/protocol/dispatch.ts'
import { App } from './components/app.tsx'
import { Controller, type TerminalControl } from './controller/controller.ts'
import { openConversation, openFirst, startAnew } from './controller/conversations.ts'
import { loadCommands } from './controller/slash.ts'
import { showTranscript } from './controller/transcript.ts'
import type { ChatOptions, ChatPorts } from './ports.ts'
import type { SlashContext } from './slash/types.ts'
import { initialState } from './state/initial.ts'
import type { Block } from './state/types.ts'
import { ChatStore } from './store.ts'
import { guardTerminal, type ProcessHooks } from './terminal/guard.ts'
import type { Reflow } from './terminal/reflow.ts'
import { Screen } from './terminal/screen.ts'
import { withHistory } from './text/prompt.ts'

/** The terminal the chat is drawn on. */
export interface ChatTerminal {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  hooks: ProcessHooks
  /** What it does with lines that no longer fit. */
  reflow: Reflow
}

/** Opens the chat on a terminal; resolves when it is left. Aborting the signal leaves it, too. */
export async function openChat(
  ports: ChatPorts,
  options: ChatOptions,
  { stdin, stdout, hooks, reflow }: ChatTerminal,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  using store = new ChatStore(initialState(options))
  const leave = () => store.act({ type: 'set', change: { isLeaving: true } })
  using screen = new Screen({ output: stdout, reflow, onGone: leave })
  const lending = Promise.withResolvers<TerminalControl['lend']>()
  const lend: TerminalControl['lend'] = async (use) => (await lending.promise)(use)
  using guard = guardTerminal({ hooks, screen, lend })
  const context: SlashContext = {
    ports,
    dispatch: ports.dispatch,
    rules: options.rules,
    state: store.get,
    act: store.act,
    openConversation: (session) => openConversation({ store, ports }, session, over.signal),
    startAnew: () => startAnew({ store, ports }, { ...store.get(), cwd: ports.cwd }, over.signal),
    send: (text) => controller.turns.say(text),
    leave,
  }
  const commands = loadCommands(context)
  const controller: Controller = new Controller({
    store,
    ports,
    rules: options.rules,
    terminal: { lend, suspend: () => guard.suspend() },
    size: () => screen.size,
    commands,
    showTranscript: () => showTranscript({ store, ports, screen, stdin, color: options.color }, over.signal),
    signal: over.signal,
  })
  store.act({ type: 'print', block: welcome(options, ports) })
  const app = render(
    <App
      store={store}
      controller={controller}
      color={options.color}
      place={{ shownCwd: ports.shownCwd, kind: ports.place }}
      onTerminal={lending.resolve}
      now={ports.now}
    />,
    { ...INK, stdin, stdout: screen.ink },
  )
  signal.addEventListener('abort', leave, { once: true })
  commands.load()
  begin({ store, ports, controller }, options, over.signal)
  try {
    await app.waitUntilExit()
  } finally {
    signal.removeEventListener('abort', leave)
    app.unmount()
    await controller.turns.end()
    over.abort()
  }
}

/** Streamed text asks for 20 frames a second; keys are drawn at once. */
const INK = {
  exitOnCtrlC: false,
  patchConsole: false,
  interactive: true,
  isScreenReaderEnabled: false,
  maxFps: 120,
  kittyKeyboard: { mode: 'auto' },
} as const

interface Begun {
  store: ChatStore
  ports: ChatPorts
  controller: Controller
}

/** What is found out, and sent, behind the first frame. */
function begin({ store, ports, controller }: Begun, options: ChatOptions, signal: AbortSignal): void {
  const fail = (reason: unknown) => {
    const { kind, message, hint } = toCrabError(reason)
    if (kind === 'cancelled') return
    store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text: message, hint } })
  }
  const opened = openFirst({ store, ports }, { ...options, cwd: ports.cwd }, signal).catch(fail)
  if (options.prompt !== undefined) void opened.then(() => controller.turns.say(options.prompt ?? ''))
  void opened.then(() => learnModels({ store, ports }, signal)).catch(fail)
  const remember = (sent: readonly string[]) =>
    store.act({ type: 'set', change: { prompt: withHistory(store.get().prompt, sent) } })
  ports.readHistory().then(remember, fail)
  ports.branch().then((branch) => store.act({ type: 'set', change: { branch } }), fail)
}

/** Which models there are, and which one answers an agent that names none. */
async function learnModels({ store, ports }: Omit<Begun, 'controller'>, signal: AbortSignal): Promise<void> {
  const { models } = await request(ports.dispatch, 'listModels', {}, signal)
  const model = store.get().model || (models.find(({ active }) => active)?.name ?? '')
  store.act({ type: 'set', change: { models, model } })
}

function welcome({ agent, model = '', version }: ChatOptions, { shownCwd: cwd }: ChatPorts): Block {
  return { kind: 'welcome', agent, model, cwd, version, hint: '/help for commands, Ctrl-C twice to leave' }
}
