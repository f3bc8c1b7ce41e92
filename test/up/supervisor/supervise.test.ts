import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  clearDesired,
  forgetService,
  newStartRequest,
  setDesired,
} from '../../../src/up/supervisor/desired-state.ts'
import { writeRecord } from '../../../src/up/supervisor/record.ts'
import { kill } from '../../support/processes.ts'
import { makeServiceHome, QUICK, type ServiceHome } from '../../support/services.ts'
import { until } from '../../support/until.ts'

/** Returns a home with a supervisor in this process that is stopped when the test ends. */
async function startSupervisor(at: ServiceHome) {
  const over = new AbortController()
  const done = at.supervise(over.signal)
  return {
    over,
    done,
    async [Symbol.asyncDispose]() {
      over.abort()
      await done
    },
  }
}

const STAYS = 'exec sleep 1000'

test('supervise() starts desired services with a clean environment, the spec over it and service.env over that', async () => {
  await using at = await makeServiceHome()
  await mkdir(at.paths.home, { recursive: true })
  await writeFile(join(at.paths.home, 'service.env'), "KEY='a b'\nPATH=/bin\n# no KEY=c\n")
  await setDesired(
    at.folder,
    at.spec('one', `echo "$KEY|$PATH|$LANG|$CRAB"; echo oops >&2; ${STAYS}`),
    newStartRequest('start'),
  )
  const over = new AbortController()
  const done = at.supervise(over.signal, { env: { LANG: 'x', PATH: '/nowhere' } })
  const record = await at.recorded('one', ({ state }) => state === 'running')
  assert.deepEqual(await at.left(), [record.pid])
  await until('it printed', () => readFileSync(at.spec('one', '').output, 'utf8').includes('oops'))
  assert.equal(readFileSync(at.spec('one', '').output, 'utf8'), 'a b|/bin|x|\noops\n')
  over.abort()
  assert.equal(await done, true)
  assert.deepEqual(await at.left(), [])
  assert.equal(at.record('one')?.state, 'stopped')
})

test('supervise() restarts a crashed service, and counts', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await using _ = await startSupervisor(at)
  const first = await at.recorded('one', ({ state }) => state === 'running')
  assert.equal(first.restarts, 0)
  kill(first.pid!)
  const second = await at.recorded('one', ({ state, restarts }) => state === 'running' && restarts === 1)
  assert.notEqual(second.pid, first.pid)
  assert.deepEqual(second.lastExit, { code: null, signal: 'SIGKILL' })
  clearDesired(at.folder, 'one')
  assert.equal(await _.done, true)
})

test('supervise() gives up on a service after ten crashes, and exits; the next request gets ten more', async () => {
  await using at = await makeServiceHome()
  const spec = at.spec('one', 'echo x; exit 9')
  await setDesired(at.folder, spec, newStartRequest('start'))
  assert.equal(await at.supervise(new AbortController().signal), true)
  assert.equal(at.record('one')?.state, 'failed')
  assert.deepEqual(at.record('one')?.lastExit, { code: 9, signal: null })
  assert.equal(readFileSync(spec.output, 'utf8'), 'x\n'.repeat(10))
  assert.equal(await at.supervise(new AbortController().signal), true) // it has failed, so it is not started
  assert.equal(readFileSync(spec.output, 'utf8'), 'x\n'.repeat(10))
  await setDesired(at.folder, spec, newStartRequest('start'))
  assert.equal(await at.supervise(new AbortController().signal), true)
  assert.equal(readFileSync(spec.output, 'utf8'), 'x\n'.repeat(20))
})

test('supervise() does not count starts that are long past', async () => {
  await using at = await makeServiceHome()
  const spec = at.spec('one', `echo x; [ $(wc -l < '${at.spec('one', '').output}') -lt 14 ]`)
  await setDesired(
    at.folder,
    { ...spec, argv: ['/bin/sh', '-c', `${spec.argv[2]} && exit 9; exit 0`] },
    newStartRequest('start'),
  )
  let now = 1_000_000
  const later = () => (now += QUICK.windowMs / 8)
  assert.equal(await at.supervise(new AbortController().signal, { now: later }), true)
  assert.equal(at.record('one')?.state, 'stopped')
  assert.equal(at.record('one')?.restarts, 13)
})

for (const [how, line, state] of [
  ['exit 0', 'exit 0', 'stopped'],
  ['exit 143', 'exit 143', 'stopped'],
  ['SIGTERM', 'kill -TERM $$', 'stopped'],
  ['exit 78', 'exit 78', 'failed'],
] as const) {
  test(`supervise() does not restart a service that ended with ${how}`, async () => {
    await using at = await makeServiceHome()
    const spec = at.spec('one', `echo x; ${line}`)
    await setDesired(at.folder, spec, newStartRequest('start'))
    assert.equal(await at.supervise(new AbortController().signal), true)
    assert.equal(at.record('one')?.state, state)
    assert.equal(readFileSync(spec.output, 'utf8'), 'x\n')
  })
}

test('supervise() writes to the output of a service that its program is missing', async () => {
  await using at = await makeServiceHome()
  const spec = { ...at.spec('one', ''), argv: ['/nowhere/clock'] as [string] }
  await setDesired(at.folder, spec, newStartRequest('start'))
  assert.equal(await at.supervise(new AbortController().signal), true)
  assert.equal(at.record('one')?.state, 'failed')
  assert.match(readFileSync(spec.output, 'utf8'), /^(crabup: Cannot start \/nowhere\/clock: .*ENOENT\n){10}$/)
})

