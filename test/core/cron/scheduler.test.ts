import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { parseToml } from '../../../src/core/config/toml.ts'
import type { LoadedCrons } from '../../../src/core/cron/cron-file.ts'
import { EMPTY_CRON_STATE } from '../../../src/core/cron/cron-state.ts'
import { readCrons } from '../../../src/core/cron/crons.ts'
import { until } from '../../support/until.ts'
import { makeScheduler } from './scheduler-fixture.ts'

const HOUR = 3_600_000
const NEVER = { schedule: '0 0 0 1 1 *' }

/** These tests wait for seconds to pass, so they run in parallel. */
describe('Scheduler', { concurrency: true }, () => {
  test('Scheduler fires an entry repeatedly, and never runs two of its turns at the same time', async () => {
    await using stage = await makeScheduler(everySecond(1))
    await stage.begun(1)
    await until('two were skipped', () => stage.entry(1).skipped >= 2)
    assert.equal(stage.turns.length, 1)
    assert.equal(typeof stage.entry(1).running, 'number')
    stage.turns[0]!.ends()
    await stage.begun(2)
    const { fired, failed, last } = stage.entry(1)
    assert.deepEqual([fired, failed, last?.outcome, last?.run], [2, 0, 'ok', 'run'])
    assert.ok(stage.lines.includes('info entry 1 is still running: skipped'))
  })

  test('Scheduler continues after a failure, and counts consecutive ones', async () => {
    await using stage = await makeScheduler(everySecond(1))
    for (const count of [1, 2]) {
      await stage.begun(count)
      stage.turns[count - 1]!.fails('Cannot find it')
    }
    await stage.begun(3)
    const { fired, failed, failing, last } = stage.entry(1)
    assert.deepEqual([fired, failed, failing], [3, 2, 2])
    assert.deepEqual(last?.error, { kind: 'missing', message: 'Cannot find it' })
    stage.turns[2]!.ends()
    await until('it went well', () => stage.entry(1).last?.outcome === 'ok')
    assert.deepEqual([stage.entry(1).failing, stage.entry(1).failed], [0, 2])
    assert.ok(stage.lines.includes('error entry 1: Cannot find it'))
  })

  test('Scheduler restarts the timer of an edited entry, and keeps those of others', async () => {
    const other = entry({ id: 2, schedule: '0 0 0 1 1 *' })
    await using stage = await makeScheduler(entry({ id: 1, schedule: '0 0 0 1 1 *' }) + other)
    const { next } = stage.entry(2)
    await stage.write(everySecond(1) + other)
    await stage.begun(1)
    assert.equal(stage.turns[0]!.entry.id, 1)
    assert.deepEqual([stage.entry(2).next, stage.entry(2).fired], [next, 0])
    await stage.write(other)
    assert.deepEqual(
      stage.scheduler.state.entries.map(({ id }) => id),
      [2],
    )
  })

  test('Scheduler does not overlap turns of an entry that was removed and restored, and keeps its counts', async () => {
    await using stage = await makeScheduler(everySecond(1))
    await stage.begun(1)
    await stage.write('') // as editors write a file
    await stage.write(everySecond(1))
    await until('it was skipped', () => stage.entry(1).skipped >= 1)
    assert.deepEqual([stage.turns.length, stage.entry(1).fired], [1, 1])
  })

  test('Scheduler fires a one-shot entry once, and removes it from the file first', async () => {
    const other = entry({ id: 2, schedule: '0 0 0 1 1 *' })
    await using stage = await makeScheduler(`# Mine.\n${everySecond(1, true)}${other}`)
    await stage.begun(1)
    assert.match(await stage.read(), /id = 1/)
    assert.match(stage.saved.at(-1)?.entries[0]?.claim ?? '', /"id":1/) // before its turn starts
    stage.turns[0]!.fails('Cannot do it')
    await until('it is gone', async () => !(await stage.read()).includes('id = 1'))
    await until('that is known', () => stage.scheduler.state.gone.length === 1)
    assert.equal(await stage.read(), `# Mine.\n${other}`)
    const [gone] = stage.scheduler.state.gone
    assert.deepEqual([gone?.id, gone?.content, gone?.last.outcome], [1, 'do 1', 'failed'])
    assert.equal(stage.scheduler.state.highest, 2)
  })

  test('Scheduler does not fire a one-shot entry again that could not be removed from the file', async () => {
    const remove = async () => {
      throw new CrabError('storage', 'Cannot write: the disk is full')
    }
    await using stage = await makeScheduler('')
    const text = everySecond(1, true)
    await stage.write(text)
    await stage.begun(1)
    const state = stage.scheduler.state // the state after a scheduler died in that turn
    const crons = { read: async () => await stage.file.read(), remove }
    await using after = await makeScheduler('', { file: crons, state })
    await until('it has tried', () => after.lines.some((line) => line.includes('the disk is full')))
    assert.deepEqual([after.entry(1).next, after.turns.length], [undefined, 0])
  })

  test('Scheduler does not fire a one-shot entry while the firing cannot be recorded', async () => {
    let isFull = true
    const save = async () => {
      if (isFull) throw new CrabError('storage', 'Cannot write the state: the disk is full')
    }
    await using stage = await makeScheduler(everySecond(1, true), { save })
    await until('it could not', () => stage.entry(1).last?.outcome === 'failed')
    assert.deepEqual([stage.turns.length, stage.entry(1).fired], [0, 0])
    isFull = false
    await stage.begun(1)
  })

  test('Scheduler does not catch up what the machine slept through', async () => {
    await using stage = await makeScheduler(
      entry({ id: 1, schedule: `0 ${farMinute()} * * * *` }) + everySecond(2),
      {
        answers: 'at once',
      },
    )
    await stage.begun(1)
    stage.ahead = 5 * HOUR
    await until('it was missed', () => stage.entry(1).missed > 0)
    assert.deepEqual([stage.entry(1).missed, stage.entry(1).fired], [5, 0])
    assert.ok(stage.entry(1).next! > Date.now() + stage.ahead)
    const { length } = stage.turns
    await stage.begun(length + 1)
  })

  test('Scheduler follows a clock that was set back', async () => {
    await using stage = await makeScheduler(everySecond(1), { answers: 'at once' })
    await stage.begun(1)
    stage.ahead = -HOUR
    await until('that was seen', () => stage.lines.some((line) => line.includes('set back by 3600 s')))
    const { length } = stage.turns
    await stage.begun(length + 1)
  })

  test('Scheduler fires nothing twice after a small clock correction', async () => {
    await using stage = await makeScheduler(everySecond(1), { answers: 'at once' })
    await stage.begun(1)
    stage.ahead = -3000
    await stage.begun(3)
    const dues = stage.turns.length
    assert.equal(stage.entry(1).fired, dues)
    assert.ok(!stage.lines.some((line) => line.includes('set back')))
  })

  test('Scheduler runs at most sixteen turns at the same time; the others wait', async () => {
    const text = Array.from({ length: 18 }, (_, index) => everySecond(index + 1, true)).join('')
    await using stage = await makeScheduler(text)
    await until('all are due', () => stage.scheduler.turns === 18)
    await stage.begun(16)
    assert.equal(stage.turns.length, 16)
    stage.turns[0]!.ends()
    await stage.begun(17)
    assert.equal(stage.turns.length, 17)
  })

  test('end() lets turns end, and cancels slow ones', async () => {
    await using stage = await makeScheduler(everySecond(1) + everySecond(2))
    await stage.begun(2)
    const ending = stage.scheduler.end(60)
    stage.turns[0]!.ends()
    await ending
    const outcomes = [1, 2].map(
      (id) => stage.saved.at(-1)?.entries.find((one) => one.id === id)?.last?.outcome,
    )
    assert.deepEqual(outcomes.toSorted(), ['cancelled', 'ok'])
    assert.equal(stage.turns.length, 2)
    assert.ok(stage.saved.at(-1)?.entries.every(({ running }) => running === undefined))
  })

  test('Scheduler reports each problem of the file once, and keeps its previous entries', async () => {
    await using stage = await makeScheduler(everySecond(1), { answers: 'at once' })
    await stage.write(`${everySecond(1)}${entry({ id: 2, schedule: 'soon' })}`)
    await stage.write(`# Another look.\n${everySecond(1)}${entry({ id: 2, schedule: 'soon' })}[[cr`)
    await stage.scheduler.reconcile()
    const { length } = stage.turns
    await stage.begun(length + 1)
    const warnings = stage.lines.filter((line) => line.startsWith('warn'))
    assert.equal(warnings.length, 2)
    assert.match(warnings[0]!, /crons\.toml:9: "schedule" is invalid/)
    assert.match(warnings[1]!, /crons\.toml:\d+.*the previous entries stay in effect/)
    assert.equal(stage.scheduler.state.broken?.kind, 'config')
  })

  test('Scheduler continues the counts of an earlier one', async () => {
    const before = { id: 1, fired: 7, failed: 3, failing: 1, skipped: 2, missed: 4 }
    const state = { ...EMPTY_CRON_STATE, highest: 9, entries: [before, { ...before, id: 5 }] }
    await using stage = await makeScheduler(everySecond(1), { state })
    const { next: _, ...known } = stage.entry(1)
    assert.deepEqual(known, { id: 1, fired: 7, failed: 3, failing: 1, skipped: 2, missed: 4 })
    assert.deepEqual([stage.scheduler.state.entries.length, stage.scheduler.state.highest], [1, 9])
  })

  test('Scheduler counts an interrupted turn of an earlier one as a failure', async () => {
    const before = { id: 1, fired: 7, failed: 3, failing: 0, skipped: 0, missed: 0, running: 1000 }
    const text = entry({ ...NEVER, id: 1 }) + entry({ ...NEVER, id: 2, once: true })
    const claim = JSON.stringify(loadCrons(text).crons[1]!.entry)
    const state = { ...EMPTY_CRON_STATE, entries: [before, { ...before, id: 2, claim }] }
    await using stage = await makeScheduler(text, { state })
    const { failed, failing, last, running } = stage.entry(1)
    assert.deepEqual([failed, failing, last?.due, running], [4, 1, 1000, undefined])
    assert.match(last?.error?.message ?? '', /its scheduler was killed/)
    assert.ok(stage.lines.some((line) => line.startsWith('error entry 1: Cannot tell how the turn ended')))
    const [gone] = stage.scheduler.state.gone // the firing is recorded
    assert.deepEqual([gone?.id, gone?.last.outcome], [2, 'failed'])
    assert.doesNotMatch(await stage.read(), /id = 2/)
  })

  test('Scheduler keeps the state of an earlier one while it cannot read the file', async () => {
    const text = everySecond(1, true)
    await using stage = await makeScheduler(text)
    await stage.begun(1)
    const { state } = stage.scheduler
    await using after = await makeScheduler('[[cr', { state })
    assert.equal(after.scheduler.state.broken?.kind, 'config')
    assert.deepEqual(after.scheduler.state.entries, state.entries) // it may be killed now
    await after.write(text)
    assert.deepEqual([after.scheduler.state.gone.length, after.turns.length], [1, 0])
    assert.equal((await after.read()).trim(), '')
  })

  test('end() starts no waiting turn, and unfired one-shot entries stay in the file', async () => {
    const text = Array.from({ length: 17 }, (_, index) => everySecond(index + 1, true)).join('')
    await using stage = await makeScheduler(text)
    await until('all are due', () => stage.scheduler.turns === 17)
    await stage.begun(16)
    const ending = stage.scheduler.end(HOUR)
    for (const { ends } of stage.turns) ends()
    await ending
    assert.equal(stage.turns.length, 16)
    assert.match(await stage.read(), /^\n\[\[cron\]\]\nid = 17\n[^[]*$/)
    const { fired, claim, last } = stage.entry(17)
    assert.deepEqual([fired, claim, last?.outcome], [0, undefined, 'cancelled'])
  })

  test('Scheduler continues with an entry that was edited while its old version is removed', async () => {
    let standing = loadCrons(everySecond(1, true))
    const remove = async () => {
      standing = loadCrons(entry({ ...NEVER, id: 1 }))
      await stage.scheduler.reconcile()
      return false
    }
    const stage = await makeScheduler('', { file: { read: async () => standing, remove } })
    await using _ = stage
    await stage.begun(1)
    stage.turns[0]!.ends()
    await until('the old one is done', () => stage.lines.includes('info entry 1 was changed'))
    await stage.scheduler.reconcile()
    assert.equal(typeof stage.entry(1)?.next, 'number')
  })

  test('Scheduler does not restore an entry that it removed while the file was read', async () => {
    const empty = loadCrons('')
    const slow = Promise.withResolvers<void>()
    let read = async () => loadCrons(everySecond(1, true))
    const remove = async () => true
    await using stage = await makeScheduler('', { file: { read: () => read(), remove } })
    await stage.begun(1)
    read = async () => {
      read = async () => empty
      await slow.promise
      return loadCrons(everySecond(1, true))
    }
    const reading = stage.scheduler.reconcile()
    stage.turns[0]!.ends()
    await until('it is taken out', () => stage.scheduler.state.gone.length === 1)
    slow.resolve()
    await reading
    assert.deepEqual(stage.scheduler.state.entries, [])
  })
})

/** A minute that does not occur while a test runs. */
function farMinute(): number {
  return (new Date().getMinutes() + 30) % 60
}

function everySecond(id: number, once = false): string {
  return entry({ id, schedule: '* * * * * *', once })
}

function entry({ id, schedule, once = false }: { id: number; schedule: string; once?: boolean }): string {
  return `\n[[cron]]\nid = ${id}\nschedule = "${schedule}"\ncontent = "do ${id}"\n${once ? 'once = true\n' : ''}`
}

/** Returns the entries of a file that was read. */
function loadCrons(text: string): LoadedCrons {
  const document = parseToml('crons.toml', text)
  assert.ok(document.ok)
  return { crons: readCrons(document.value.table).crons, problems: [], broken: undefined }
}
