import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Terminal } from '../../src/cli/host.ts'
import { Output } from '../../src/cli/output.ts'
import { CrabError } from '../../src/core/base/errors.ts'
import { until } from './until.ts'

/** A terminal as commands see it: a file is its screen, and a test types. */
export interface TestTerminal extends Disposable {
  /** Opens a terminal, like Host.terminal(); several may be open. */
  open(): Terminal
  /** Returns the text printed so far. */
  screen(): string
  /** Waits until the screen matches. */
  shows(pattern: RegExp): Promise<void>
  /** Types a whole line; undefined is the end of input. */
  type(line: string | undefined): void
  /** Ends the input of the terminal. */
  hangUp(): void
  /** Returns the number of open terminals. */
  opened(): number
}

export function makeTestTerminal(folder: string, name = 'test'): TestTerminal {
  const path = join(folder, `.terminal-${name}`)
  const fd = openSync(path, 'a')
  const lines: (string | undefined)[] = []
  let waiting: PromiseWithResolvers<void> = Promise.withResolvers()
  let gone = false
  let opened = 0
  const screen = () => readFileSync(path, 'utf8')
  const wake = () => waiting.resolve()
  const readLine: Terminal['readLine'] = async (signal) => {
    signal.addEventListener('abort', wake, { once: true })
    while (lines.length === 0) {
      signal.throwIfAborted()
      if (gone) throw new CrabError('denied', 'Cannot ask on the terminal: EIO')
      await waiting.promise
      waiting = Promise.withResolvers()
    }
    return lines.shift()
  }
  return {
    open() {
      opened++
      return {
        name,
        output: new Output(fd, () => true),
        forgetInput: () =>
          lines
            .splice(0)
            .map((line = '') => `${line}\n`)
            .join(''),
        readLine,
        [Symbol.dispose]: () => void opened--,
      }
    },
    screen,
    shows: (pattern) => until(`the terminal shows ${pattern}`, () => pattern.test(screen())),
    type(line) {
      lines.push(line)
      wake()
    },
    hangUp() {
      gone = true
      wake()
    },
    opened: () => opened,
    [Symbol.dispose]() {
      closeSync(fd)
      rmSync(path)
    },
  }
}
