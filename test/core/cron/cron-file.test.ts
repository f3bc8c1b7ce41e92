import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { test } from 'node:test'
import { CronFile, problemLines } from '../../../src/core/cron/cron-file.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const NEVER = new AbortController().signal
const FEEDS = { schedule: '0 */2 * * * *', skill: 'check-feeds', agent: 'crab', sender: 'cron', once: false }
/** The example in the documentation. */
const RFC = `[[cron]]
id = 1
schedule = "0 */2 * * * *"
skill = "check-feeds"
agent = "crab"
sender = "cron"
quiet_start = "23:00"
quiet_end = "07:00"
once = false
`

test('read() accepts the documented format, and a missing file as empty', async () => {
  await using home = await cronHome()
  assert.deepEqual(await home.open().read(), { crons: [], problems: [], broken: undefined })
  await home.write(RFC)
  const { crons, problems } = await home.open().read()
  assert.deepEqual(problems, [])
  const quiet = { quiet_start: '23:00', quiet_end: '07:00' }
  assert.deepEqual(
    crons.map(({ entry }) => entry),
    [{ id: 1, ...FEEDS, ...quiet }],
  )
  assert.deepEqual(crons[0]?.timing.quiet, { start: 1380, end: 420 })
})

test('read() reports every invalid entry with its line, and accepts the others', async () => {
  await using home = await cronHome()
  await home.write(`nonsense = 1

[[cron]]
id = 1
schedule = "0 99 * * * *"
skill = "a"

[[cron]]
schedule = "0 0 * * * *"
content = "no id"

[[cron]]
id = 7
schedule = "0 0 * * * *"
content = "fine"
quiet_start = "23:00"

[[cron]]
id = 7
schedule = "0 0 * * * *"
content = "again"

[[cron]]
id = 8
schedule = "0 0 * * * *"
skil = "typo"
quiet_start = "7:00"
quiet_end = "07:00"

[[cron]]
id = 9
schedule = "0 0 * * * *"
skill = "a"
content = "b"
quiet_start = "07:00"
quiet_end = "07:00"
`)
  const standing = await home.open().read()
  assert.deepEqual(
    standing.crons.map(({ entry }) => entry.content),
    ['fine'],
  )
  assert.equal(standing.crons[0]?.timing.quiet, undefined)
  assert.deepEqual(problemLines(standing), [
    'config/crons.toml:1: unknown key "nonsense"',
    'config/crons.toml:5: "schedule" is invalid: invalid value for minute: 99 (for example "0 0 9 * * MON-FRI")',
    'config/crons.toml:8: "id" is missing (id = 10 is free)',
    'config/crons.toml:16: "quiet_start" is ignored: it has no "quiet_end" (add quiet_end = "07:00")',
    'config/crons.toml:19: "id" is already used by another entry (give each entry its own id)',
    'config/crons.toml:26: unknown key "skil" (did you mean "skill"?)',
    'config/crons.toml:27: "quiet_start" must be a time such as "23:00"',
    'config/crons.toml:34: "content" cannot be combined with "skill" (remove one of them)',
    'config/crons.toml:36: "quiet_end" is the same time as "quiet_start"',
  ])
})

test('read() keeps the previous entries while the file cannot be read, and says so', async () => {
  await using home = await cronHome()
  const file = home.open()
  await home.write(RFC)
  const before = await file.read()
  await home.write(`${RFC}\n[[cron`)
  const broken = await file.read()
  assert.deepEqual(broken.crons, before.crons)
  assert.match(broken.broken?.message ?? '', /crons\.toml:11/)
  assert.equal(await file.read(), broken)
  await home.write(`${RFC}\n`)
  assert.equal((await file.read()).broken, undefined)
  await rm(home.path)
  assert.deepEqual((await file.read()).crons, [])
})

