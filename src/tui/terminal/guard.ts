import type { Screen } from './screen.ts'

/** What a guard may use of the process; bin/ makes it. */
export interface ProcessHooks {
  /** Calls back when the process ends, for whatever reason it can still hear of: exit, exception, rejection. */
  onExit(listener: () => void): Disposable
  /** Calls back when somebody asks the process to stop (SIGTSTP), which it then does itself. */
  onStop(listener: () => void): Disposable
  /** Calls back when the process goes on after it was stopped (SIGCONT). */
  onContinue(listener: () => void): Disposable
  /** Stops the process with its group; returns when it goes on. */
  stop(): void
  /** Writes to the terminal before it returns; what cannot be written is nobody's business. */
  writeNow(bytes: string): void
  /** Line editing, echo and signals of the terminal as a shell expects them. */
  makeCooked(): void
}

export interface GuardOptions {
  hooks: ProcessHooks
  screen: Pick<Screen, 'restoring' | 'forget'>
  /** Gives the terminal away as it was, and takes it back and draws again afterwards; Ink's `suspendTerminal`. */
  lend(use: () => void | Promise<void>): Promise<void>
}

/** Keeps watch over the terminal until it is disposed. */
export interface Guard extends Disposable {
  /** Ctrl-Z: leaves the terminal as it was, stops, and goes on when it is continued. */
  suspend(): Promise<void>
}

/** Sees to it that the terminal is as a shell expects it whenever this process does not have it: ended or stopped. */
export function guardTerminal({ hooks, screen, lend }: GuardOptions): Guard {
  let isStopping = false
  /** Continuations that belong to stops of our own; they are heard late, when the chat is drawn again. */
  let expected = 0
  const stop = () => {
    expected++
    hooks.stop()
  }
  const suspend = async () => {
    if (isStopping) return
    isStopping = true
    try {
      await lend(stop)
    } catch {
      stop() // an editor has the terminal, and was asked to stop, too
    } finally {
      isStopping = false
    }
  }
  /** After a SIGSTOP, which nobody hears: the shell has set its own modes and written below the frame. */
  const comeBack = () => {
    if (expected > 0) {
      expected--
      return
    }
    screen.forget()
    lend(() => {}).catch(() => {}) // somebody else has the terminal, and will give it back
  }
  const watch = new DisposableStack()
  watch.use(hooks.onExit(() => restore(hooks, screen)))
  watch.use(hooks.onStop(() => void suspend()))
  watch.use(hooks.onContinue(comeBack))
  return { suspend, [Symbol.dispose]: () => watch.dispose() }
}

function restore({ writeNow, makeCooked }: ProcessHooks, screen: GuardOptions['screen']): void {
  try {
    writeNow(screen.restoring())
  } finally {
    makeCooked()
  }
}
