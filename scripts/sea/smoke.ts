import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startModelServer } from '../../test/support/model-server.ts'
import { fillIn, makeHome, SCENARIOS } from './scenarios.ts'

const run = promisify(execFile)

/** Runs every scenario with the finished binary. Throws when one fails, or when V8 rejects a code cache. */
export async function smoke(binary: string): Promise<void> {
  await using model = await startModelServer(() => ({ parts: ['Hi', ' there', '.'] }))
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const home = join(dir.path, 'home')
  const env = { ...(await makeHome(home, model.url)), PATH: process.env['PATH'], CRABTALK_DEBUG: 'cache' }
  for (const scenario of SCENARIOS) {
    const program = scenario.program === 'crabup' ? join(dirname(binary), 'crabup') : binary
    const running = run(program, await fillIn(scenario, home), { env, cwd: dir.path })
    running.child.stdin?.end()
    const { stderr } = await running
    if (stderr.includes('code cache rejected')) throw new Error(`Cannot ship this binary: ${stderr.trim()}`)
  }
}
