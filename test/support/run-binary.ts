import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { endProcesses, processesLeft } from './processes.ts'
import { openTerminal, type Terminal, type TerminalSize } from './terminal.ts'
import { until } from './until.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** With CRABTALK_TEST_DAEMON=1 every talk has a daemon, and each command goes through it. */
export const HAS_DAEMONS = process.env['CRABTALK_TEST_DAEMON'] === '1'
/** Removed by tests of the daemon: a daemon started on demand would outlive other tests. */
const NO_DAEMON: Readonly<Record<string, string>> = HAS_DAEMONS ? {} : { CRABTALK_NO_DAEMON: '1' }

/**
 * The program under test: CRABTALK_BIN, by default the built binary; a `.ts` file stands for the program run
 * from source.
 */
export const BINARY = resolve(ROOT, process.env['CRABTALK_BIN'] ?? 'dist/crabtalk')

export interface RunOptions {
  /** Standard input: /dev/null by default; `open` is a pipe that stays open and silent. */
  stdin?: string | Uint8Array | 'open'
  /** A descriptor to print to, instead of a pipe that is read immediately. */
  stdout?: number
  /** Overrides of the sandbox's environment; undefined removes a variable. */
  env?: Readonly<Record<string, string | undefined>>
  /** The working directory; by default the sandbox's empty one. */
  cwd?: string
  program?: 'crabtalk' | 'crabup'
}

/** The end of a program and its output. */
export interface Finished {
  stdout: string
  stderr: string
  /** Standard output, byte for byte. */
  stdoutBytes: Buffer
  /** The exit code as in a shell's `$?`: 128 + n when a signal ended it. */
  code: number
  signal: NodeJS.Signals | null
}

/**
 * A running program. Its pid is that of its process group; with a descriptor of its own it has no
 * `child.stdout`.
 */
export interface Running {
  child: ChildProcessByStdio<Writable | null, Readable, Readable>
  finished: Promise<Finished>
  /** Returns standard output so far. */
  printed(): string
  /** Waits until standard output, or standard error, matches. */
  prints(pattern: RegExp, stream?: 'stdout' | 'stderr'): Promise<void>
}

/** A home, a working directory and a clean environment of one test. */
export interface Sandbox extends AsyncDisposable {
  /** CRABTALK_HOME; does not exist yet. */
  home: string
  /** An empty working directory. */
  cwd: string
  env: Readonly<Record<string, string>>
  /** Runs the program to its end. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>
  /** Runs a line of /bin/sh, in which `crabtalk` and `crabup` are commands. */
  shell(script: string, options?: RunOptions): Promise<Finished>
  start(args: readonly string[], options?: RunOptions): Running
  /** Starts the program on a terminal. */
  terminal(args: readonly string[], options?: RunOptions & TerminalSize): Terminal
  /** Runs a script like shell(), on a terminal. */
  terminalShell(script: string, options?: RunOptions & TerminalSize): Terminal
  /** Returns the pids of running processes that this sandbox started, directly or not. */
  processesLeft(): Promise<number[]>
}

/** Creates a sandbox; disposing it ends processes that are still running, and then fails. */
export async function makeSandbox(): Promise<Sandbox> {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab box ')) // a space, as in the paths of some users
  const bin = join(dir.path, 'bin')
  const [home, cwd, user] = ['home', 'work', 'user'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ]
  await Promise.all([mkdir(cwd), mkdir(user), mkdir(bin)])
  await install(bin)
  const mark = [`CRAB_TEST=${dir.path}`, `CRABTALK_HOME=${home}`] // services have only the second
  const path = `${bin}:${process.env['PATH']}`
  const env = {
    PATH: path,
    HOME: user,
    CRABTALK_HOME: home,
    LANG: 'C.UTF-8',
    ...NO_DAEMON,
    CRAB_TEST: dir.path,
  }
  const begin = (command: string, args: readonly string[], options: RunOptions) =>
    startProgram(command, args, { cwd, ...options, env: { ...env, ...options.env } })
  const openOn = (command: string, args: readonly string[], options: RunOptions & TerminalSize) =>
    openTerminal(command, args, { cwd, ...options, env: { ...env, ...options.env } })
  const program = ({ program = 'crabtalk' }: RunOptions) => join(bin, program)
  return {
    home,
    cwd,
    env,
    start: (args, options = {}) => begin(program(options), args, options),
    run: (args, options = {}) => begin(program(options), args, options).finished,
    shell: (script, options = {}) => begin('/bin/sh', ['-c', script], options).finished,
    terminal: (args, options = {}) => openOn(program(options), args, options),
    terminalShell: (script, options = {}) => openOn('/bin/sh', ['-c', script], options),
    processesLeft: () => processesLeft(mark),
    async [Symbol.asyncDispose]() {
      const left = await endProcesses(mark)
      await dir.remove()
      assert.deepEqual(left, [], 'processes were left running')
    },
  }
}

/** Installs the commands `crabtalk` and `crabup` into a folder. */
async function install(bin: string): Promise<void> {
  if (!BINARY.endsWith('.ts')) {
    await Promise.all(['crabtalk', 'crabup'].map((name) => symlink(BINARY, join(bin, name))))
    return
  }
  for (const name of ['crabtalk', 'crabup']) {
    await symlink(BINARY, join(bin, `${name}.ts`))
    const script = `#!/bin/sh\nexec '${process.execPath}' -- '${join(bin, name)}.ts' "$@"\n`
    await writeFile(join(bin, name), script, { mode: 0o755 })
  }
}

function startProgram(command: string, args: readonly string[], options: RunOptions): Running {
  const { stdin, stdout = 'pipe', env, cwd } = options
  const child = spawn(command, args, {
    cwd,
    env: definedOnly(env ?? {}),
    stdio: [stdin === undefined ? 'ignore' : 'pipe', stdout, 'pipe'],
    detached: true, // a process group of its own, as a shell creates it
  }) as Running['child']
  child.stdin?.on('error', () => {}) // a program may not read its input
  if (stdin !== 'open') child.stdin?.end(stdin)
  const printed = { stdout: gather(child.stdout), stderr: gather(child.stderr) }
  return {
    child,
    finished: once(child, 'close').then(([code, signal]) => ({
      stdout: printed.stdout().toString(),
      stderr: printed.stderr().toString(),
      stdoutBytes: printed.stdout(),
      code: code ?? 128 + constants.signals[signal as NodeJS.Signals],
      signal,
    })),
    printed: () => printed.stdout().toString(),
    prints: (pattern, stream = 'stdout') =>
      until(`${stream} matches ${pattern}`, () => pattern.test(printed[stream]().toString())),
  }
}

/** Collects the output of a stream so far. */
function gather(stream: Readable | null): () => Buffer {
  const pieces: Buffer[] = []
  stream?.on('data', (piece: Buffer) => pieces.push(piece))
  return () => Buffer.concat(pieces)
}

function definedOnly(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
