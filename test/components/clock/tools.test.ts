import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ToolCall } from 'crabtalk/component'
import { readDuration, showDuration } from '../../../components/clock/src/duration.ts'
import { timeTools } from '../../../components/clock/src/time-tools.ts'
import { timerTools } from '../../../components/clock/src/timer-tools.ts'

interface Property {
  type: string
  maxLength?: number
  items?: Property
}
const START = Date.parse('2026-11-22T14:00:00Z')
const call: ToolCall = { signal: new AbortController().signal, wantsProgress: false, progress() {} }

test('now returns the time here and in other zones', async () => {
  assert.equal(
    await run('now', {}),
    '2026-11-22T15:00:00+01:00 Europe/Berlin, Sunday, week 47\nUnix time 1795356000',
  )
  assert.equal(
    await run('now', { zones: ['tokyo', 'America/New_York', 'local'] }),
    `2026-11-22T23:00:00+09:00 Asia/Tokyo, Sunday, week 47
2026-11-22T09:00:00-05:00 America/New_York, EST, Sunday, week 47
2026-11-22T15:00:00+01:00 Europe/Berlin, Sunday, week 47
Unix time 1795356000`,
  )
})

test('convert uses the offsets of that date, and reports hours that do not exist', async () => {
  assert.equal(
    await run('convert', { time: '2026-07-01T09:00', from: 'America/New_York', to: ['UTC', 'local'] }),
    `2026-07-01T09:00:00-04:00 America/New_York, EDT, Wednesday, week 27
2026-07-01T13:00:00+00:00 UTC, Wednesday, week 27
2026-07-01T15:00:00+02:00 Europe/Berlin, Wednesday, week 27`,
  )
  assert.match(await run('convert', { time: '2026-03-29T02:30', to: ['UTC'] }), /That time does not exist/)
})

test('difference counts exactly, by the calendar and in working days', async () => {
  assert.equal(
    await run('difference', { from: '2026-10-20', to: '2026-11-22T15:00' }),
    `From 2026-10-20T00:00:00+02:00 to 2026-11-22T15:00:00+01:00, Europe/Berlin:
33 d 16 h (2908800 seconds)
By the calendar: 1 month, 2 days, 15 h
Monday to Friday: 24 days`,
  )
  assert.match(await run('difference', { to: '2026-11-22T14:00' }), /\(backwards\):\n1 h \(3600 seconds\)/)
})

test('add keeps the time of day over a change of clocks, and counts hours exactly', async () => {
  const time = '2026-10-24T12:00'
  assert.match(await run('add', { time, days: 1 }), /^2026-10-25T12:00:00\+01:00/)
  assert.match(await run('add', { time, hours: 24 }), /^2026-10-25T11:00:00\+01:00/)
  assert.match(await run('add', { time: '2024-02-29', years: 1, weeks: -1 }), /^2025-02-21T00:00:00/)
  assert.match(await run('add', { time: '2026-10-25T00:30Z', hours: 1 }), /^2026-10-25T02:30:00\+01:00/)
})

test('times beyond the calendars are rejected; the last valid ones are accepted', async () => {
  for (const [name, args] of [
    ['convert', { time: '@-99999999999', to: ['UTC'] }],
    ['add', { years: 1_000_000 }],
    ['add', { days: -1_000_000 }],
    ['add', { time: '9999-12-30', hours: 1_000 }],
  ] as const) {
    await assert.rejects(run(name, args), /^Error: The year (?!NaN).* is out of range: 1000 to 9999$/)
  }
  const text = await run('difference', { from: '9999-12-30', to: '9999-12-31', zone: 'UTC' })
  assert.match(text, /By the calendar: 1 day\n/)
})

test('the tools reject long texts', () => {
  const setting = { zone: 'UTC', now: () => START }
  const texts = [...timeTools(setting), ...timerTools(setting)].flatMap(({ inputSchema }) =>
    Object.entries((inputSchema?.['properties'] ?? {}) as Record<string, Property>)
      .map(([name, { items, ...one }]) => ({ name, ...(items ?? one) }))
      .filter(({ name, type }) => type === 'string' && name !== 'id'),
  )
  assert.ok(texts.length > 10)
  for (const { name, maxLength = Infinity } of texts) assert.ok(maxLength <= 200, name)
})

