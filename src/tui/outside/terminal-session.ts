import type { ChatPorts } from '../ports.ts'
import type { ChatStore } from '../state/store.ts'
import { joinKeyInput } from '../terminal/key-input.ts'
import type { Screen } from '../terminal/screen.ts'
import { filterInput } from '../terminal/terminal-input.ts'
import { followFullscreen } from './fullscreen.ts'
import { Outside } from './outside.ts'
import { detectTerminal } from './terminal-kind.ts'

/** The chat's use of the terminal besides its frames. Disposing undoes what was set. */
export interface TerminalSession extends Disposable {
  /** The keyboard, with whole keys and without reports of the terminal. */
  readonly keys: NodeJS.ReadStream
  /** Waits a moment for an answer of the terminal that would otherwise reach the shell. */
  settle(): Promise<void>
}

interface TerminalSessionOptions {
  store: ChatStore
  ports: Pick<ChatPorts, 'env' | 'shownCwd' | 'now' | 'elapsed'>
  screen: Screen
  stdin: NodeJS.ReadStream
  color: boolean
}

/** Follows the state outside of the text, and reads the keyboard. */
export function openTerminalSession({
  store,
  ports,
  screen,
  stdin,
  color,
}: TerminalSessionOptions): TerminalSession {
  const { env, now, elapsed } = ports
  const shownCwd = () => ports.shownCwd
  const escInterrupts = () => store.get().turn !== undefined || store.get().isCommanding
  const parts = new DisposableStack()
  const outside = parts.use(
    new Outside({ store, screen, kind: detectTerminal(env), shownCwd, color, now, elapsed }),
  )
  const joined = joinKeyInput({ stdin, escInterrupts, elapsed })
  const listeners = {
    reply: (reply: Parameters<Outside['receive']>[0]) => outside.receive(reply),
    key: () => outside.touched(),
  }
  const input = parts.use(filterInput(joined, listeners))
  parts.use(followFullscreen(store, screen))
  return {
    keys: input.stream,
    settle: () => outside.settle(),
    [Symbol.dispose]: () => parts.dispose(),
  }
}
