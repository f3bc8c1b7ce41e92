import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { readManualRuns } from '../../../src/core/cron/manual-runs.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { listen } from '../../../src/core/transport/listen.ts'
import { makeTestHost } from '../../support/test-host.ts'

const FILE = '[[cron]]\nid = 1\nschedule = "@daily"\ncontent = "Good morning"\n'

test('runNow() records its result without asking a daemon again', async () => {
  await using box = await makeTestHost({ withoutDaemon: false })
  const home = join(box.folder, 'home')
  await mkdir(join(home, 'config'), { recursive: true })
  await mkdir(join(home, 'run'))
  await writeFile(join(home, 'config', 'crons.toml'), FILE)
  await using _newer = await listen(
    { kind: 'unix', path: join(home, 'run', 'crabtalk.sock') },
    { dispatch: route({ hello: newer }), graceMs: 0, onError: () => undefined },
  )
  const host = { ...box.host, env: { CRABTALK_HOME: home } }
  const code = await main('crabtalk', ['cron', 'run', '1'], host)
  await host.stderr.flush()
  assert.equal(code, 0)
  assert.equal(box.stderr().match(/running without a daemon/g)?.length, 1)
  const [run, ...others] = await readManualRuns(join(home, 'run', 'cron-by-hand.json'))
  assert.deepEqual([run?.id, run?.last.outcome, others], [1, 'ok', []])
})

async function newer(): Promise<never> {
  throw new CrabError('invalid', 'this daemon speaks only version 2 only')
}
