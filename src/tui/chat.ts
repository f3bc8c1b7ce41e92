import { toCrabError } from '../core/base/errors.ts'
import type { ProcessHooks } from '../core/base/process-hooks.ts'
import type { TerminalControl } from './controller/controller.ts'
import { drawFirstFrame } from './first-frame.ts'
import type { ChatOptions, ChatPorts, SettingsResult } from './ports.ts'
import type { Farewell } from './state/farewell.ts'
import { initialState } from './state/initial.ts'
import { ChatStore } from './state/store.ts'
import { guardTerminal } from './terminal/guard.ts'
import type { Reflow } from './terminal/reflow.ts'
import { Screen } from './terminal/screen.ts'

/** The terminal the chat is drawn on. */
export interface ChatTerminal {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WriteStream
  hooks: ProcessHooks
  /** The terminal's treatment of lines that no longer fit after it is resized. */
  reflow: Reflow
}

/**
 * Opens the chat on a terminal. Resolves when the user leaves it, with what the user
 * should know then. Aborting the signal also leaves it. Throws the error that kept the requested conversation from
 * being opened, and `internal` when something cannot be drawn.
 *
 * The first frame is drawn before React and Ink are loaded, which takes as long as everything before it; keys
 * typed meanwhile wait in the terminal (ADR 0181).
 */
export async function openChat(
  ports: ChatPorts,
  options: ChatOptions,
  terminal: ChatTerminal,
  signal: AbortSignal,
): Promise<Farewell> {
  const welcome = { cwd: ports.shownCwd, version: options.version }
  using store = new ChatStore({ ...initialState(options), welcome })
  const gone = Promise.withResolvers<unknown>()
  using screen = new Screen({ output: terminal.stdout, reflow: terminal.reflow, onGone: gone.resolve })
  const lending = Promise.withResolvers<TerminalControl['lend']>()
  const lend = createLend(store, lending.promise)
  using guard = guardTerminal({ hooks: terminal.hooks, screen, lend })
  drawFirstFrame({ store, screen }, options, ports)
  const reading = readSettings(ports)
  const { runChat } = await import('./run-chat.tsx')
  const settings = await reading
  const frame = { store, screen, gone: gone.promise, onTerminal: lending.resolve }
  const control = { lend, suspend: () => guard.suspend() }
  return await runChat({ ports, options, settings, stdin: terminal.stdin, control, ...frame }, signal)
}

/** Reads the settings while the rest of the chat is loaded. A file that cannot be read is a problem to print. */
async function readSettings({ settings }: Pick<ChatPorts, 'settings'>): Promise<SettingsResult> {
  return await settings
    .read()
    .catch((reason: unknown) => ({ settings: undefined, problems: [toCrabError(reason).message] }))
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
