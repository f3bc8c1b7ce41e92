import { writeSync } from 'node:fs'
import { platform } from 'node:os'
import type { TerminalStreams } from '../src/commands/host.ts'

/** The standard streams as one terminal, and how to leave it as it was found. */
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

/** An exception is heard of before its trace is printed, which needs a terminal as it was. */
function onExit(listener: () => void): Disposable {
  const exits = new DisposableStack()
  exits.use(listen('uncaughtExceptionMonitor', listener))
  exits.use(listen('exit', listener))
  return exits
}

/** Stops the whole group, so that npm, too, is stopped; what listens to the signal would keep it from doing so. */
function stop(): void {
  if (platform() === 'win32') return // there is nothing to come back from
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

/** The terminal may be gone: then there is nothing to restore. */
function quietly(act: () => unknown): void {
  try {
    act()
  } catch {
    // nobody is left to be told
  }
}
