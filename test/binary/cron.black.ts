import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fireForSeconds } from '../support/cron-seconds.ts'
import { type Finished, HAS_DAEMONS, type RunOptions } from '../support/run-binary.ts'
import {
  cronEntry,
  cronLog,
  readSandboxCronState,
  startSandboxCron,
  writeCrons,
} from '../support/sandbox-cron.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { lastPrompt, makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const ANSWER = () => ({ parts: ['done'] })
const NEVER = { schedule: '0 0 0 1 1 *' }

/** Concurrent, because seconds pass in most of these tests. */
describe('crabtalk cron', { concurrency: 3 }, () => {
  test('run fires each second, never runs two turns of one entry concurrently, and picks up edits', async () => {
    const { said, fired } = await fireForSeconds(4)
    assert.ok(said.length >= 8 && fired >= 4)
    for (const [index, words] of said.entries())
      assert.equal(words, index % 2 === 0 ? 'user: do 1' : 'assistant: done')
  })

  test('add writes an entry and prints when it fires; list, next and remove find it', async () => {
    await using talk = await makeTalk(ANSWER)
    const nothing = await cron(talk, ['list'])
    assert.deepEqual([nothing.stdout, nothing.code], ['', 0])
    assert.match(nothing.stderr, /^No schedules yet; add one with crabtalk cron add/)
    const added = await cron(talk, [
      'add',
      '0 30 9 * * MON-FRI',
      'Say hello',
      '--quiet',
      '23:00-7:00',
      '--once',
    ])
    assert.match(
      added.stdout,
      /^entry 1: at 09:30, Monday to Friday, once\n {2}\w{3} \S+ 09:30:00 {2}in \d+\w\n$/,
    )
    assert.match(added.stderr, /no scheduler is running/)
    assert.equal(
      await readFile(join(talk.home, 'config', 'crons.toml'), 'utf8'),
      '[[cron]]\nid = 1\nschedule = "0 30 9 * * MON-FRI"\ncontent = "Say hello"\nagent = "crab"\nquiet_start = "23:00"\nquiet_end = "07:00"\nonce = true\n',
    )
    const next = await cron(talk, ['next', '@hourly', '-n', '2'])
    assert.match(next.stdout, /^TIME +LEFT\n\w{3} \S+ \d\d:00:00 .*\n\w{3} \S+ \d\d:00:00 .*\n$/)
    const listed = await cron(talk, ['list'])
    assert.match(listed.stdout, /\n1 +at 09:30, Monday to Friday +Say hello +crab +-\n$/)
    const { entries, scheduler } = JSON.parse((await cron(talk, ['list', '--json'])).stdout)
    assert.deepEqual([scheduler, entries.length, entries[0].id, entries[0].fired], [null, 1, 1, 0])
    assert.equal((await cron(talk, ['remove', '1'])).stdout, 'removed entry 1\n')
    const again = await cron(talk, ['remove', '1'])
    assert.deepEqual([again.code, /error\[missing\]/.test(again.stderr)], [1, true])
  })

  test('add rejects entries that can never work, and writes nothing', async () => {
    await using talk = await makeTalk(ANSWER)
    const lines: [readonly string[], number, RegExp][] = [
      [['0 99 * * * *', 'x'], 2, /invalid value for minute: 99\nhint: /],
      [['soon', 'x'], 2, /needs six fields/],
      [['@daily', '/no-such'], 1, /Cannot find the skill "no-such"/],
      [['@daily', '/no-such with words'], 1, /Cannot find the skill "no-such"\nhint: /],
      [['@daily', 'x', '-a', 'nobody'], 1, /Cannot find the agent "nobody"/],
      [['@daily', 'x', '--quiet', '23:00-07:00'], 2, /its quiet hours cover all its times/],
      [['@daily', 'x', '--quiet', 'night'], 2, /not a time range/],
      [['@daily', 'x', '--quiet', '25:00-01:00'], 2, /--quiet 25:00-01:00: .*\nhint: .*23:00-07:00/],
      [['@daily', ''], 2, /"content" must not be empty/],
    ]
    for (const [words, code, said] of lines) {
      const finished = await cron(talk, ['add', ...words])
      assert.deepEqual([finished.code, finished.stdout], [code, ''], finished.stderr)
      assert.match(finished.stderr, said)
    }
    assert.ok(!existsSync(join(talk.home, 'config', 'crons.toml')))
  })

  test('run ID fires an entry now and prints the answer, also for a /SKILL', async () => {
    await using talk = await makeTalk(ANSWER)
    const folder = join(talk.home, 'skills', 'check-feeds')
    await mkdir(folder, { recursive: true })
    await writeFile(
      join(folder, 'SKILL.md'),
      '---\nname: check-feeds\ndescription: Looks at feeds\n---\nLook.\n',
    )
    assert.equal((await cron(talk, ['add', '@yearly', '/check-feeds', '-s', 'feeds'])).code, 0)
    const { stdout, stderr, code } = await cron(talk, ['run', '1'])
    assert.deepEqual([stdout, stderr, code], ['done\n', '', 0])
    const skillText = `<skill name="check-feeds" folder="${folder}">\nLook.\n</skill>`
    assert.equal(lastPrompt(talk.server.requests[0]), skillText)
    assert.match(talk.server.requests[0]!.text, /workspace\/crab\/unattended/)
    assert.equal((await cron(talk, ['add', '@yearly', '/check-feeds short "a b"', '-s', 'short'])).code, 0)
    assert.equal((await cron(talk, ['run', '2'])).stdout, 'done\n')
    assert.equal(lastPrompt(talk.server.requests[1]), `${skillText}\n\nshort "a b"`)
    await rm(folder, { recursive: true })
    const missing = await cron(talk, ['run', '1'])
    assert.deepEqual([missing.stdout, missing.code], ['', 1])
    assert.match(missing.stderr, /error\[missing\]: Cannot find the skill "check-feeds"/)
    const listed = (await cron(talk, ['list'])).stdout
    assert.match(
      listed,
      /\n1 .* failed \w+( ago)? by hand: Cannot find the skill "check-feeds"\n2 .* ok \w+( ago)? by hand\n$/,
    )
    assert.equal((await cron(talk, ['run', '7'])).code, 1)
    assert.equal((await cron(talk, ['run', 'x'])).code, 2)
  })

  test('run ID follows the rules, and names the rule that would allow a denied call', async () => {
    const parts = [{ call: 'a', name: 'bash', args: '{"command":"touch made"}' }]
    await using talk = await makeTalk((_, index) => (index % 2 === 0 ? { parts } : { parts: ['done'] }))
    await cron(talk, ['add', '@yearly', 'make it', '-s', 'home']) // the sender name of a local user, through a socket
    const refused = await cron(talk, ['run', '1'])
    assert.deepEqual([refused.code, refused.stdout], [4, 'done\n'])
    assert.match(
      refused.stderr,
      /error\[denied\]: Cannot do "bash: touch made" without permission: no rule .*\n/,
    )
    assert.match(
      refused.stderr,
      /hint: under \[permissions\.unattended\] in agents\/crab\.toml: allow = \["bash\(touch/,
    )
    await using _daemon = HAS_DAEMONS ? undefined : await startSandboxDaemon(talk)
    assert.equal((await cron(talk, ['run', '1'], { env: WITH_DAEMON })).code, 4)
    await talk.run(['agent', 'edit', 'crab', '--set', 'permissions.unattended.allow=["bash(touch *)"]'])
    assert.equal((await cron(talk, ['run', '1'], { env: WITH_DAEMON })).code, 0)
    assert.ok(existsSync(join(talk.home, 'workspace', 'crab', 'unattended', 'made')))
  })

  test('run ID fails when the class of the sender is not allowed a call', async () => {
    const parts = [{ call: 'a', name: 'read', args: '{"path":"/etc/hostname"}' }]
    await using talk = await makeTalk((_, index) => (index % 2 === 0 ? { parts } : { parts: ['done'] }))
    await cron(talk, ['add', '@yearly', 'look', '-s', 'telegram:42'])
    const { code, stderr } = await cron(talk, ['run', '1'])
    assert.equal(code, 4)
    assert.match(
      stderr,
      /error\[denied\]: Cannot do "read .*hostname" without permission: .*\nhint: under \[permissions\.remote\]/,
    )
  })

  test('run continues when the daemon dies during a turn, and reports the failure', async () => {
    let isHanging = true
    await using talk = await makeTalk(() => ({ parts: ['done'], ...(isHanging && { end: 'hang' as const }) }))
    const daemon = await startSandboxDaemon(talk)
    await writeCrons(talk.home, cronEntry(1))
    await using _cron = await startSandboxCron(talk, { env: WITH_DAEMON })
    await until('its turn runs', () => talk.server.requests.length === 1)
    isHanging = false
    daemon.kill('SIGKILL')
    await daemon.finished
    const failed = async () => (await readSandboxCronState(talk.home)).entries[0]
    await until('it has failed', async () => ((await failed())?.failed ?? 0) === 1)
    await until('it went well without', async () => (await failed())?.last?.outcome === 'ok')
    assert.ok((await cronLog(talk.home)).some(({ level, entry }) => level === 'error' && entry === 1))
  })

  test('run has one instance at a time, and takes over from one that was killed', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeCrons(talk.home, cronEntry(1, NEVER))
    const first = await startSandboxCron(talk)
    const second = await cron(talk, ['run'])
    assert.equal(second.code, 1)
    assert.match(
      second.stderr,
      new RegExp(`error\\[conflict\\].*process ${first.pid} has been the scheduler of`),
    )
    assert.match((await cron(talk, ['list'])).stdout, /crab +in \d+\w+ *\n$/)
    first.kill('SIGKILL')
    await first.finished
    assert.match((await cron(talk, ['list'])).stderr, /no scheduler is running/)
    const third = await startSandboxCron(talk)
    third.kill('SIGTERM')
    const { code, stdout, stderr } = await third.finished
    assert.deepEqual([code, stdout, stderr], [0, '', ''])
    assert.ok(!existsSync(join(talk.home, 'run', 'cron.json')))
    assert.equal((await cronLog(talk.home)).at(-1)?.message, 'stopped')
  })

  test('list names the entries that the scheduler still fires while the file cannot be read', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeCrons(talk.home, cronEntry(1, NEVER))
    await using _cron = await startSandboxCron(talk)
    await until('it knows when the entry fires', async () =>
      (await readSandboxCronState(talk.home)).entries.some(({ next }) => next !== undefined),
    )
    await writeCrons(talk.home, '[[cron]]\nid = ')
    const { code, stderr } = await cron(talk, ['list'])
    assert.equal(code, 78)
    assert.match(stderr, /crons\.toml:2:6: .*\nhint: .*the scheduler fires the entries it read before: 1\n$/)
  })

  test('run waits for its turn on the first signal, and exits immediately on the second', async () => {
    await using talk = await makeTalk((_, index) => {
      return index === 0 ? { parts: ['do', 'ne'], paceMs: 700 } : { parts: ['x'], end: 'hang' }
    })
    await writeCrons(talk.home, cronEntry(1))
    const patient = await startSandboxCron(talk)
    await until('its turn runs', () => talk.server.requests.length === 1)
    patient.kill('SIGTERM')
    assert.equal((await patient.finished).code, 0)
    assert.equal((await readSandboxCronState(talk.home)).entries[0]?.last?.outcome, 'ok')
    const hurried = await startSandboxCron(talk)
    await until('its turn runs', () => talk.server.requests.length === 2)
    hurried.kill('SIGTERM')
    await until('it waits', async () => (await cronLog(talk.home)).at(-1)?.message === 'waiting for 1 to end')
    hurried.kill('SIGTERM')
    assert.equal((await hurried.finished).code, 143)
  })

  test('run ends when its home is removed, and does not create it again', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeCrons(talk.home, cronEntry(1, NEVER))
    const one = await startSandboxCron(talk)
    await rm(talk.home, { recursive: true })
    assert.equal((await one.finished).code, 0)
    assert.ok(!existsSync(talk.home))
  })

  test('run writes its ready file again when the file was removed', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeCrons(talk.home, cronEntry(1, NEVER))
    await using one = await startSandboxCron(talk)
    const ready = join(talk.home, 'run', 'cron.json')
    await rm(ready)
    await until('it is there again', () => existsSync(ready))
    assert.equal(JSON.parse(await readFile(ready, 'utf8')).pid, one.pid)
  })

  test('run fires nothing when it cannot write its ready file', async () => {
    await using talk = await makeTalk(ANSWER)
    await writeCrons(talk.home, cronEntry(1))
    await mkdir(join(talk.home, 'run', 'cron.json', 'in-the-way'), { recursive: true })
    const { code, stderr } = await cron(talk, ['run'])
    assert.equal(code, 1)
    assert.match(stderr, /error\[storage\]: Cannot write .+cron\.json/)
  })

  test('run survives a full disk and counts the failures', async (t) => {
    using disk = mountSmallDisk(400)
    if (!disk) return t.diagnostic('this user may not mount')
    await using talk = await makeTalk(ANSWER)
    const home = join(disk.path, 'home')
    const env = { CRABTALK_HOME: home, CRABTALK_NO_DAEMON: '1' }
    await writeCrons(home, cronEntry(1, { content: 'long '.repeat(2000) })) // long enough not to fit into the free rest of a disk block
    await writeFile(join(home, 'config.toml'), await readFile(join(talk.home, 'config.toml')))
    await using _cron = await startSandboxCron({ ...talk, home }, { env })
    await until('it has fired', () => talk.server.requests.length > 0)
    await writeFile(join(disk.path, 'ballast'), Buffer.alloc(400 * 1024)).catch(() => undefined)
    const filled = Math.floor(Date.now() / 1000)
    await until('two of its seconds have passed', () => Date.now() / 1000 > filled + 3)
    await rm(join(disk.path, 'ballast'))
    const known = async () => (await readSandboxCronState(home)).entries[0]
    await until('it says so', async () => ((await known())?.failed ?? 0) > 0)
    await until('it fires again', async () => (await known())?.last?.outcome === 'ok')
  })

  test('run reads variables from a file below its environment', async () => {
    await using talk = await makeTalk(ANSWER, () => '')
    const file = join(talk.cwd, 'service.env')
    await writeFile(
      file,
      `OPENAI_API_KEY='from-file'\nOPENAI_BASE_URL='${talk.server.url}'\nOPENAI_MODEL='scripted'\n`,
    )
    await writeCrons(talk.home, cronEntry(1))
    const env = { CRABTALK_NO_DAEMON: '1' }
    await using _cron = await startSandboxCron(talk, { args: ['--env-file', file], env })
    await until('it has fired', () => talk.server.requests.length > 0)
    assert.equal(talk.server.requests[0]?.headers.authorization, 'Bearer from-file')
  })
})

function cron(talk: Talk, args: readonly string[], options?: RunOptions): Promise<Finished> {
  return talk.run(['cron', ...args], options)
}
