import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { packComponent } from '../../scripts/components/pack.ts'
import { pidAt } from '../support/component/programs.ts'
import type { RunOptions } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const UP: RunOptions = {
  program: 'crabup',
  env: { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor', npm_config_offline: 'true' },
}
const NOW = { call: 'c', name: 'mcp__clock__now', args: '{"zones":["Asia/Tokyo"]}' }
const ANSWERS = [[NOW], ['first'], ['without a clock'], [NOW], ['second']]

test('the clock is pulled, runs as a service, is found by a daemon, used, killed, found again, and removed', async () => {
  await using talk = await makeTalk((_, at) => ({ parts: ANSWERS[at]! }))
  await writeAgent(talk)
  await using daemon = await startSandboxDaemon(talk)
  await succeeds(talk, ['pull', await packComponent('clock', talk.cwd), '--yes'], /^installed clock 0\.1\.0/m)
  await succeeds(talk, ['clock', 'start'], /^clock is ready/)
  const first = await connectedClock(talk)
  await assertTellsTime(talk, 'first')

  process.kill((await pidAt(first))!, 'SIGKILL')
  const answer = await talk.send(['hello'], { env: WITH_DAEMON })
  assert.deepEqual([answer.stdout, answer.code], ['without a clock\n', 0])
  const second = await connectedClock(talk, first)
  assert.notEqual(second, first)
  await assertTellsTime(talk, 'second')
  assert.doesNotThrow(() => process.kill(daemon.pid, 0))

  await succeeds(talk, ['clock', 'stop'], /^clock stopped/)
  assert.deepEqual(
    readdirSync(join(talk.home, 'run')).filter((file) => file.startsWith('clock.')),
    [],
  )
  await until('the daemon knows', async () => (await clocks(talk)).length === 0)
  await succeeds(talk, ['rm', 'clock'], /clock/)
  assert.equal((await talk.run(['clock', 'start'], UP)).code, 4)
})

test('a component gets only the variables of service.env that it names and those with its prefix', {
  skip: process.platform !== 'linux' && 'reads /proc',
}, async () => {
  await using talk = await makeTalk(() => ({ parts: ['hello'] }))
  const lines = ["ANTHROPIC_API_KEY='sk-1'", "TZ='Asia/Tokyo'", "CLOCK__LEVEL='low'", "OTHER__LEVEL='no'"]
  await writeFile(join(talk.home, 'service.env'), `${lines.join('\n')}\n`, { mode: 0o600 })
  await succeeds(talk, ['pull', await packComponent('clock', talk.cwd), '--yes'], /^installed clock/m)
  await succeeds(talk, ['clock', 'start'], /^clock is ready/)
  const status = JSON.parse((await talk.run(['clock', 'status', '--json'], UP)).stdout)
  assert.deepEqual(status.variables, ['LEVEL', 'TZ'])
  const environment = (await readFile(`/proc/${status.pid}/environ`, 'utf8')).split('\0')
  assert.ok(environment.includes('LEVEL=low') && environment.includes('TZ=Asia/Tokyo'))
  assert.deepEqual(
    environment.filter((one) => /sk-1|ANTHROPIC|OTHER__|=no$/.test(one)),
    [],
  )
  await succeeds(talk, ['rm', 'clock'], /clock/)
  assert.deepEqual(readdirSync(join(talk.home, 'run', 'env')), [])
})

async function writeAgent({ home }: Talk): Promise<void> {
  await mkdir(join(home, 'agents'), { recursive: true, mode: 0o700 })
  const text = 'components = ["clock"]\n\n[permissions]\nallow = ["mcp__clock__*"]\n'
  await writeFile(join(home, 'agents/crab.toml'), text)
}

async function succeeds(talk: Talk, args: readonly string[], wanted: RegExp): Promise<void> {
  const { code, stdout, stderr } = await talk.run(args, UP)
  assert.equal(code, 0, stderr)
  assert.match(stdout, wanted)
}

interface Row {
  name: string
  state: string
  url: string
}

async function clocks(talk: Talk): Promise<Row[]> {
  const { stdout } = await talk.run(['mcp', 'list', '--json'], { env: WITH_DAEMON })
  return (JSON.parse(stdout) as Row[]).filter(({ name, state }) => name === 'clock' && state === 'connected')
}

/** Waits until the daemon is connected to a clock at a port other than `before`; returns its port. */
async function connectedClock(talk: Talk, before?: number): Promise<number> {
  let port: number | undefined
  await until('the daemon is connected to the clock', async () => {
    const [row] = await clocks(talk)
    port = row && Number(new URL(row.url).port)
    return port !== undefined && port !== before
  })
  return port!
}

/** Runs a turn that asks the clock and reads its answer. */
async function assertTellsTime(talk: Talk, said: string): Promise<void> {
  const { stdout, stderr, code } = await talk.send(['what time is it in Tokyo?'], { env: WITH_DAEMON })
  assert.deepEqual([stdout, stderr, code], [`${said}\n`, '', 0])
  assert.match(talk.server.requests.at(-1)!.text, /T\d\d:\d\d:\d\d\+09:00 Asia\/Tokyo/)
}
