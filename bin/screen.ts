import { writeSync } from 'node:fs'
import type { Screen } from '../src/commands/host.ts'

/** The standard streams as one terminal, and how to leave it as it was found. */
export function openScreen(): Screen {
  const { stdin, stdout } = process
  return {
    stdin,
    stdout,
    hooks: {
      onExit: (listener) => listen('exit', listener),
      onStop: (listener) => listen('SIGTSTP', listener),
      onContinue: (listener) => listen('SIGCONT', listener),
      stop: () => process.kill(0, 'SIGSTOP'), // the whole group: npm and shells that started this wait for it
      writeNow: (bytes) => quietly(() => writeSync(1, bytes)),
      makeCooked: () => quietly(() => stdin.setRawMode(false)),
    },
  }
}

function listen(event: 'exit' | 'SIGTSTP' | 'SIGCONT', listener: () => void): Disposable {
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
