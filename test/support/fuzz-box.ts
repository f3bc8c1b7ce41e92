import assert from 'node:assert/strict'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FuzzReport, fuzzDaemon } from '../../scripts/fuzz/daemon-fuzz.ts'
import { generator } from '../../scripts/fuzz/hostile-bytes.ts'
import { FROM_SOURCE, startTestDaemon } from './daemon.ts'
import { startModelServer } from './model-server.ts'
import { BINARY } from './run-binary.ts'
import { shortConfig } from './talk.ts'
import { temporaryHome } from './temporary-home.ts'

/**
 * Starts a daemon in its own home and attacks it for `ms` milliseconds. Throws like fuzzDaemon(), and when the
 * daemon has written anything outside its home, crashed, or does not exit cleanly.
 */
export async function fuzzInBox({ ms, seed }: { ms: number; seed: number }): Promise<FuzzReport> {
  await using server = await startModelServer(() => ({ parts: ['Hi', ' there.'] }))
  await using home = await temporaryHome()
  await home.write('config.toml', shortConfig(server.url))
  const box = join(home.paths.home, '..')
  const outside = ['user', 'tmp', 'runtime'].map((name) => join(box, name))
  await Promise.all(outside.map((folder) => mkdir(folder)))
  const [HOME, TMPDIR, XDG_RUNTIME_DIR] = outside as [string, string, string]
  const program = BINARY.endsWith('.ts') ? [...FROM_SOURCE] : [BINARY]
  const daemon = await startTestDaemon(home, {
    program: program as [string, ...string[]],
    env: { HOME, TMPDIR, XDG_RUNTIME_DIR },
  })
  let report: FuzzReport
  try {
    const endpoint = { kind: 'unix', path: join(home.paths.run, 'crabtalk.sock') } as const
    const { pid, dispatch } = daemon
    const words = [home.paths.home, box]
    report = await fuzzDaemon({ pid, dispatch, endpoint, words }, { ms, random: generator(seed) })
  } finally {
    await daemon[Symbol.asyncDispose]()
  }
  const { code, stderr } = await daemon.ended
  const log = await readFile(join(home.paths.logs, 'daemon.log'), 'utf8')
  assert.deepEqual([code, stderr], [0, ''], log.slice(-2000))
  assert.doesNotMatch(log, /crashed/)
  assert.deepEqual((await readdir(box)).toSorted(), ['home', 'runtime', 'tmp', 'user'])
  for (const folder of outside) assert.deepEqual(await readdir(folder, { recursive: true }), [])
  return report
}
