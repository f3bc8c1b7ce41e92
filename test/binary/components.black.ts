import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { freePort, startComponent, type TestComponent } from '../support/component.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const ECHO = { call: 'c', name: 'mcp__clock__echo', args: '{"text":"tick"}' }
const DAEMON = { env: WITH_DAEMON }

test('a daemon follows a component that appears, is called, moves, is called, and dies', async () => {
  await using records = await recordFolder()
  await using talk = await makeTalk((_, at) => ({ parts: at % 2 === 0 ? [ECHO] : ['done'] }))
  await writeAgent(talk, 'components = true\n\n[permissions]\nallow = ["mcp__clock__*"]\n')
  await using _daemon = await startSandboxDaemon(talk)
  await using clock = await startComponent(join(talk.home, 'run'), 'clock', records.path)
  await untilState(talk, 'connected')
  await assertCalled(talk, clock)

  await clock.move()
  await untilListed(talk, ({ state, url }) => state === 'connected' && url === clock.server.url)
  await assertCalled(talk, clock)
  const peers = JSON.parse((await talk.run(['mcp', 'ps', '--json'], DAEMON)).stdout) as { target: string }[]
  assert.deepEqual(
    peers.map(({ target }) => target),
    [clock.server.url],
  )

  await clock.kill()
  const failed = await talk.send(['again'], DAEMON)
  assert.deepEqual([failed.stdout, failed.code], ['done\n', 0])
  await untilState(talk, 'failed')
  const health = await talk.run(['mcp', 'health'], DAEMON)
  assert.match(health.stdout, /^clock +failed .*refused/m)
  await clock.withdraw()
  await untilListed(talk, undefined)
})

test('reports a component that is not listening, is invalid, or cannot be changed', async () => {
  await using talk = await makeTalk([{ parts: ['yes'] }])
  await writeAgent(talk, 'components = true\n')
  const run = join(talk.home, 'run')
  await mkdir(run, { recursive: true, mode: 0o700 })
  await writeFile(join(run, 'stale.port'), `${await freePort()}\n`)
  await writeFile(join(run, 'odd.port'), 'soon\n')
  await using _daemon = await startSandboxDaemon(talk)
  const answer = await talk.send(['hello'], DAEMON)
  assert.deepEqual([answer.stdout, answer.code], ['yes\n', 0])
  await untilListed(talk, ({ name, state }) => name === 'stale' && state === 'failed')
  const list = await talk.run(['mcp', 'list'], DAEMON)
  assert.match(list.stdout, /^stale +failed +- +http +http:\/\/127\.0\.0\.1:\d+\/mcp$/m)
  assert.match(list.stderr, /^crabtalk: odd: run\/odd\.port: it does not hold a port number$/m)
  assert.match((await talk.run(['mcp', 'ps'], DAEMON)).stdout, /odd +failed/)
  for (const args of [
    ['remove', 'stale'],
    ['set', 'stale', 'timeout_ms=5'],
    ['disable', 'stale'],
  ]) {
    const refused = await talk.run(['mcp', ...args], DAEMON)
    assertFailed(refused, 'invalid', {
      message: /comes from the port file run\/stale\.port/,
      hint: /"components"/,
    })
  }
})

test('a command without a daemon reads the folder once, for agents that use components', async () => {
  await using records = await recordFolder()
  await using talk = await makeTalk((_, at) => ({ parts: at === 0 ? [ECHO] : ['done'] }))
  await using clock = await startComponent(join(talk.home, 'run'), 'clock', records.path)
  await writeAgent(talk, 'components = ["clock"]\n\n[permissions]\nallow = ["mcp__clock__*"]\n')
  const answer = await talk.send(['what time is it'])
  assert.deepEqual([answer.stdout, answer.stderr, answer.code], ['done\n', '', 0])
  assert.equal(countCalls(clock), 1)
  await writeAgent(talk, '')
  await talk.send(['and now'])
  assert.doesNotMatch(talk.server.requests.at(-1)!.text, /mcp__clock/)
})

async function writeAgent({ home }: Talk, text: string): Promise<void> {
  await mkdir(join(home, 'agents'), { recursive: true, mode: 0o700 })
  await writeFile(join(home, 'agents/crab.toml'), text)
}

interface Row {
  name: string
  state: string
  url: string | null
}

function untilState(talk: Talk, wanted: string): Promise<void> {
  return untilListed(talk, ({ name, state }) => name === 'clock' && state === wanted)
}

/** Waits until a server of the default agent matches, or is not listed when `isSo` is undefined. */
async function untilListed(talk: Talk, isSo: ((row: Row) => boolean) | undefined): Promise<void> {
  await until('the servers are as they should be', async () => {
    const rows = JSON.parse((await talk.run(['mcp', 'list', '--json'], DAEMON)).stdout) as Row[]
    return isSo === undefined ? rows.length === 0 : rows.some(isSo)
  })
}

/** Runs a turn that is offered the component's tool, calls it, and reads the answer. */
async function assertCalled(talk: Talk, clock: TestComponent): Promise<void> {
  const before = countCalls(clock)
  const { stdout, stderr, code } = await talk.send(['what time is it'], DAEMON)
  assert.deepEqual([stdout, stderr, code], ['done\n', '', 0])
  assert.match(talk.server.requests.at(-1)!.text, /"content":"tick"/)
  assert.equal(countCalls(clock), before + 1)
}

function countCalls({ server }: TestComponent): number {
  return server.requests().filter(({ tool }) => tool === 'echo').length
}
