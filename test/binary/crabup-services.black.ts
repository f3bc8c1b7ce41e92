import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/base/message.ts'
import { type Finished, makeSandbox, type RunOptions, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { canRunSystemd, startSystemdUser } from '../support/systemd-user.ts'
import { makeTalk, writeConfig } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** The tests never use the service manager of this machine. */
const OWN = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }

test('a daemon is started, survives kill -9, restarts after its turns have ended, stops, and leaves nothing', async () => {
  await using talk = await makeTalk([
    { parts: ['Half'], end: 'hang' },
    { parts: ['Half'], end: 'hang' },
  ])
  const started = await crabup(talk, ['daemon', 'start'])
  assert.deepEqual([started.code, started.stderr], [0, ''])
  assert.match(
    started.stdout,
    /^daemon is ready \(pid \d+, \S+\), kept running by crabup's own supervisor: .+\n$/,
  )
  const again = await crabup(talk, ['daemon', 'start'])
  assert.deepEqual([again.code, again.stderr], [0, ''])
  const first = await status(talk)
  assert.match(
    again.stdout,
    new RegExp(
      `^daemon is already running \\(pid ${first['pid']}, \\S+\\), kept running by crabup's own supervisor\n$`,
    ),
  )
  assert.deepEqual([first['state'], first['manager'], first['code']], ['ready', 'supervisor', 0])

  process.kill(Number(first['pid']), 'SIGKILL')
  let second = first
  await until('it runs again', async () => {
    second = await status(talk)
    return second['state'] === 'ready' && second['pid'] !== first['pid']
  })
  assert.equal(second['restarts'], 1)

  const sending = talk.startSend(['-s', 'ann', 'go'], { env: WITH_DAEMON })
  await sending.prints(/Half/)
  const restarting = talk.start(['daemon', 'restart'], { program: 'crabup', env: OWN })
  await restarting.prints(/^crabup: waiting: a turn is running: crab\/ann\n$/, 'stderr')
  assert.equal((await status(talk))['pid'], second['pid'])
  await talk.run(['conversation', 'kill', 'crab/ann'], { env: WITH_DAEMON })
  await sending.finished
  const restarted = await restarting.finished
  assert.equal(restarted.code, 0)
  assert.match(restarted.stdout, /^daemon was restarted \(pid \d+, /)
  const third = await status(talk)
  assert.notEqual(third['pid'], second['pid'])

  const cut = talk.startSend(['-s', 'ann', 'go on'], { env: WITH_DAEMON })
  await cut.prints(/Half/)
  assert.equal((await crabup(talk, ['daemon', 'restart', '--now'])).code, 0)
  assert.equal((await cut.finished).code, 69)

  const stopped = await crabup(talk, ['daemon', 'stop'])
  assert.match(stopped.stdout, /^daemon stopped \(pid \d+\)\n$/)
  const idle = await crabup(talk, ['daemon', 'stop'])
  assert.deepEqual([idle.stdout, idle.stderr, idle.code], ['daemon is not running\n', '', 0])
  assert.equal((await status(talk))['code'], 3)
})

test('on a terminal, crabup asks whether to cancel running turns or to change nothing', async () => {
  await using talk = await makeTalk([{ parts: ['Half'], end: 'hang' }])
  await crabup(talk, ['daemon', 'start'])
  const { pid } = await status(talk)
  const sending = talk.startSend(['-s', 'ann', 'go'], { env: WITH_DAEMON })
  await sending.prints(/Half/)
  for (const [answer, code] of [
    ['c', 130],
    ['n', 0],
  ] as const) {
    assert.equal((await status(talk))['pid'], pid)
    const terminal = talk.terminal(['daemon', 'restart'], { program: 'crabup', env: OWN })
    await terminal.shows(/a turn is running: crab\/ann\s+\[w\]ait .*\[W\/n\/c\] /)
    terminal.type(`${answer}\r`)
    assert.equal((await terminal.finished).code, code, terminal.output())
  }
  assert.equal((await sending.finished).code, 69)
  assert.notEqual((await status(talk))['pid'], pid)
  await crabup(talk, ['daemon', 'stop'])
})

if (canRunSystemd()) {
  test('under systemd, a modified unit is shown before it is overwritten, backed up, and may be kept', async () => {
    await using talk = await makeTalk([])
    await using user = await startSystemdUser() // disposed first, with everything it runs
    const env = { ...OWN, ...user.env, CRABTALK_SERVICE_MANAGER: 'systemd' }
    assert.match(
      (await crabup(talk, ['daemon', 'start'], { env })).stdout,
      /, kept running by systemd, which starts it at login/,
    )
    const unit = String((await status(talk, 'daemon', env))['unit'])
    await writeFile(unit, (await readFile(unit, 'utf8')).replace('[Service]', '[Service]\nNice=5'))
    const terminal = talk.terminal(['daemon', 'restart'], { program: 'crabup', env })
    await terminal.shows(/-Nice=5[\s\S]*Rewrite it\? \[y\/N\] /)
    terminal.type('n\r')
    assert.equal((await terminal.finished).code, 4)
    assert.match(await readFile(unit, 'utf8'), /Nice=5/)
    const written = await crabup(talk, ['daemon', 'restart'], { env })
    assert.match(written.stderr, /^ {2}-Nice=5$/m)
    assert.equal(written.code, 0)
    assert.doesNotMatch(await readFile(unit, 'utf8'), /Nice=5/)
    assert.match(await readFile(`${unit}.edited`, 'utf8'), /Nice=5/)
    const disabled = await crabup(talk, ['daemon', 'disable'], { env })
    assert.deepEqual(
      [disabled.stdout, disabled.code],
      ['daemon does not start at login; it keeps running\n', 0],
    )
    const { enabled, code } = await status(talk, 'daemon', env)
    assert.deepEqual([enabled, code], [false, 0])
    assert.match((await crabup(talk, ['daemon', 'stop'], { env })).stdout, /^daemon stopped \(pid \d+\)\n$/)
  })
}

test('the service takes over from a daemon that a command started, and leaves one that a user runs alone', async () => {
  await using talk = await makeTalk([{ parts: ['hello'] }])
  const own = await startSandboxDaemon(talk)
  const refused = await crabup(talk, ['daemon', 'start'])
  assert.deepEqual([refused.stdout, refused.code], ['', 1])
  const why = `Cannot start daemon as a service: process ${own.pid} is already running, started by hand`
  assert.match(
    refused.stderr,
    new RegExp(`^crabup: error\\[conflict\\]: ${why}\nhint: .*crabtalk daemon stop`),
  )
  const shown = await crabup(talk, ['daemon', 'status'])
  assert.match(
    shown.stdout,
    /^ {2}kept by {3}nothing\n(.*\n)* {2}note {6}started by hand, not as a service\n/m,
  )
  const left = await crabup(talk, ['daemon', 'stop'])
  assert.deepEqual([left.stdout, left.code], ['daemon is not running\n', 0])
  assert.match(
    left.stderr,
    new RegExp(`the daemon .process ${own.pid}. keeps running: it was started by hand`),
  )
  await own[Symbol.asyncDispose]()

  const onDemand = await startSandboxDaemon(talk, ['--idle-exit', '10m'])
  const started = await crabup(talk, ['daemon', 'start'])
  assert.deepEqual([started.code, started.stderr], [0, ''])
  assert.equal((await onDemand.finished).code, 0)
  assert.notEqual((await status(talk))['pid'], onDemand.pid)
  await crabup(talk, ['daemon', 'stop'])
})

test('a wrong configuration is reported with its line before anything changes, and a dry run changes nothing', async () => {
  await using box = await makeSandbox()
  const plan = await crabup(box, ['daemon', 'start', '--dry-run'])
  assert.deepEqual([plan.code, plan.stderr], [0, ''])
  assert.match(plan.stdout, /^# daemon start, by crabup's own supervisor.*\n(.*\n)*\$ .* supervise /)
  assert.equal(existsSync(box.home), false)
  await writeConfig(box.home, 'modle = "x"\n')
  for (const verb of ['start', 'restart']) {
    const { code, stderr, stdout } = await crabup(box, ['daemon', verb])
    assert.deepEqual([code, stdout], [78, ''])
    assert.match(stderr, /config\.toml:1/)
  }
  await writeConfig(box.home, '')
  await mkdir(join(box.home, 'config'))
  await writeFile(join(box.home, 'config', 'crons.toml'), '[[cron]]\nid\n')
  const cron = await crabup(box, ['cron', 'start'])
  assert.deepEqual([cron.code, cron.stdout], [78, ''])
  assert.match(cron.stderr, /config\/crons\.toml:2/)
  assert.equal(existsSync(join(box.home, 'run', 'services')), false)
})

test('a service that does not become ready exits 69 and shows its output since the start', async () => {
  await using box = await makeSandbox()
  await install(box, 'broken', 'console.error("no such thing as luck"); process.exitCode = 78')
  await mkdir(join(box.home, 'logs'))
  await writeFile(join(box.home, 'logs', 'broken.crash.log'), 'long ago\n')
  const { code, stdout, stderr } = await crabup(box, ['broken', 'start'])
  assert.deepEqual([code, stdout], [69, ''])
  assert.match(
    stderr,
    /^ {2}no such thing as luck\n(.*\n)*crabup: error\[unavailable\]: Cannot confirm that broken is ready: it was started, but it ended with exit 78\nhint: crabup broken logs/,
  )
  assert.doesNotMatch(stderr, /long ago/)
  const now = await status(box, 'broken')
  assert.deepEqual([now['state'], now['code']], ['crashed', 3])
  assert.equal((await crabup(box, ['broken', 'stop'])).code, 0)
  await rm(join(box.home, 'packages', 'broken'), { recursive: true })
  const left = await crabup(box, ['broken', 'stop'])
  assert.match(left.stdout, /^broken stopped, and its unit removed: /)
  assert.equal((await crabup(box, ['broken', 'stop'])).code, 4)
})

test('a component is ready when it answers at its port; the hint that no agent uses it is printed once', async () => {
  await using box = await makeSandbox()
  await install(box, 'echo', COMPONENT)
  const started = await crabup(box, ['echo', 'start'])
  assert.equal(started.code, 0, started.stderr)
  assert.match(started.stdout, /^echo is ready \(pid \d+, 2\.0\.0, port \d+\), kept running by /)
  assert.match(
    started.stderr,
    /^crabup: no agent uses it yet: components = \["echo"\] in agents\/NAME\.toml .+\n$/,
  )
  const again = await crabup(box, ['echo', 'restart'])
  assert.deepEqual([again.stderr, again.code], ['', 0])
  assert.equal((await status(box, 'echo'))['code'], 0)
  assert.equal((await crabup(box, ['echo', 'stop'])).code, 0)
})

test('enable and disable exit 69 where no service manager starts services at login', async () => {
  await using box = await makeSandbox()
  for (const verb of ['enable', 'disable']) {
    const { code, stderr } = await crabup(box, ['daemon', verb])
    assert.equal(code, 69)
    assert.match(stderr, /^crabup: error\[unavailable\]: Cannot change whether daemon starts at login: /)
  }
})

test('without a model the first start says that the demo answers, and names keys that are set in the shell', async () => {
  await using box = await makeSandbox()
  const env = { ANTHROPIC_API_KEY: 'sk-ant-very-secret' }
  const { code, stdout, stderr } = await crabup(box, ['daemon', 'start'], { env })
  assert.equal(code, 0)
  assert.match(stdout, /^daemon is ready /)
  const [keys = '', model = '', ...rest] = stderr.split('\n')
  assert.match(
    keys,
    /^crabup: ANTHROPIC_API_KEY is set in this shell, which services do not see: add it to .*service\.env$/,
  )
  assert.match(model, /^crabup: no model is set up, so the built-in demo answers: .*service\.env.*$/)
  assert.deepEqual(rest, [''])
  await crabup(box, ['daemon', 'stop'])
  await using _ = await startSandboxDaemon(box)
  const refused = await crabup(box, ['daemon', 'start'], { env })
  assert.deepEqual([refused.code, refused.stderr.split('\n').length], [1, 3], refused.stderr)
})

test('on a terminal the first start asks for a model, hides the key, and stores it readable by its owner only', async () => {
  await using talk = await makeTalk([{ parts: ['hello'] }])
  await writeConfig(talk.home, '# mine\n')
  const terminal = talk.terminal(['daemon', 'start'], { program: 'crabup', env: OWN })
  await terminal.shows(/Number, or Enter to keep the built-in demo: /)
  terminal.type('9\r')
  await terminal.shows(/Its address.*: /)
  terminal.type('localhost\r')
  await terminal.shows(/That is not an http address\.\s+Its address.*: /)
  terminal.type(`${talk.server.url}\r`)
  await terminal.shows(/Its key.*: /)
  terminal.type('sk-wrongg\x7f\x15sk-secret\r')
  await terminal.shows(/Model.*: /)
  terminal.type('scripted\r')
  assert.equal((await terminal.finished).code, 0, terminal.output())
  assert.doesNotMatch(terminal.output(), /secret|sk-/)
  const config = await readFile(join(talk.home, 'config.toml'), 'utf8')
  assert.match(config, /^# mine\n/)
  assert.match(config, /api_key = "sk-secret"/)
  assert.equal((await stat(join(talk.home, 'config.toml'))).mode & 0o777, 0o600)
  const answer = await talk.send(['hi'], { env: WITH_DAEMON })
  assert.deepEqual([answer.stdout, answer.code], ['hello\n', 0])
  await crabup(talk, ['daemon', 'stop'])
})

test('Ctrl-D at any question of the first start writes and starts nothing', async () => {
  await using box = await makeSandbox()
  const start = (env: RunOptions['env'] = {}) =>
    box.terminal(['daemon', 'start'], { program: 'crabup', env: { ...OWN, ...env } })
  const keys = start({ ANTHROPIC_API_KEY: 'sk-ant-secret' })
  await keys.shows(/Save it in .*\[Y\/n\] /s)
  keys.type('\x04')
  assert.equal((await keys.finished).code, 130, keys.output())
  const menu = start()
  await menu.shows(/Enter to keep the built-in demo: /)
  menu.type('1\r')
  await menu.shows(/Your Anthropic key/)
  menu.type('\x04')
  assert.equal((await menu.finished).code, 130, menu.output())
  const number = start()
  await number.shows(/Enter to keep the built-in demo: /)
  number.type('\x04')
  assert.equal((await number.finished).code, 130, number.output())
  assert.match(number.output(), /Cannot start daemon: you left a question unanswered/)
  for (const file of ['service.env', 'config.toml', 'run/services/daemon.json']) {
    assert.equal(existsSync(join(box.home, file)), false, file)
  }
})

test('on a terminal the first start offers to save a key of the shell for services, which then have it', async () => {
  await using talk = await makeTalk([{ parts: ['hello'] }])
  const declared = '[[providers]]\nname = "own"\nkind = "anthropic"\n'
  await writeConfig(talk.home, `${declared}base_url = "${talk.server.url}"\nmodels = ["scripted"]\n`)
  const env = { ...OWN, ANTHROPIC_API_KEY: 'sk-ant-secret' }
  const terminal = talk.terminal(['daemon', 'start'], { program: 'crabup', env })
  await terminal.shows(/ANTHROPIC_API_KEY is set in this shell.*\s.*Save it in .*\[Y\/n\] /s)
  terminal.type('\r')
  assert.equal((await terminal.finished).code, 0, terminal.output())
  const file = join(talk.home, 'service.env')
  assert.match(await readFile(file, 'utf8'), /^ANTHROPIC_API_KEY='sk-ant-secret'$/m)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const environment = await readFile(`/proc/${(await status(talk))['pid']}/environ`, 'utf8').catch(
    () => undefined,
  )
  if (environment !== undefined) assert.match(environment, /(^|\0)ANTHROPIC_API_KEY=sk-ant-secret\0/)
  const again = await crabup(talk, ['daemon', 'start'], { env })
  assert.deepEqual([again.stderr, again.code], ['', 0])
  await crabup(talk, ['daemon', 'stop'])
})

/** A component with only what the component contract requires. */
const COMPONENT = `
const { createServer } = require('node:http')
const { mkdirSync, writeFileSync } = require('node:fs')
const run = process.env.CRABTALK_HOME + '/run'
const health = JSON.stringify({ name: 'echo', version: '2.0.0', pid: process.pid })
const server = createServer((_, response) => response.end(health)).listen(0, '127.0.0.1', () => {
  mkdirSync(run, { recursive: true })
  writeFileSync(run + '/echo.port', String(server.address().port))
})
`

async function crabup(box: Sandbox, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return await box.run(args, { program: 'crabup', ...options, env: { ...OWN, ...options.env } })
}

/** Returns the output of `status --json` and its exit code. */
async function status(box: Sandbox, name = 'daemon', env: RunOptions['env'] = {}): Promise<JsonObject> {
  const { stdout, code } = await crabup(box, [name, 'status', '--json'], { env })
  return { ...(JSON.parse(stdout) as JsonObject), code }
}

/** Writes the files that `crabup pull` leaves. */
async function install({ home }: Sandbox, name: string, script: string): Promise<void> {
  const folder = join(home, 'packages', name)
  await mkdir(join(folder, '1.0.0'), { recursive: true })
  await symlink('1.0.0', join(folder, 'current'))
  await writeFile(join(folder, '1.0.0', 'main.js'), script)
  const record = {
    ...{ package: name, version: '1.0.0', description: 'A component', script: 'main.js', runsOnNode: true },
    ...{ installedAt: '2026-11-22T00:00:00.000Z', source: name, origin: 'folder' },
  }
  await writeFile(join(folder, '1.0.0', 'crabup.json'), JSON.stringify(record))
}