test('add() and remove() keep comments, order and invalid entries unchanged', async () => {
  await using home = await cronHome()
  const file = home.open()
  const text = `# Mine.\n\n# Wrong, for now.\n[[cron]]\nid = 4\nschedule = "soon"\nskill = "x"\n`
  await home.write(text)
  const added = await file.add({ ...FEEDS, once: true }, 1, NEVER)
  assert.deepEqual(added, { id: 5, ...FEEDS, once: true })
  const more = `
[[cron]]
id = 5
schedule = "0 */2 * * * *"
skill = "check-feeds"
agent = "crab"
once = true
`
  assert.equal(await home.read(), text + more)
  assert.equal((await file.add(FEEDS, 9, NEVER)).id, 9)
  assert.equal(await file.remove(9, NEVER), true)
  assert.equal(await file.remove(9, NEVER), false)
  assert.equal(await home.read(), text + more)
  assert.equal(await file.remove(4, NEVER), true)
  assert.doesNotMatch(await home.read(), /soon|Wrong/)
})

test('remove() with an entry keeps one that was edited since', async () => {
  await using home = await cronHome()
  const file = home.open()
  await home.write(RFC)
  const { entry } = (await file.read()).crons[0]!
  await home.write(RFC.replace('check-feeds', 'other'))
  assert.equal(await file.remove(1, NEVER, entry), false)
  await home.write(`# A comment alone is no other entry.\n${RFC}`)
  assert.equal(await file.remove(1, NEVER, entry), true)
})

test('concurrent changes by several processes lose nothing', async () => {
  await using home = await cronHome()
  const files = [home.open(), home.open(), home.open()]
  const added = await Promise.all(Array.from({ length: 12 }, (_, n) => files[n % 3]!.add(FEEDS, 1, NEVER)))
  const ids = added.map(({ id }) => id).toSorted((a, b) => a - b)
  assert.deepEqual(
    ids,
    Array.from({ length: 12 }, (_, n) => n + 1),
  )
  assert.equal((await files[0]!.read()).crons.length, 12)
})

test('a change rejects an invalid TOML file, and leaves it alone', async () => {
  await using home = await cronHome()
  await home.write('[[cron\n')
  await assert.rejects(home.open().add(FEEDS, 1, NEVER), { kind: 'config', message: /crons\.toml:1/ })
  await home.write('cron = 1\n')
  await assert.rejects(home.open().remove(1, NEVER), { kind: 'config' })
  assert.equal(await home.read(), 'cron = 1\n')
})

test('an entry whose sender has control characters is invalid, and does not fire', async () => {
  await using home = await cronHome()
  await home.write('[[cron]]\nid = 1\nschedule = "@daily"\ncontent = "a"\nsender = "tg:1\\u0000x"\n')
  const { crons, problems } = await home.open().read()
  assert.deepEqual(crons, [])
  assert.deepEqual(
    problems.map(({ line, message }) => [line, message]),
    [[5, '"sender" must not have invisible characters, or start or end with a blank']],
  )
})

test('renameAgent() rewrites its entries, also implicit and invalid ones', async () => {
  await using home = await cronHome()
  const file = home.open()
  assert.equal(await file.renameAgent('crab', 'lobster', NEVER), 0)
  await home.write(`[[cron]]
id = 1
schedule = "@daily" # each morning
content = "a"

[[cron]]
id = 2
schedule = "soon"
content = "b"
agent = "crab"

[[cron]]
id = 3
schedule = "@daily"
content = "c"
agent = "scout"
`)
  assert.equal(await file.renameAgent('crab', 'lobster', NEVER), 2)
  assert.deepEqual((await home.read()).match(/agent = .*/g), [
    'agent = "lobster"',
    'agent = "lobster"',
    'agent = "scout"',
  ])
  assert.match(await home.read(), /# each morning/)
})

/** Opens the schedules of a home, for any number of processes. */
async function cronHome() {
  const home = await temporaryHome()
  const leases: SqliteLeases[] = []
  const { crons: path, leases: database, proc } = home.paths
  return {
    path,
    open() {
      const own = new SqliteLeases({ database, proc })
      leases.push(own)
      return new CronFile({ path, lock: (name, signal) => own.take(name, signal) })
    },
    write: (text: string) => home.write('config/crons.toml', text),
    read: () => home.read('config/crons.toml'),
    async [Symbol.asyncDispose]() {
      for (const own of leases) await own[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}