test('supervise() kills a service that ignores TERM, with all its processes, also those that left its session', async () => {
  await using at = await makeServiceHome()
  const line =
    'trap "" TERM; sleep 1000 & setsid sleep 1000 & setsid -f sh -c "trap \\"\\" TERM; sleep 1000"; echo up; wait; wait'
  await setDesired(at.folder, at.spec('one', line), newStartRequest('start'))
  await using _ = await startSupervisor(at)
  await until('all of it runs', async () => (await at.left()).length >= 5)
  clearDesired(at.folder, 'one')
  assert.equal(await _.done, true)
  assert.deepEqual(await at.left(), [])
  assert.deepEqual(at.record('one')?.lastExit, { code: null, signal: 'SIGKILL' })
})

test('supervise() ends what a crashed service has left before it restarts it', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', 'sleep 1000 & wait'), newStartRequest('start'))
  await using _ = await startSupervisor(at)
  const first = await at.recorded('one', ({ state }) => state === 'running')
  await until('both run', async () => (await at.left()).length === 2)
  const before = await at.left()
  kill(first.pid!)
  await at.recorded('one', ({ state, restarts }) => state === 'running' && restarts === 1)
  await until('both run again', async () => (await at.left()).length === 2)
  const after = await at.left()
  assert.deepEqual(
    after.filter((pid) => before.includes(pid)),
    [],
  )
})

test('supervise() does not restart a service that is stopped while it waits', async () => {
  await using at = await makeServiceHome()
  const spec = at.spec('one', 'echo x; exit 9')
  await setDesired(at.folder, spec, newStartRequest('start'))
  const done = at.supervise(new AbortController().signal, { pace: { ...QUICK, restartMs: 3_600_000 } })
  await at.recorded('one', ({ state }) => state === 'waiting')
  clearDesired(at.folder, 'one')
  assert.equal(await done, true)
  assert.equal(at.record('one')?.state, 'stopped')
  assert.equal(readFileSync(spec.output, 'utf8'), 'x\n')
})

test('supervise() starts a waiting service immediately on request, restarts on request, and otherwise leaves running ones alone', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', 'exit 9'), newStartRequest('start'))
  const done = at.supervise(new AbortController().signal, { pace: { ...QUICK, restartMs: 3_600_000 } })
  await at.recorded('one', ({ state }) => state === 'waiting')
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  const first = await at.recorded('one', ({ state }) => state === 'running')
  const start = newStartRequest('start')
  await setDesired(at.folder, at.spec('one', STAYS), start)
  const same = await at.recorded('one', ({ asked }) => asked === start.id)
  assert.equal(same.pid, first.pid)
  const restart = newStartRequest('restart')
  await setDesired(at.folder, at.spec('one', STAYS), restart)
  const other = await at.recorded('one', ({ asked, state }) => asked === restart.id && state === 'running')
  assert.notEqual(other.pid, first.pid)
  assert.equal(other.restarts, 0)
  clearDesired(at.folder, 'one')
  await done
})

test('supervise() runs once per home; the second returns false', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await using first = await startSupervisor(at)
  await at.recorded('one', ({ state }) => state === 'running')
  assert.equal(await at.supervise(new AbortController().signal), false)
  assert.equal((await at.left()).length, 1)
  first.over.abort()
})

test('supervise() ends with all its services when its home is removed, and creates nothing again', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await setDesired(
    at.folder,
    at.spec('two', `trap 'exit 1' TERM; ${STAYS.replace('exec ', '')} & wait`),
    newStartRequest('start'),
  )
  const done = at.supervise(new AbortController().signal)
  await at.recorded('two', ({ state }) => state === 'running')
  await at.recorded('one', ({ state }) => state === 'running')
  await rm(at.paths.home, { recursive: true, maxRetries: 20 }) // while records are written
  assert.equal(await done, true)
  assert.deepEqual(await at.left(), [])
  assert.equal(existsSync(at.paths.home), false)
})

test('supervise() restarts after an abort what ran before it, but nothing that ended in this boot', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await setDesired(at.folder, at.spec('two', 'echo x; exit 78'), newStartRequest('start'))
  const first = await startSupervisor(at)
  await at.recorded('one', ({ state }) => state === 'running')
  await at.recorded('two', ({ state }) => state === 'failed')
  await first[Symbol.asyncDispose]()
  assert.equal(at.record('one')?.state, 'stopped')
  const second = await startSupervisor(at)
  await at.recorded('one', ({ state }) => state === 'running')
  await second[Symbol.asyncDispose]()
  assert.equal(readFileSync(at.spec('two', '').output, 'utf8'), 'x\n')
  writeRecord(at.folder, 'two', { ...at.record('two')!, boot: 'another' })
  await using _ = await startSupervisor(at)
  await until('it ran again', () => readFileSync(at.spec('two', '').output, 'utf8') === 'x\nx\n')
})

test('supervise() continues with what it knows when a file was broken by hand', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await using _ = await startSupervisor(at)
  const { pid } = await at.recorded('one', ({ state }) => state === 'running')
  await writeFile(join(at.folder, 'one.json'), '{')
  await writeFile(join(at.folder, 'none.json'), '{"name": "none"}')
  await setDesired(at.folder, at.spec('two', STAYS), newStartRequest('start'))
  await at.recorded('two', ({ state }) => state === 'running') // so it has read both
  assert.equal(at.record('one')?.pid, pid)
  assert.equal(at.record('one')?.state, 'running')
  forgetService(at.folder, 'none')
})

test('supervise() supervises only one service when told to', async () => {
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', STAYS), newStartRequest('start'))
  await setDesired(at.folder, at.spec('two', STAYS), newStartRequest('start'))
  const done = at.supervise(new AbortController().signal, { only: 'two' })
  await at.recorded('two', ({ state }) => state === 'running')
  clearDesired(at.folder, 'two')
  assert.equal(await done, true)
  assert.equal(at.record('one'), undefined)
})
