import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { type RunningService, Watchdog } from '../../../src/up/guard/watchdog.ts'
import type { Probe } from '../../../src/up/probe/types.ts'

const PACE = { limitMs: 60_000, periodMs: 15_000 }
const NEVER = new AbortController().signal

test('Watchdog kills a component that answered before and misses probes for the limit, and logs it', async () => {
  await using watched = startWatchdog({ isBuiltIn: false })
  await watched.look(5, { answers: false })
  assert.deepEqual(watched.logged, [], 'it has never answered')
  await watched.look(1, { answers: true })
  await watched.look(3, { answers: false, problem: 'port 7 does not answer' })
  assert.equal(watched.service.exitCode ?? watched.service.signalCode, null)
  assert.deepEqual(watched.logged, ['warn Misses probes: port 7 does not answer'])
  await watched.look(1, { answers: false, problem: 'port 7 does not answer' })
  await watched.ended
  assert.equal(watched.service.signalCode, 'SIGKILL')
  const pid = watched.service.pid
  const hung = `Hung: 4 probes missed in 45 s (port 7 does not answer); killed process ${pid} so that it starts again`
  assert.deepEqual(watched.logged.slice(1), [`error ${hung}`])
})

test('Watchdog gives built-in services the limit to start, and counts from then on', async () => {
  await using watched = startWatchdog({ isBuiltIn: true })
  await watched.look(5, { answers: false })
  assert.deepEqual(watched.logged, [])
  await watched.look(3, { answers: false })
  assert.equal(watched.service.signalCode, null)
  await watched.look(1, { answers: false })
  await watched.ended
  assert.equal(watched.service.signalCode, 'SIGKILL')
})

test('Watchdog resets missed probes after an answer, a gap between its own probes, or a new process', async () => {
  await using watched = startWatchdog({ isBuiltIn: false })
  await watched.look(1, { answers: true })
  await watched.look(3, { answers: false, port: 7 })
  await watched.look(1, { answers: true })
  assert.deepEqual(watched.logged, ['warn Misses probes: it does not answer', 'info Answers again'])
  await watched.look(3, { answers: false, port: 7 })
  watched.pass(3_600_000) // a suspended machine
  await watched.look(3, { answers: false, port: 7 })
  assert.equal(watched.service.signalCode, null)
  await watched.look(3, { answers: false, isForeign: true })
  assert.equal(watched.service.signalCode, null)
  watched.running = []
  await watched.look(1, { answers: false, port: 7 })
  watched.running = undefined
  await watched.look(5, { answers: false, port: 7 })
  assert.equal(watched.service.signalCode, null, 'it is a new process to the watch')
})

test('Watchdog leaves a component alone that removed its port file', async () => {
  await using watched = startWatchdog({ isBuiltIn: false })
  await watched.look(1, { answers: true })
  await watched.look(10, { answers: false })
  assert.deepEqual(watched.logged, [])
  assert.equal(watched.service.signalCode, null)
})

/** Starts a watchdog over one real process; the test sets its clock and probe. */
function startWatchdog({ isBuiltIn }: Pick<RunningService, 'isBuiltIn'>) {
  const service: ChildProcess = spawn('sleep', ['1000'], { stdio: 'ignore' })
  const logged: string[] = []
  let elapsed = 0
  let probe: Probe = { answers: true }
  const watched = {
    service,
    logged,
    ended: once(service, 'exit'),
    running: undefined as readonly RunningService[] | undefined,
    pass(ms: number) {
      elapsed += ms
    },
    async look(times: number, answer: Probe) {
      probe = answer
      for (let left = times; left > 0; left--) {
        await watch.probe(PACE, NEVER)
        elapsed += PACE.periodMs
      }
    },
    async [Symbol.asyncDispose]() {
      service.kill('SIGKILL')
      await watched.ended
    },
  }
  const watch = new Watchdog({
    running: async () => watched.running ?? [{ name: 'one', pid: service.pid!, isBuiltIn }],
    probe: async () => probe,
    log: (level, message) => void logged.push(`${level} ${message}`),
    elapsed: () => elapsed,
  })
  return watched
}
