import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { LogLevel } from '../../../src/core/base/log.ts'
import { type Firing, MAX_DEPTH, MAX_RUNS } from '../../../src/core/bus/event-bus.ts'
import { until } from '../../support/until.ts'
import { busHome, openTestBus } from './bus-home.ts'

const NEVER = new AbortController().signal
const EVENT = { source: 'rss:fetch', payload: 'hello', runId: '', depth: 0 }

test('publish() fires the subscriptions to exactly that source, in order, with the payload unchanged', async () => {
  await using place = await openPlace()
  const { store, bus, trace, fired } = place
  for (const [index, source] of ['rss:fetch', 'rss', 'rss:fetch:2', 'RSS:fetch', 'rss:fetch'].entries())
    await store.add({ source, target_agent: `to-${index}`, once: false }, NEVER)
  const payload = ' line\n\u0007€'
  const id = await bus.publish({ ...EVENT, payload })
  await bus.settled()
  assert.deepEqual(
    fired.map(({ agent, sender, content, depth }) => [agent, sender, content, depth]),
    ['to-0', 'to-4'].map((agent) => [agent, 'event:rss:fetch', payload, 1]),
  )
  const [event] = trace.latest(10)
  assert.deepEqual(
    [event?.id, event?.payload, event?.fired.map(({ subscriptionId }) => subscriptionId)],
    [id, payload, [1, 5]],
  )
  assert.deepEqual(
    event?.fired.map(({ runId }) => runId),
    fired.map(({ runId }) => runId),
  )
})

test('publish() without a payload passes the source to the agent', async () => {
  await using place = await openPlace()
  await place.store.add({ source: 'tick', target_agent: 'crab', once: false }, NEVER)
  await place.bus.publish({ ...EVENT, source: 'tick', payload: ' \n' })
  assert.equal(place.fired[0]?.content, 'tick')
})

test('publish() starts an agent once for any number of its subscriptions, and uses up one-shot ones', async () => {
  await using place = await openPlace()
  for (const once of [true, false])
    await place.store.add({ source: 'tick', target_agent: 'crab', once }, NEVER)
  await place.store.add({ source: 'tick', target_agent: 'scout', once: false }, NEVER)
  await place.bus.publish({ ...EVENT, source: 'tick' })
  assert.deepEqual(
    place.fired.map(({ agent }) => agent),
    ['crab', 'scout'],
  )
  assert.deepEqual(
    (await place.store.read()).subscriptions.map(({ id }) => id),
    [2, 3],
  )
})

test('publish() does not wait for turns, and a refused turn is in the trace and the log', async () => {
  const gate = Promise.withResolvers<void>()
  await using place = await openPlace({ fire: () => gate.promise })
  await place.store.add({ source: 'rss:fetch', target_agent: 'gone', once: true }, NEVER)
  await place.bus.publish(EVENT)
  const run = place.trace.latest(1)[0]!.fired[0]!
  assert.equal(run.state, 'waiting')
  gate.reject(new CrabError('missing', 'Cannot find the agent "gone"'))
  await place.bus.settled()
  assert.deepEqual([run.state, run.error], ['refused', 'Cannot find the agent "gone"'])
  assert.deepEqual(
    place.logged.map(({ level, message }) => `${level} ${message}`),
    ['info event published', 'info event fired', 'warn event refused'],
  )
  assert.deepEqual((await place.store.read()).subscriptions, [], 'it has had its one event')
})

test('a one-shot subscription fires once under concurrency, and is removed before it fires', async () => {
  const left: string[] = []
  await using place = await openPlace({
    fire: async () => void left.push(await readFile(place.home.file, 'utf8')),
  })
  await place.store.add({ source: 'rss:fetch', target_agent: 'crab', once: true }, NEVER)
  await Promise.all(Array.from({ length: 20 }, () => place.bus.publish(EVENT)))
  await place.bus.settled()
  assert.equal(left.length, 1)
  assert.doesNotMatch(left[0]!, /rss:fetch/)
  assert.equal(place.trace.latest(100).flatMap(({ fired }) => fired).length, 1)
})

test('a one-shot subscription that cannot be removed from disk does not fire, and says why; the others do', async () => {
  await using place = await openPlace()
  for (const isOnce of [true, false])
    await place.store.add({ source: 'rss:fetch', target_agent: 'crab', once: isOnce }, NEVER)
  await place.store.read()
  const text = await place.home.read()
  await place.home.write('[[subscription')
  await place.bus.publish(EVENT)
  const states = place.trace.latest(1)[0]!.fired.map(({ state, error }) => `${state} ${error}`)
  assert.match(states[0]!, /^refused events\/subscriptions\.toml:1/)
  assert.deepEqual(states.slice(1), ['waiting '])
  assert.match(place.logged[1]!.message, /subscriptions are unchanged/)
  await place.bus.publish(EVENT)
  assert.equal(place.logged.filter(({ level }) => level === 'error').length, 1, 'said once')
  await place.home.write(text)
  await place.bus.publish(EVENT)
  assert.equal(place.fired.length, 3)
})

