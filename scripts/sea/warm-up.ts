import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import type { Script } from 'node:vm'
import { chunkLoader } from '../../bin/chunks.ts'
import { installedRipgrep } from '../../bin/ripgrep.ts'
import type { Host } from '../../src/commands/host.ts'
import { Output } from '../../src/commands/output.ts'
import { startModelServer } from '../../test/support/model-server.ts'
import { loopbackModel } from './loopback-model.ts'
import { eachScenario } from './scenarios.ts'

type Run = typeof import('../../bin/run.ts').run

// A program of its own, `warm-up.ts FOLDER`: runs the scenarios with the chunks in that folder, then writes beside
// each what V8 has compiled of it. A code cache made after running holds the functions a start needs; one made right
// after compiling holds only the outermost.
await warmUp(process.argv[2]!)

async function warmUp(folder: string): Promise<void> {
  setFlagsFromString('--no-flush-bytecode') // what an early scenario compiled is still there at the end
  const scripts = new Map<string, Script>()
  const load = chunkLoader(
    {
      source: (id) => readFileSync(join(folder, id), 'latin1'),
      cache: () => undefined,
      compiled: (id, script) => scripts.set(id, script),
    },
    createRequire(import.meta.url),
  )
  await runScenarios((load('./run.js') as { run: Run }).run)
  restoreFlags()
  for (const id of readdirSync(folder).toSorted()) {
    if (!scripts.has(id)) load(`./${id}`)
    writeFileSync(join(folder, `${id}.cache`), scripts.get(id)!.createCachedData())
  }
}

/** V8 accepts a cache only under the flags it was made with, and the binary has neither these nor the build's seeds. */
function restoreFlags(): void {
  for (const flag of ['--flush-bytecode', '--random-seed=0', '--hash-seed=0']) setFlagsFromString(flag)
}

async function runScenarios(run: Run): Promise<void> {
  await using model = await startModelServer(loopbackModel)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  for await (const { program, argv, env } of eachScenario(dir.path, model.url)) {
    using said = outputFile(join(dir.path, 'stderr'))
    using ignored = outputFile(join(dir.path, 'stdout'))
    const host = { ...quietHost(env, dir.path), stdout: ignored.output, stderr: said.output }
    const code = await run(program, argv, host)
    if (code === 0) continue
    throw new Error(`Cannot warm up: ${[program, ...argv].join(' ')} exits ${code}: ${said.text()}`)
  }
}

function quietHost(env: Record<string, string>, cwd: string): Omit<Host, 'stdout' | 'stderr'> {
  return {
    env,
    pid: process.pid,
    cwd: () => cwd,
    columns: () => 80,
    stdinKind: () => 'none',
    stdin: () => Readable.from([]),
    terminal: () => undefined,
    screen: () => undefined,
    suspend() {},
    isSignalled: false,
    ripgrep: async () => installedRipgrep(import.meta.filename),
    onSignal: () => ({ [Symbol.dispose]() {} }),
    leave: (code) => {
      throw new Error(`Cannot warm up: a command left with ${code}`)
    },
  }
}

function outputFile(path: string): Disposable & { output: Output; text(): string } {
  const fd = openSync(path, 'w')
  return {
    output: new Output(fd, () => false),
    text: () => readFileSync(path, 'utf8').trim(),
    [Symbol.dispose]: () => closeSync(fd),
  }
}
