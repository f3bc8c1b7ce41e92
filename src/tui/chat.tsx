import { render } from 'ink'
import { toCrabError } from '../core/base/errors.ts'
import { App } from './components/app.tsx'
import { Controller, type TerminalControl } from './controller/controller.ts'
import { openFirst } from './controller/conversations.ts'
import type { ChatOptions, ChatPorts } from './ports.ts'
import { initialState } from './state/initial.ts'
import type { Block } from './state/types.ts'
import { ChatStore } from './store.ts'
import { withHistory } from './text/prompt.ts'

/** The terminal the chat is drawn on. */
export interface ChatTerminal {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
}

/** Opens the chat on a terminal; resolves when it is left. Aborting the signal leaves it, too. */
export async function openChat(
  ports: ChatPorts,
  options: ChatOptions,
  { stdin, stdout }: ChatTerminal,
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  using store = new ChatStore(initialState(options))
  store.act({ type: 'print', block: welcome(options, ports) })
  let terminal: TerminalControl | undefined
  const controller: Controller = new Controller({
    store,
    ports,
    rules: options.rules,
    terminal: { lend: async (use) => terminal?.lend(use) },
    size: () => ({ columns: stdout.columns, rows: stdout.rows }),
    commands: { list: [], run: async () => {}, chosen: async () => {} },
    showTranscript: async () => {},
    signal: over.signal,
  })
  const app = render(
    <App
      store={store}
      controller={controller}
      look={{ color: options.color }}
      place={{ shownCwd: ports.shownCwd, kind: ports.place }}
      onTerminal={(control) => {
        terminal = control
      }}
      now={ports.now}
    />,
    { stdin, stdout, exitOnCtrlC: false, patchConsole: false, interactive: true, maxFps: MAX_FPS },
  )
  const leave = () => store.act({ type: 'set', change: { isLeaving: true } })
  signal.addEventListener('abort', leave, { once: true })
  begin({ store, ports, controller }, options, over.signal)
  try {
    await app.waitUntilExit()
  } finally {
    signal.removeEventListener('abort', leave)
    await controller.turns.end()
    over.abort()
    app.unmount()
  }
}

/** Streamed text asks for 20 frames a second; keys are drawn at once. */
const MAX_FPS = 120

interface Begun {
  store: ChatStore
  ports: ChatPorts
  controller: Controller
}

/** What is found out, and sent, behind the first frame. */
function begin({ store, ports, controller }: Begun, options: ChatOptions, signal: AbortSignal): void {
  const fail = (reason: unknown) => {
    const { kind, message, hint } = toCrabError(reason)
    if (kind !== 'cancelled')
      store.act({ type: 'print', block: { kind: 'notice', tone: 'error', text: message, hint } })
  }
  const opened = openFirst({ store, ports }, { ...options, cwd: ports.cwd }, signal).catch(fail)
  if (options.prompt !== undefined) void opened.then(() => controller.turns.say(options.prompt ?? ''))
  const remember = (sent: readonly string[]) =>
    store.act({ type: 'set', change: { prompt: withHistory(store.get().prompt, sent) } })
  ports.readHistory().then(remember, fail)
  ports.branch().then((branch) => store.act({ type: 'set', change: { branch } }), fail)
}

function welcome({ agent, model = '', version }: ChatOptions, { shownCwd: cwd }: ChatPorts): Block {
  return { kind: 'welcome', agent, model, cwd, version, hint: '/help for commands, Ctrl-C twice to leave' }
}
