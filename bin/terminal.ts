import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import type { Terminal } from '../src/cli/host.ts'
import { Output } from '../src/cli/output.ts'
import { toCancelledError } from '../src/core/base/abortable.ts'
import { CrabError } from '../src/core/base/errors.ts'

/** The polling interval while the user types. Reads do not block, so that signals are handled. */
const POLL_MS = 25
/** More than the longest line a terminal returns, in bytes. */
const LINE_BYTES = 8_192

/** Opens the controlling terminal of this process; undefined when it has none. */
export function openTerminal(): Terminal | undefined {
  const fd = openControllingTerminal()
  if (fd === undefined) return undefined
  const decoder = new TextDecoder()
  let typed = ''
  return {
    get name() {
      return terminalName()
    },
    output: new Output(fd, () => true),
    forgetInput() {
      let forgotten = typed
      typed = ''
      for (let piece = readAvailable(fd); piece?.length; piece = readAvailable(fd))
        forgotten += piece.toString()
      decoder.decode() // resets an incomplete character too
      return forgotten
    },
    async readLine(signal) {
      // Loaded late, because every start would pay for it.
      const { setTimeout: sleep } = await import('node:timers/promises')
      for (;;) {
        if (signal.aborted) throw toCancelledError(signal)
        const [line, rest] = splitLine(typed)
        if (rest !== undefined) {
          typed = rest
          return line
        }
        const piece = readAvailable(fd)
        if (piece === undefined) await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
        else if (piece.length > 0) typed += decoder.decode(piece, { stream: true })
        else return takeLast()
      }
    },
    [Symbol.dispose]: () => closeSync(fd),
  }

  /** Returns the text that was typed before the input ended. */
  function takeLast(): string | undefined {
    const last = typed === '' ? undefined : typed
    typed = ''
    return last
  }
}

function openControllingTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return undefined // usual for a service, a cron job or a system without terminals
  }
}

/** Reads what is available: empty at the end of input, undefined while no line is complete. */
function readAvailable(fd: number): Buffer | undefined {
  const piece = Buffer.allocUnsafe(LINE_BYTES)
  try {
    return piece.subarray(0, readSync(fd, piece))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
    throw new CrabError('denied', `Cannot ask on the terminal: ${(cause as Error).message}`, { cause })
  }
}

/** Splits off the first complete line. A terminal in raw mode ends lines with a carriage return. */
function splitLine(typed: string): [string, string | undefined] {
  const end = /\r\n|\n|\r/.exec(typed)
  return end ? [typed.slice(0, end.index), typed.slice(end.index + end[0].length)] : [typed, undefined]
}

/**
 * Identifies the terminal, because `/dev/tty` is a different one in every session. The kernel reports it on
 * Linux; elsewhere the standard streams do.
 */
function terminalName(): string {
  try {
    // Skips the program's name, which may contain anything.
    const [, behind = ''] = readFileSync('/proc/self/stat', 'latin1').split(') ')
    return behind.split(' ')[4] ?? ''
  } catch {
    return [0, 1, 2].map(readDeviceId).find((device) => device !== '') ?? ''
  }
}

function readDeviceId(fd: number): string {
  try {
    const stat = fstatSync(fd)
    return stat.isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd) ? `${stat.rdev}` : ''
  } catch {
    return '' // a closed descriptor is not a terminal
  }
}
