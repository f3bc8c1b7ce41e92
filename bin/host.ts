import { fstatSync, readSync } from 'node:fs'
import { constants } from 'node:os'
import type { Host, SignalName } from '../src/commands/host.ts'
import { Output } from '../src/commands/output.ts'
import { CrabError } from '../src/core/base/errors.ts'
import { userDirectory } from '../src/core/base/user.ts'
import { openScreen } from './screen.ts'
import { openTerminal } from './terminal.ts'

const SIGNALS: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

const CRASHES = ['uncaughtException', 'unhandledRejection'] as const

/** This process as commands see it. */
export function processHost(): Host {
  let isSignalled = false
  return {
    env: process.env,
    pid: process.pid,
    get uid() {
      return process.getuid?.() ?? 0
    },
    withoutDaemon: false,
    memoryBytes: () => process.memoryUsage.rss(),
    cwd: currentDirectory,
    get homeDir() {
      return userDirectory()
    },
    stdout: new Output(1, () => isTerminal(1)),
    stderr: new Output(2, () => isTerminal(2)),
    columns,
    stdinKind,
    stdin: standardInput,
    terminal: openTerminal,
    screen: () => (isTerminal(0) && isTerminal(1) ? openScreen() : undefined),
    onSignal(listener) {
      const hear = (name: SignalName) => {
        isSignalled = true
        listener(name)
      }
      for (const name of SIGNALS) process.on(name, hear)
      return {
        [Symbol.dispose]() {
          for (const name of SIGNALS) process.off(name, hear)
        },
      }
    },
    onCrash(listener) {
      for (const event of CRASHES) process.on(event, listener)
      return {
        [Symbol.dispose]() {
          for (const event of CRASHES) process.off(event, listener)
        },
      }
    },
    get isSignalled() {
      return isSignalled
    },
    rereadTimeZone() {
      if (process.env['TZ'] === undefined) delete process.env['TZ'] // Node asks the system again whenever it is set or removed
    },
    ripgrep: async (folder) => (await import('./ripgrep.ts')).resolveRipgrep(folder),
    searchWorker: async () => (await import('./search-worker.ts')).resolveSearchWorker(),
    notices: async () => (await import('./notices.ts')).unpackNotices(),
    build: async () => (await import('./build.ts')).describeBuild(),
    leave: exitProcess,
  }
}

/** Whether a descriptor is a terminal; node:tty, which is slow to load, is asked about character devices only. */
function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false // a closed descriptor is no terminal
  }
}

function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new CrabError('no-input', 'Cannot use the working directory: it no longer exists', {
      cause,
      hint: 'change to a directory that exists',
    })
  }
}

function stdinKind(): 'none' | 'terminal' | 'file' | 'pipe' {
  const stat = fstatSync(0)
  if (stat.isFile() || stat.isDirectory()) return 'file' // reading a directory then fails, and says why
  if (!stat.isCharacterDevice()) return 'pipe'
  return isTerminal(0) ? 'terminal' : 'none'
}

/** Only a terminal is asked: Node makes a pipe non-blocking when it opens it, for everybody who shares it. */
function columns(): number {
  const terminal = isTerminal(1) ? process.stdout : isTerminal(2) ? process.stderr : undefined
  return terminal?.columns || 80
}

/** Largest piece of a file that is read at once. */
const PIECE_BYTES = 1024 * 1024

/** Files are read as they are; the stream class, which is slow to load, is for pipes and sockets only. */
function standardInput(): AsyncIterable<Uint8Array> & { destroy(): void } {
  if (stdinKind() !== 'file') return process.stdin
  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES)
        const bytes = readSync(0, piece)
        if (bytes === 0) return
        yield piece.subarray(0, bytes)
      }
    },
    destroy() {},
  }
}

/**
 * Ends by the signal itself where the code stands for one: process.exit() waits for the thread that a sleeping reader
 * keeps inside its write.
 */
function exitProcess(code: number): never {
  const name = SIGNALS.find((signal) => code === 128 + constants.signals[signal])
  if (name !== undefined) {
    process.emit('exit', code) // whoever has the terminal gives it back; a signal would tell nobody
    process.removeAllListeners(name)
    process.kill(process.pid, name)
  }
  process.exit(code)
}
