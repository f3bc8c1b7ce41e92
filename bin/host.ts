import { fstatSync, readSync } from 'node:fs'
import { constants } from 'node:os'
import type { Host, SignalName } from '../src/cli/host.ts'
import { Output } from '../src/cli/output.ts'
import { CrabError } from '../src/core/base/errors.ts'
import { userDirectory } from '../src/core/base/user.ts'
import { openScreen } from './screen.ts'
import { openTerminal } from './terminal.ts'

const SIGNALS: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

const CRASHES = ['uncaughtException', 'unhandledRejection'] as const

/** Builds the host that commands see from this process. */
export function processHost(): Host {
  let isSignalled = false
  const host: Host = {
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
      const onSignal = (name: SignalName) => {
        isSignalled = true
        listener(name)
      }
      for (const name of SIGNALS) process.on(name, onSignal)
      return {
        [Symbol.dispose]() {
          for (const name of SIGNALS) process.off(name, onSignal)
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
      // Node rereads the time zone whenever TZ is set or deleted.
      if (process.env['TZ'] === undefined) delete process.env['TZ']
    },
    garbageCollector: async () => (await import('./garbage-collector.ts')).openGarbageCollector(),
    ripgrep: async (folder) => (await import('./ripgrep.ts')).resolveRipgrep(folder),
    searchWorker: async () => (await import('./search-worker.ts')).resolveSearchWorker(),
    notices: async () => (await import('./notices.ts')).unpackNotices(),
    readVaultKey: async (provider) =>
      (await import('../src/commands/vault/provider-key.ts')).readProviderKey(provider, host),
    build: async () => (await import('./build.ts')).describeBuild(),
    leave: exitProcess,
  }
  return host
}

/** Whether a descriptor is a terminal. node:tty is slow to load, so it is used for character devices only. */
function isTerminal(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false // a closed descriptor is not a terminal
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
  if (stat.isFile() || stat.isDirectory()) return 'file' // reading a directory then fails with a clear error
  if (!stat.isCharacterDevice()) return 'pipe'
  return isTerminal(0) ? 'terminal' : 'none'
}

/**
 * Queries terminals only: opening a pipe makes Node switch it to non-blocking mode for every process that
 * shares it.
 */
function columns(): number {
  const terminal = isTerminal(1) ? process.stdout : isTerminal(2) ? process.stderr : undefined
  return terminal?.columns || 80
}

/** The maximum number of bytes read from a file in one call. */
const PIECE_BYTES = 1024 * 1024

/** Reads files directly; the stream class is slow to load and used for pipes and sockets only. */
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
 * Ends the process by the signal itself when the code stands for one: process.exit() would wait for the
 * thread that a sleeping reader keeps inside its write.
 */
function exitProcess(code: number): never {
  const name = SIGNALS.find((signal) => code === 128 + constants.signals[signal])
  if (name !== undefined) {
    process.emit('exit', code) // lets the owner of the terminal restore it, because a signal does not run exit handlers
    process.removeAllListeners(name)
    process.kill(process.pid, name)
  }
  process.exit(code)
}
