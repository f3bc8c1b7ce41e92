import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import type { Script } from 'node:vm'
import { chunkLoader } from '../../bin/chunks.ts'
import { installedRipgrep } from '../../bin/ripgrep.ts'
import type { Host, TerminalStreams } from '../../src/cli/host.ts'
import { Output } from '../../src/cli/output.ts'
import { startModelServer } from '../../test/support/model-server.ts'
import { loopbackModel } from './loopback-model.ts'
import { daemonListens, eachScenario } from './scenarios.ts'
import { type Keystrokes, typist } from './typist.ts'

/**
 * Higher than any process id: the daemon runs in this process, and `daemon stop` waits until its pid is gone.
 */
const NOBODY = 2 ** 22 + 1

type Run = typeof import('../../bin/run.ts').run
type KeyReader = typeof import('../../src/commands/vault/provider-key.ts').readProviderKey

// A standalone program, `warm-up.ts FOLDER`: runs the scenarios with the chunks in that folder, then writes
// next to each chunk what V8 has compiled of it, and to hot.json the names of the chunks that hot scenarios
// load. A code cache made after running contains the functions that a start needs; one made right after
// compiling only the outermost. The cache of a hot chunk contains only what hot scenarios need, since reading
// a cache takes a millisecond for every 100 KB.
await warmUp(process.argv[2]!)

async function warmUp(folder: string): Promise<void> {
  const scripts = new Map<string, Script>()
  const load = chunkLoader(
    {
      source: (id) => readFileSync(join(folder, id), 'latin1'),
      cache: () => undefined,
      compiled: (id, script) => scripts.set(id, script),
    },
    createRequire(import.meta.url),
  )
  const caches = new Map<string, Uint8Array>()
  const keep = () => {
    restoreFlags()
    for (const [id, script] of scripts) if (!caches.has(id)) caches.set(id, script.createCachedData())
    keepBytecode()
  }
  keepBytecode()
  const [keyReader] = readdirSync(folder).filter((name) => /^provider-key-\w+\.js$/.test(name))
  const readVaultKey: KeyReader = (...call) =>
    (load(`./${keyReader}`) as { readProviderKey: KeyReader }).readProviderKey(...call)
  await runScenarios({ run: (load('./run.js') as { run: Run }).run, readVaultKey }, keep)
  await writeFile(join(folder, 'hot.json'), JSON.stringify([...caches.keys()]))
  for (const id of readdirSync(folder).filter((name) => name.endsWith('.js'))) load(`./${id}`)
  keep()
  for (const [id, cache] of caches) await writeFile(join(folder, `${id}.cache`), cache)
}

/** Keeps what early scenarios compiled until the end. */
function keepBytecode(): void {
  setFlagsFromString('--no-flush-bytecode')
}

/**
 * Restores the flags: V8 accepts a cache only under the flags it was made with, and the binary has neither
 * these nor the seeds of the build.
 */
function restoreFlags(): void {
  for (const flag of ['--flush-bytecode', '--random-seed=0', '--hash-seed=0']) setFlagsFromString(flag)
}

/** Runs the scenarios, and calls `cold` between the hot ones and the others. */
async function runScenarios(
  { run, readVaultKey }: { run: Run; readVaultKey: KeyReader },
  cold: () => void,
): Promise<void> {
  await using model = await startModelServer(loopbackModel)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  let isHot = true
  let daemon: Promise<number> | undefined
  for await (const { program, argv, env, input = '', keys, background, hot = false } of eachScenario(
    dir.path,
    model.url,
  )) {
    if (isHot && !hot) cold()
    isHot = hot
    using stderr = outputFile(join(dir.path, 'stderr'))
    using ignored = outputFile(join(dir.path, 'stdout'))
    const outputs = { stdout: ignored.output, stderr: stderr.output }
    const streams = {
      stdin: () => Readable.from([Buffer.from(input)]),
      screen: () => keys && fakeScreen(keys),
    }
    const quiet = quietHost(env, dir.path)
    const host = {
      ...quiet,
      ...outputs,
      ...streams,
      readVaultKey: (name: string) => readVaultKey(name, quiet),
    }
    if (background) {
      daemon = run(program, argv, { ...host, pid: NOBODY, ...inherited() })
      await Promise.race([daemon, daemonListens(env)])
      continue
    }
    const code = (await run(program, argv, host)) || (argv[1] === 'stop' && (await daemon)) || 0
    if (code === 0) continue
    throw new Error(`Cannot warm up: ${[program, ...argv].join(' ')} exits ${code}: ${stderr.text()}`)
  }
}

/**
 * The streams of a daemon that continues while later scenarios have their own files. Its `leave` does
 * nothing, because it would end this process.
 */
function inherited(): Pick<Host, 'stdout' | 'stderr' | 'leave'> {
  return {
    leave: (() => undefined) as () => never,
    stdout: new Output(1, () => false),
    stderr: new Output(2, () => false),
  }
}

function quietHost(env: Record<string, string>, cwd: string): Omit<Host, 'stdout' | 'stderr'> {
  return {
    env,
    pid: process.pid,
    uid: 0,
    withoutDaemon: false,
    memoryBytes: () => 0,
    cwd: () => cwd,
    homeDir: cwd,
    columns: () => 80,
    stdinKind: () => 'none',
    stdin: () => Readable.from([]),
    terminal: () => undefined,
    screen: () => undefined,
    isSignalled: false,
    build: async () => ({
      path: process.execPath,
      command: [process.execPath],
      node: process.versions.node,
      isOneFile: true,
      hasRipgrep: true,
    }),
    notices: async () => undefined,
    rereadTimeZone() {},
    garbageCollector: async () => ({ collectAll() {}, collectYoung() {} }),
    ripgrep: async () => installedRipgrep(import.meta.filename),
    searchWorker: async () => undefined,
    onSignal: () => new DisposableStack(),
    onCrash: () => new DisposableStack(),
    leave: (code) => {
      throw new Error(`Cannot warm up: a command left with ${code}`)
    },
  }
}

/** Creates the streams of a fake terminal at which the keys are typed. */
function fakeScreen(keys: readonly Keystrokes[]): TerminalStreams {
  const stdin = new PassThrough()
  const typing = typist(keys, (text) => setImmediate(() => stdin.write(text)))
  const stdout = new Writable({
    write(bytes, _, done) {
      typing.wrote(String(bytes))
      done()
    },
  })
  const mode = { isTTY: true, setRawMode: () => stdin, ref: () => stdin, unref: () => stdin }
  return {
    stdin: Object.assign(stdin, mode),
    stdout: Object.assign(stdout, { isTTY: true, columns: 100, rows: 30 }),
    hooks: {
      onExit: () => new DisposableStack(),
      onStop: () => new DisposableStack(),
      onContinue: () => new DisposableStack(),
      stop() {},
      writeNow() {},
      makeCooked() {},
    },
  } as unknown as TerminalStreams
}

function outputFile(path: string): Disposable & { output: Output; text(): string } {
  const fd = openSync(path, 'w')
  return {
    output: new Output(fd, () => false),
    text: () => readFileSync(path, 'utf8').trim(),
    [Symbol.dispose]: () => closeSync(fd),
  }
}