test('durations are parsed and formatted', () => {
  for (const [text, seconds] of [
    ['90', 90],
    ['1.5h', 5_400],
    ['10 minutes', 600],
    ['1h 30m', 5_400],
    ['2 days, 3 hours and 1 sec', 183_601],
    ['1:30:00', 5_400],
    ['05:00', 300],
  ] as const) {
    assert.equal(readDuration(text), seconds * 1_000, text)
  }
  for (const text of ['', 'soon', '-5', '5 months', '5 m x'])
    assert.throws(() => readDuration(text), /is not a duration/)
  assert.deepEqual([0, 59_600, 90_000, 180_000_000].map(showDuration), [
    '0 s',
    '1 min',
    '1 min 30 s',
    '2 d 2 h',
  ])
})

test('timers run, are listed, waited for with progress, and cancelled', async () => {
  const clock = { now: START }
  const timers = toolsAt(clock)
  assert.equal(await timers('timer_list', {}), 'No timers.')
  assert.match(
    await timers('timer_start', { duration: '20m', label: 'tea' }),
    /^t1 "tea": 20 min left, ends 2026-11-22T15:20:00/,
  )
  assert.match(await timers('timer_start', { until: '15:10' }), /^t2: 10 min left/)
  clock.now += 15 * 60_000
  assert.match(await timers('timer_list', {}), /^t2: ended 2026-11-22T15:10:00\+01:00\nt1 "tea": 5 min left/)
  assert.match(await timers('timer_wait', { id: 't2' }), /^t2: ended/)
  assert.match(await timers('timer_wait', { id: 't1', at_most: '0s' }), /^t1 "tea": 5 min left/)
  assert.match(await timers('timer_cancel', { id: 't1' }), /^Cancelled: t1/)
  await assert.rejects(timers('timer_wait', { id: 't1' }), /The timer "t1" does not exist: the timers are t2/)
  clock.now += 2 * 86_400_000
  await assert.rejects(timers('timer_cancel', { id: 't3' }), /the timers are t2|no timers are left/)
  assert.equal(await timers('timer_list', {}), 'No timers.')
})

test('waiting for a timer reports progress, ends in time, and stops with its call', async () => {
  const clock = { now: START }
  const timers = toolsAt(clock)
  const messages: string[] = []
  const progress = (message: string, done: number, total?: number) => {
    messages.push(`${message} ${done}/${total}`)
    clock.now += 20
  }
  await timers('timer_start', { duration: '0.02s' })
  assert.match(
    await timers('timer_wait', { id: 't1' }, { ...call, wantsProgress: true, progress }),
    /^t1: ended/,
  )
  assert.deepEqual(messages, ['0 s left 0/0'])
  await timers('timer_start', { duration: '1h' })
  const over = new AbortController()
  const waiting = timers('timer_wait', { id: 't2' }, { ...call, signal: over.signal })
  over.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
})

test('waiting ends when the timer is cancelled elsewhere', { timeout: 20_000 }, async () => {
  const real = toolsAt({ get now() { return Date.now() } }) // biome-ignore format: one line
  await real('timer_start', { duration: '1h' })
  const waiting = real('timer_wait', { id: 't1' })
  await real('timer_cancel', { id: 't1' })
  await assert.rejects(waiting, /The timer "t1" does not exist/)
})

test('timers reject two ends, no end, the past, years, and too many', async () => {
  const timers = toolsAt({ now: START })
  await assert.rejects(timers('timer_start', {}), /either "duration" or "until"/)
  await assert.rejects(timers('timer_start', { duration: '1s', until: 'now' }), /either/)
  await assert.rejects(timers('timer_start', { until: '14:59' }), /in the past/)
  await assert.rejects(timers('timer_start', { duration: '400 days' }), /366 days at most/)
  for (let count = 0; count < 100; count += 1) await timers('timer_start', { duration: '1h' })
  await assert.rejects(timers('timer_start', { duration: '1h' }), /100 timers already/)
})

function toolsAt(clock: { readonly now: number }) {
  const setting = { zone: 'Europe/Berlin', now: () => clock.now }
  const tools = [...timeTools(setting), ...timerTools(setting)]
  return async (name: string, args: Record<string, unknown>, at = call) =>
    (await tools.find((tool) => tool.name === name)!.run(args as never, at)) as string
}

function run(name: string, args: Record<string, unknown>): Promise<string> {
  return toolsAt({ now: START })(name, args)
}
