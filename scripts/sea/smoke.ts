import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '../../test/support/model-server.ts'
import { loopbackModel } from './loopback-model.ts'
import { eachScenario } from './scenarios.ts'

const run = promisify(execFile)

/** Far more than a scenario takes: a binary that hangs does not hold up a build for ever. */
const TIMEOUT_MS = 60_000

/** Runs every scenario with the finished binary. Throws when one fails, or when V8 rejects a code cache. */
export async function smoke(binary: string): Promise<void> {
  await using model = await startModelServer(loopbackModel)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  for await (const { program, argv, env } of eachScenario(dir.path, model.url)) {
    const path = program === 'crabup' ? join(dirname(binary), 'crabup') : binary
    const all = { ...env, PATH: process.env['PATH'], CRABTALK_DEBUG: 'cache' }
    const running = run(path, [...argv], {
      env: all,
      cwd: dir.path,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    running.child.stdin?.end()
    const { stderr } = await running
    if (stderr.includes('code cache rejected')) throw new Error(`Cannot ship this binary: ${stderr.trim()}`)
  }
}
