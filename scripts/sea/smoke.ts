import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { spawn } from '@lydell/node-pty'
import { startModelServer } from '../../test/support/model-server.ts'
import { loopbackModel } from './loopback-model.ts'
import { daemonListens, eachScenario } from './scenarios.ts'
import { type Keystrokes, typist } from './typist.ts'

const run = promisify(execFile)

/** Far more than a scenario takes: a hanging binary must not block a build forever. */
const TIMEOUT_MS = 60_000

/** Runs every scenario with the finished binary. Throws when one fails, or when V8 rejects a code cache. */
export async function smoke(binary: string): Promise<void> {
  await using model = await startModelServer(loopbackModel)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  let daemon: Promise<string> | undefined
  for await (const { program, argv, env, input, keys, background } of eachScenario(dir.path, model.url)) {
    const command = program === 'crabup' ? join(dirname(binary), 'crabup') : binary
    const all = { ...env, PATH: process.env['PATH'], CRABTALK_DEBUG: 'cache' }
    const start = { command, argv, env: all, cwd: dir.path, input }
    if (background) {
      daemon = pipe(start)
      await Promise.race([daemon, daemonListens(env)])
      continue
    }
    const output = await (keys ? typeTo(start, keys) : pipe(start))
    if (argv[1] === 'stop') await daemon
    if (output.includes('code cache rejected')) throw new Error(`Cannot ship this binary: ${output.trim()}`)
  }
}

interface Start {
  command: string
  argv: readonly string[]
  env: Record<string, string | undefined>
  cwd: string
  input: string | undefined
}

/** Runs a program and returns its standard error. */
async function pipe({ command, argv, env, cwd, input }: Start): Promise<string> {
  const running = run(command, [...argv], { env, cwd, timeout: TIMEOUT_MS, killSignal: 'SIGKILL' })
  running.child.stdin?.end(input)
  return (await running).stderr
}

/** Runs a program on a terminal, types the keys, and returns everything it printed. */
async function typeTo({ command, argv, env, cwd }: Start, keys: readonly Keystrokes[]): Promise<string> {
  const pty = spawn(command, [...argv], { name: 'xterm-256color', cols: 100, rows: 30, cwd, env })
  const late = setTimeout(() => pty.kill('SIGKILL'), TIMEOUT_MS)
  const typing = typist(keys, (text) => pty.write(text))
  let output = ''
  pty.onData((bytes) => {
    output += bytes
    typing.wrote(bytes)
  })
  const { exitCode, signal = 0 } = await new Promise<{ exitCode: number; signal?: number }>((resolve) =>
    pty.onExit(resolve),
  )
  clearTimeout(late)
  if (exitCode === 0 && signal === 0 && typing.isDone()) return output
  throw new Error(
    `Cannot ship this binary: ${argv.join(' ')} ends with ${exitCode}, ${signal}: ${JSON.stringify(output)}`,
  )
}
