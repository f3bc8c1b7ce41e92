import { fstatSync, readFileSync } from 'node:fs'
import type { Host, SignalName } from '../src/commands/host.ts'
import { Output } from '../src/commands/output.ts'
import { CrabError } from '../src/core/base/errors.ts'

const SIGNALS: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** This process as commands see it. */
export function processHost(): Host {
  return {
    env: process.env,
    cwd: currentDirectory,
    stdout: new Output(1, () => isTerminal(1)),
    stderr: new Output(2, () => isTerminal(2)),
    columns: () => process.stdout.columns || 80,
    stdinKind,
    stdin: standardInput,
    onSignal(listener) {
      for (const name of SIGNALS) process.on(name, listener)
      return {
        [Symbol.dispose]() {
          for (const name of SIGNALS) process.off(name, listener)
        },
      }
    },
    leave: (code) => process.exit(code),
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
  if (stat.isFile()) return 'file'
  if (!stat.isCharacterDevice()) return 'pipe'
  return isTerminal(0) ? 'terminal' : 'none'
}

/** Files are read at once; the stream class, which is slow to load, is for pipes and sockets only. */
function standardInput(): AsyncIterable<Uint8Array> & { destroy(): void } {
  if (stdinKind() !== 'file') return process.stdin
  return {
    async *[Symbol.asyncIterator]() {
      yield readFileSync(0)
    },
    destroy() {},
  }
}