test('an event at depth 16 fires nothing and uses nothing up', async () => {
  await using place = await openPlace()
  await place.store.add({ source: 'rss:fetch', target_agent: 'crab', once: true }, NEVER)
  await place.bus.publish({ ...EVENT, depth: MAX_DEPTH })
  assert.deepEqual(place.fired, [])
  const [run] = place.trace.latest(1)[0]!.fired
  assert.equal(run?.state, 'refused')
  assert.match(run?.error ?? '', /16 events led to this one, which is the limit/)
  assert.equal(place.logged.at(-1)?.message, 'event refused')
  await place.bus.publish({ ...EVENT, depth: MAX_DEPTH - 1 })
  assert.deepEqual(
    place.fired.map(({ depth }) => depth),
    [16],
  )
})

test('no turn is started while 1,000 fired turns are running, and nothing is used up', async () => {
  await using place = await openPlace()
  await place.store.add({ source: 'rss:fetch', target_agent: 'crab', once: false }, NEVER)
  await place.store.add({ source: 'once', target_agent: 'crab', once: true }, NEVER)
  for (let index = 0; index < MAX_RUNS; index++) await place.bus.publish(EVENT)
  await place.bus.publish({ ...EVENT, source: 'once' })
  assert.equal(place.fired.length, MAX_RUNS)
  assert.match(
    place.trace.latest(1)[0]?.fired[0]?.error ?? '',
    /1000 turns started by events are still running/,
  )
  place.trace.endRun(place.fired[7]!.runId, 'done')
  await place.bus.publish({ ...EVENT, source: 'once' })
  assert.equal(place.fired.at(-1)?.sender, 'event:once')
})

test('publish() rejects invalid events', async () => {
  await using place = await openPlace()
  const invalid = { kind: 'invalid', message: /^Cannot publish the event: / }
  for (const source of ['', 'a\nb', 'x'.repeat(257)])
    await assert.rejects(place.bus.publish({ ...EVENT, source }), invalid)
  await assert.rejects(place.bus.publish({ ...EVENT, payload: '€'.repeat(349_526) }), invalid)
  for (const id of ['x', '01BX5ZZKBKACTAV9WEVGEMMVS', '01bx5zzkbkactav9wevgemmvrz'])
    await assert.rejects(place.bus.publish({ ...EVENT, id }), invalid)
  const id = '01BX5ZZKBKACTAV9WEVGEMMVRZ'
  assert.equal(await place.bus.publish({ ...EVENT, id, payload: 'x'.repeat(1024 * 1024) }), id)
  await assert.rejects(place.bus.publish({ ...EVENT, id }), { kind: 'conflict' })
  assert.equal(place.trace.latest(100).length, 1)
})

test('a closed bus fires nothing, including events published before', async () => {
  await using place = await openPlace()
  await place.store.add({ source: 'rss:fetch', target_agent: 'crab', once: false }, NEVER)
  const published = place.bus.publish(EVENT)
  place.bus.close()
  await published
  assert.deepEqual(place.fired, [])
  assert.equal(place.trace.latest(1)[0]?.fired[0]?.state, 'refused')
  await assert.rejects(place.bus.publish(EVENT), { kind: 'unavailable' })
})

test('a one-shot subscription never fires twice, wherever kill -9 ends the process', async () => {
  await using place = await openPlace()
  const count = 40
  const one = (index: number) =>
    `[[subscription]]\nid = ${index + 1}\nsource = "s${index}"\ntarget_agent = "crab"\nonce = true\n`
  await place.home.write(Array.from({ length: count }, (_, index) => one(index)).join('\n'))
  const fired = () => readFile(join(place.folder, 'fired'), 'utf8').catch(() => '')
  const program = join(import.meta.dirname, 'publish-program.ts')
  const begin = () =>
    spawn(process.execPath, [program, place.folder, String(count)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  for (const lines of [3, 12, 25]) {
    const child = begin()
    await until(`${lines} have fired`, async () => (await fired()).split('\n').length > lines)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const left = (await place.home.open().read()).subscriptions.map(({ source }) => `event:${source}`)
    const done = (await fired()).trim().split('\n')
    assert.deepEqual(
      left.filter((sender) => done.includes(sender)),
      [],
      'what fired is off the disk',
    )
  }
  const [code] = await once(begin(), 'exit')
  const done = (await fired()).trim().split('\n')
  assert.equal(code, 0)
  assert.equal(new Set(done).size, done.length)
  assert.ok(done.length >= count - 3, 'a kill costs one event at most')
  assert.deepEqual((await place.home.open().read()).subscriptions, [])
})

async function openPlace(more: { fire?: (firing: Firing) => Promise<void> } = {}) {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const home = busHome(dir.path)
  const store = home.open()
  const fired: Firing[] = []
  const logged: { level: LogLevel; message: string }[] = []
  const { bus, trace } = openTestBus(store, {
    fire: async (firing) => void fired.push(firing),
    log: (level, message) => void logged.push({ level, message }),
    ...more,
  })
  return {
    home,
    folder: dir.path,
    store,
    bus,
    trace,
    fired,
    logged,
    async [Symbol.asyncDispose]() {
      await home[Symbol.asyncDispose]()
      await dir.remove()
    },
  }
}
