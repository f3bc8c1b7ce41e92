import type { ProcessHooks } from '../../core/base/process-hooks.ts'
import type { Screen } from './screen.ts'

export interface GuardOptions {
  hooks: ProcessHooks
  screen: Pick<Screen, 'restoring' | 'forget'>
  /** Gives the terminal away in its original state, then takes it back and redraws; Ink's `suspendTerminal`. */
  lend(use: () => void | Promise<void>): Promise<void>
}

/** Watches over the terminal until it is disposed. */
export interface Guard extends Disposable {
  /** Handles Ctrl-Z: restores the terminal, stops the process, and resumes when it is continued. */
  suspend(): Promise<void>
}

/**
 * Ensures that the terminal is in the state a shell expects whenever this process does not have it, because
 * it ended or stopped.
 */
export function guardTerminal({ hooks, screen, lend }: GuardOptions): Guard {
  let isStopping = false
  /**
   * The number of continuations that belong to stops by this guard. They arrive late, after the chat was
   * redrawn.
   */
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
  /**
   * Redraws after a SIGSTOP, which cannot be caught: the shell has set its own modes and written below the
   * frame.
   */
  const comeBack = () => {
    if (expected > 0) {
      expected--
      return
    }
    screen.forget()
    lend(() => {}).catch(() => {}) // the terminal is lent already, and will be returned
  }
  const watch = new DisposableStack()
  let isRestored = false
  watch.use(
    hooks.onExit(() => {
      if (isRestored) return // an end by a signal announces its exit twice
      isRestored = true
      restore(hooks, screen)
    }),
  )
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
