import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { homePaths } from '../../../src/core/config/paths.ts'
import { type FoundDaemon, findDaemon } from '../../../src/daemon/find-daemon.ts'
import { variableDigest } from '../../../src/daemon/variable-digest.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal

test('daemon run uses the variables of --env-file below its environment, and starts without the file', async () => {
  await using box = await makeTestHost()
  const file = join(box.folder, 'service.env')
  await writeFile(file, "ANTHROPIC_API_KEY='from the file'\nOPENAI_API_KEY=from the file\n")
  for (const [path, known] of [
    [file, { ANTHROPIC_API_KEY: 'from the file', OPENAI_API_KEY: 'own' }],
    [join(box.folder, 'none'), { ANTHROPIC_API_KEY: undefined, OPENAI_API_KEY: 'own' }],
  ] as const) {
    const { info } = await daemonWith(box, ['--env-file', path], { OPENAI_API_KEY: 'own' })
    const seen = Object.keys(known).map((name) => info.environment[name])
    assert.deepEqual(seen, Object.values(known).map(variableDigest))
  }
})

/** Runs a daemon in this process with those arguments, ends it, and returns its output. */
async function daemonWith(
  { host, folder, signal }: Awaited<ReturnType<typeof makeTestHost>>,
  options: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<FoundDaemon> {
  const env = { CRABTALK_HOME: join(folder, 'home'), ...more }
  await mkdir(env.CRABTALK_HOME, { recursive: true })
  const running = main('crabtalk', ['daemon', 'run', ...options], { ...host, env })
  const paths = homePaths(env, { cwd: folder, homeDir: folder })
  let found: FoundDaemon | undefined
  await until('the daemon answers', async () => {
    found = await findDaemon({ paths, env, uid: host.uid }, NEVER)
    return found !== undefined
  })
  signal('SIGTERM')
  assert.equal(await running, 0)
  return found!
}
