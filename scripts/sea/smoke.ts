import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { startLoopbackModel } from '../loopback-model.ts'
import { makeHome, SCENARIOS } from './scenarios.ts'

const run = promisify(execFile)

/** Runs every scenario with the finished binary. Throws when one fails, or when V8 rejects a code cache. */
export async function smoke(binary: string): Promise<void> {
  await using model = await startLoopbackModel(['Hi', ' there', '.'])
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const home = await makeHome(join(dir.path, 'home'), model.url)
  const env = { ...home, PATH: process.env['PATH'], CRABTALK_DEBUG: 'cache' }
  for (const { program, argv } of SCENARIOS) {
    const path = program === 'crabup' ? join(dirname(binary), 'crabup') : binary
    const child = run(path, [...argv], { env, cwd: dir.path })
    child.child.stdin?.end()
    const { stderr } = await child
    if (stderr.includes('code cache rejected')) throw new Error(`Cannot ship this binary: ${stderr.trim()}`)
  }
}
