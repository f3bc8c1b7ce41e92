import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Probe } from '../../../src/up/probe/types.ts'
import { waitUntilServiceReady } from '../../../src/up/ps/wait-until-ready.ts'
import type { ServiceStatus } from '../../../src/up/types.ts'

const NEVER = new AbortController().signal
const SERVICE = { name: 'daemon', label: 'ai.crabtalk.daemon' }

test("waitUntilServiceReady() returns the service's own info once it is the process that its manager runs", async () => {
  const probes = [{ answers: false }, { answers: true, pid: 8 }, { answers: true, pid: 7, version: '1.0.0' }]
  const outcome = await ready({ probes, statuses: [{ state: 'running', pid: 7 }] })
  assert.deepEqual(outcome, { isReady: true, probe: { answers: true, pid: 7, version: '1.0.0' } })
})

test('waitUntilServiceReady() accepts a child of the running process, and any process if the manager knows none', async () => {
  const [pid] = [process.pid]
  for (const status of [{ pid: process.ppid }, {}]) {
    const outcome = await ready({
      probes: [{ answers: true, pid }],
      statuses: [{ state: 'running', ...status }],
    })
    assert.equal(outcome.isReady, true)
  }
})

test('waitUntilServiceReady() never accepts an on-demand daemon as the service', async () => {
  const probes = [{ answers: true, pid: 7, idleExitMs: 60_000 }]
  const outcome = await ready({ probes, statuses: [{ state: 'running', pid: 7 }], limitMs: 0 })
  assert.deepEqual(outcome, { isReady: false, why: 'process 7 answers in its place', probe: probes[0] })
})

test('waitUntilServiceReady() accepts no process while the service waits for a restart after a crash', async () => {
  const probes = [{ answers: true, pid: 42 }]
  const outcome = await ready({ probes, statuses: [{ state: 'waiting', restarts: 0 }], limitMs: 0 })
  assert.deepEqual(outcome, { isReady: false, why: 'process 42 answers in its place', probe: probes[0] })
})

const RUNNING: ServiceStatus = { label: SERVICE.label, isInstalled: true, isEnabled: true, state: 'running' }

/** The manager's status, and why waiting ends immediately. */
const HOPELESS: [Partial<ServiceStatus>, string][] = [
  [{ state: 'failed', lastExit: { code: 78, signal: null } }, 'it ended with exit 78'],
  [{ state: 'stopped', lastExit: { code: 0, signal: null } }, 'it ended by itself, exit 0'],
  [{ state: 'stopped' }, 'it ended by itself'],
  [
    { state: 'waiting', restarts: 2, lastExit: { code: null, signal: 'SIGSEGV' } },
    'it ends with SIGSEGV every time it is started',
  ],
]

for (const [status, why] of HOPELESS) {
  test(`waitUntilServiceReady() gives up immediately: ${why}`, async () => {
    const outcome = await ready({ probes: [{ answers: false }], statuses: [status] })
    assert.deepEqual(outcome, { isReady: false, why, probe: { answers: false } })
  })
}

test('waitUntilServiceReady() says in the end why the service does not answer', async () => {
  const probes = [{ answers: false, problem: 'port 1 does not answer' }]
  const outcome = await ready({ probes, statuses: [{ state: 'running' }], limitMs: 0 })
  assert.ok(!outcome.isReady)
  assert.equal(outcome.why, 'it did not answer within 0 s: port 1 does not answer')
})

test('waitUntilServiceReady() gives up on a component that announced itself under another name', async () => {
  const ports = {
    manager: { status: async () => [{ ...RUNNING, pid: 7 }] },
    probe: async () => ({ answers: false }),
    now: () => performance.now(),
    otherName: async (pid: number) => (pid === 7 ? 'wordcount' : undefined),
  }
  const outcome = await waitUntilServiceReady(SERVICE, ports, NEVER)
  assert.ok(!outcome.isReady)
  assert.match(outcome.why, /^it announced itself as "wordcount", and a component must call itself "daemon"/)
})

test('waitUntilServiceReady() ends with its signal', async () => {
  const over = new AbortController()
  const probe = async (): Promise<Probe> => {
    over.abort()
    return { answers: false }
  }
  const ports = { manager: { status: async () => [] }, probe, now: Date.now }
  await assert.rejects(waitUntilServiceReady(SERVICE, ports, over.signal), { kind: 'cancelled' })
})

/** Each value is returned once, the last one from then on. */
async function ready(script: {
  probes: readonly Probe[]
  statuses: readonly Partial<ServiceStatus>[]
  limitMs?: number
}) {
  const probes = [...script.probes]
  const [status] = script.statuses
  const whole: ServiceStatus = {
    ...{ label: SERVICE.label, isInstalled: true, isEnabled: true, state: 'running' },
    ...status,
  }
  const ports = {
    manager: { status: async () => [whole] },
    probe: async () => (probes.length > 1 ? probes.shift()! : probes[0]!),
    now: () => performance.now(),
    ...(script.limitMs !== undefined && { limitMs: script.limitMs }),
  }
  return await waitUntilServiceReady(SERVICE, ports, NEVER)
}
