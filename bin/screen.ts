import { writeSync } from 'node:fs'
import { platform } from 'node:os'
import type { TerminalStreams } from '../src/cli/host.ts'

/** Opens the standard streams as one terminal, with hooks that restore it. */
export function openScreen(): TerminalStreams {
  const { stdin, stdout } = process
  return {
    stdin,
    stdout,
    hooks: {
      onExit,
      onStop: (listener) => listen('SIGTSTP', listener),
      onContinue: (listener) => listen('SIGCONT', listener),
      stop,
      writeNow: (bytes) => quietly(() => writeSync(1, bytes)),
      makeCooked: () => quietly(() => stdin.setRawMode(false)),
    },
  }
}

/**
 * Runs the listener on an exception before its trace is printed, because the trace needs a restored terminal.
 */
function onExit(listener: () => void): Disposable {
  const exits = new DisposableStack()
  exits.use(listen('uncaughtExceptionMonitor', listener))
  exits.use(listen('exit', listener))
  return exits
}

/**
 * Stops the whole process group, so that npm stops as well. Listeners are removed first, because they would
 * keep the signal from stopping this process.
 */
function stop(): void {
  if (platform() === 'win32') return // Windows has no job control
  const listeners = process.listeners('SIGTSTP')
  process.removeAllListeners('SIGTSTP')
  process.kill(0, 'SIGTSTP')
  for (const listener of listeners) process.on('SIGTSTP', listener)
}

type Event = 'exit' | 'uncaughtExceptionMonitor' | 'SIGTSTP' | 'SIGCONT'

function listen(event: Event, listener: () => void): Disposable {
  process.on(event, listener)
  return { [Symbol.dispose]: () => void process.off(event, listener) }
}

/** Ignores errors of a terminal that is gone: there is nothing to restore. */
function quietly(act: () => unknown): void {
  try {
    act()
  } catch {
    // the terminal is gone
  }
}
