import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { installedRipgrep } from '../../bin/ripgrep.ts'
import type { Host, SignalName, Terminal } from '../../src/cli/host.ts'
import { Output } from '../../src/cli/output.ts'
import { SEARCH_WORKER } from './search-worker.ts'

export interface TestHostOptions {
  env?: Readonly<Record<string, string | undefined>>
  /** Standard input; a text is a pipe with that content. `none` by default. */
  stdin?: string | Uint8Array | Readable | 'none' | 'terminal'
  /** The outputs that report to be terminals. */
  terminals?: readonly ('stdout' | 'stderr')[]
  columns?: number
  /** The working directory; by default the test's own folder. */
  cwd?: string
  /** The user's home directory; by default the test's own folder. */
  homeDir?: string
  /** Opens the terminal of the process; by default it has none. */
  terminal?: () => Terminal
  /** Whether to use no daemon, which is the default. */
  withoutDaemon?: boolean
  /** A descriptor to print to, instead of a file. */
  stdout?: number
}

/** A process as commands see it, whose outputs are files. */
export interface TestHost extends AsyncDisposable {
  readonly host: Host
  /** A folder of this test; by default also the working directory. */
  readonly folder: string
  /** Returns the printed text; call host.stdout.flush() first. */
  stdout(): string
  stderr(): string
  signal(name: SignalName): void
  /** Returns the number of signal listeners. */
  listeners(): number
  /** The codes that host.leave() was called with; it returns here. */
  readonly left: readonly number[]
}

export async function makeTestHost(options: TestHostOptions = {}): Promise<TestHost> {
  const { env = {}, stdin = 'none', terminals = [], columns = 80 } = options
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const paths = ['stdout', 'stderr'].map((name) => join(folder.path, `.${name}`)) as [string, string]
  const files = paths.map((path) => openSync(path, 'a')) as [number, number]
  const listeners = new Set<(name: SignalName) => void>()
  const left: number[] = []
  const host: Host = {
    env,
    cwd: () => options.cwd ?? folder.path,
    homeDir: options.homeDir ?? folder.path,
    stdout: new Output(options.stdout ?? files[0], () => terminals.includes('stdout')),
    stderr: new Output(files[1], () => terminals.includes('stderr')),
    pid: process.pid,
    uid: process.getuid?.() ?? 0,
    withoutDaemon: options.withoutDaemon ?? true,
    memoryBytes: () => process.memoryUsage.rss(),
    columns: () => columns,
    stdinKind: () => (stdin === 'none' || stdin === 'terminal' ? stdin : 'pipe'),
    stdin: () => (stdin instanceof Readable ? stdin : Readable.from([Buffer.from(stdin)])),
    terminal: () => options.terminal?.(),
    screen: () => undefined,
    isSignalled: false,
    rereadTimeZone() {},
    garbageCollector: async () => ({ collectAll() {}, collectYoung() {} }),
    ripgrep: async () => installedRipgrep(import.meta.filename),
    searchWorker: async () => SEARCH_WORKER,
    notices: async () => undefined,
    onSignal(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    onCrash: () => ({ [Symbol.dispose]() {} }),
    build: async () => ({
      path: process.execPath,
      command: [process.execPath],
      node: '26.0.0',
      isOneFile: true,
      hasRipgrep: true,
    }),
    leave: (code) => left.push(code) as never,
  }
  return {
    host,
    folder: folder.path,
    stdout: () => readFileSync(paths[0], 'utf8'),
    stderr: () => readFileSync(paths[1], 'utf8'),
    signal(name) {
      for (const listener of listeners) listener(name)
    },
    listeners: () => listeners.size,
    left,
    async [Symbol.asyncDispose]() {
      for (const file of files) closeSync(file)
      await folder.remove()
    },
  }
}
