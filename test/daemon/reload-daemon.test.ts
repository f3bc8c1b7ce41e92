import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../src/core/protocol/dispatch.ts'
import { startTestDaemon, type TestDaemon } from '../support/daemon.ts'
import { entriesToml, type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, recordFolder } from '../support/mcp/record-folder.ts'
import { startModelServer } from '../support/model-server.ts'
import { type TemporaryHome, temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const FEW = { tools: ['few'] } as const

test('a daemon starts its servers early, reloads on SIGHUP and on request, and ends them with itself', async () => {
  await using records = await recordFolder()
  await using home = await temporaryHome()
  await using model = await startModelServer([])
  const [one, two] = ['one', 'two'].map((name) => watchedServer(records.path, FEW, { name })) as Pair
  const text = `[llm]\nbase_url = "${model.url}"\nmodel = "scripted"\n`
  await home.write('config.toml', text)
  await declare(home, one)
  const daemon = await startTestDaemon(home)
  {
    await using _ending = daemon
    const pid = await readPid(daemon, one)
    await declare(home, one, two)
    daemon.kill('SIGHUP')
    await readPid(daemon, two)
    await home.write('config.toml', `${text}[deamon]\n`)
    daemon.kill('SIGHUP')
    await logs(home, /Cannot reload: config\.toml:4: .*deamon/)
    await assert.rejects(request(daemon.dispatch, 'reload', {}, NEVER), {
      kind: 'config',
      message: /^Cannot reload: config\.toml:4: /,
      hint: /fix it and reload again; until then nothing changes$/,
    })
    await home.write('config.toml', text)
    await request(daemon.dispatch, 'reload', {}, NEVER)
    assert.deepEqual([one.starts(), two.starts().length], [[pid], 1])
  }
  assert.equal((await daemon.ended).code, 0)
  assert.deepEqual([...one.starts(), ...two.starts()].filter(isRunning), [])
})

type Pair = [WatchedServer, WatchedServer]

function declare(home: TemporaryHome, ...servers: readonly WatchedServer[]): Promise<void> {
  const entries = servers.map(({ entry }) => ({ ...entry, startup_timeout_ms: 60_000 }))
  return home.write('agents/crab.toml', `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n${entriesToml(...entries)}`)
}

async function readPid({ dispatch }: TestDaemon, { starts, entry }: WatchedServer): Promise<number> {
  await until(`${entry.name} is connected`, async () => {
    const { peers } = await request(dispatch, 'mcpView', {}, NEVER)
    return peers.some(({ pid }) => pid !== undefined && pid === starts().at(-1))
  })
  return starts().at(-1)!
}

async function logs(home: TemporaryHome, words: RegExp): Promise<void> {
  await until(`the log says ${words}`, async () => words.test(await home.read('logs/daemon.log')))
}
