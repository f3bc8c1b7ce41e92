import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { type RunningService, Watchdog } from '../../../src/up/guard/watchdog.ts'
import type { Probe } from '../../../src/up/probe/types.ts'

const PACE = { limitMs: 60_000, periodMs: 15_000 }
const NEVER = new AbortController().signal

test('HangWatch kills a component that answered and misses probes for the limit, and says so', async () => {
  await using box = makeBox({ isBuiltIn: false })
  await box.look(5, { answers: false })
  assert.deepEqual(box.said, [], 'it has never answered')
  await box.look(1, { answers: true })
  await box.look(3, { answers: false, problem: 'port 7 does not answer' })
  assert.equal(box.service.exitCode ?? box.service.signalCode, null)
  assert.deepEqual(box.said, ['warn Misses probes: port 7 does not answer'])
  await box.look(1, { answers: false, problem: 'port 7 does not answer' })
  await box.ended
  assert.equal(box.service.signalCode, 'SIGKILL')
  const pid = box.service.pid
  const hung = `Hung: 4 probes missed in 45 s (port 7 does not answer); killed process ${pid} so that it starts again`
  assert.deepEqual(box.said.slice(1), [`error ${hung}`])
})

test('HangWatch gives a part of this program the limit to start, and counts then', async () => {
  await using box = makeBox({ isBuiltIn: true })
  await box.look(5, { answers: false })
  assert.deepEqual(box.said, [])
  await box.look(3, { answers: false })
  assert.equal(box.service.signalCode, null)
  await box.look(1, { answers: false })
  await box.ended
  assert.equal(box.service.signalCode, 'SIGKILL')
})

test('HangWatch forgets what was missed before an answer, a gap of its own, or another process', async () => {
  await using box = makeBox({ isBuiltIn: false })
  await box.look(1, { answers: true })
  await box.look(3, { answers: false, port: 7 })
  await box.look(1, { answers: true })
  assert.deepEqual(box.said, ['warn Misses probes: it does not answer', 'info Answers again'])
  await box.look(3, { answers: false, port: 7 })
  box.pass(3_600_000) // a suspended machine
  await box.look(3, { answers: false, port: 7 })
  assert.equal(box.service.signalCode, null)
  await box.look(3, { answers: false, isForeign: true })
  assert.equal(box.service.signalCode, null)
  box.running = []
  await box.look(1, { answers: false, port: 7 })
  box.running = undefined
  await box.look(5, { answers: false, port: 7 })
  assert.equal(box.service.signalCode, null, 'it is a new process to the watch')
})

test('HangWatch leaves a component alone that took its port file away', async () => {
  await using box = makeBox({ isBuiltIn: false })
  await box.look(1, { answers: true })
  await box.look(10, { answers: false })
  assert.deepEqual(box.said, [])
  assert.equal(box.service.signalCode, null)
})

/** A watch over one real process, whose clock and probe a test sets. */
function makeBox({ isBuiltIn }: Pick<RunningService, 'isBuiltIn'>) {
  const service: ChildProcess = spawn('sleep', ['1000'], { stdio: 'ignore' })
  const said: string[] = []
  let elapsed = 0
  let probe: Probe = { answers: true }
  const box = {
    service,
    said,
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
      await box.ended
    },
  }
  const watch = new Watchdog({
    running: async () => box.running ?? [{ name: 'one', pid: service.pid!, isBuiltIn }],
    probe: async () => probe,
    log: (level, message) => void said.push(`${level} ${message}`),
    elapsed: () => elapsed,
  })
  return box
}
