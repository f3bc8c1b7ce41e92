import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Probe } from '../../../src/up/probe/types.ts'
import { describeState } from '../../../src/up/ps/state.ts'
import type { ServiceStatus } from '../../../src/up/types.ts'

const NOW = 1_000_000_000
const LONG_AGO = NOW - 60_000
const ANSWERS: Probe = { answers: true, pid: 7 }
const SILENT: Probe = { answers: false }

/** The known facts, and the state and detail they produce. */
const STATES: [string, Partial<ServiceStatus>, Probe, string, RegExp?][] = [
  ['runs and answers', { state: 'running', pid: 7 }, ANSWERS, 'ready'],
  ['answers through a child process', { state: 'running', pid: 5 }, ANSWERS, 'ready'],
  ['answers without its process id', { state: 'running', pid: 5 }, { answers: true }, 'ready'],
  ['was started by hand', { state: 'stopped' }, ANSWERS, 'ready'],
  ['has just started', { state: 'running', pid: 7, since: NOW - 100 }, SILENT, 'starting'],
  [
    'runs and does not answer',
    { state: 'running', pid: 7, since: LONG_AGO },
    SILENT,
    'degraded',
    /does not answer/,
  ],
  [
    'runs and says why it is not ready',
    { state: 'running', pid: 7, since: LONG_AGO },
    { answers: false, problem: 'port 9 does not answer' },
    'degraded',
    /^port 9/,
  ],
  ['is stopping', { state: 'stopping', pid: 7 }, SILENT, 'degraded', /is stopping/],
  [
    'crashed and will be restarted',
    { state: 'waiting', restarts: 2, lastExit: { code: 1, signal: null } },
    SILENT,
    'crashed',
    /^exit 1, 3 of 10, and will be restarted$/,
  ],
  [
    'crashed too often',
    { state: 'failed', restarts: 10, lastExit: { code: null, signal: 'SIGSEGV' } },
    SILENT,
    'crashed',
    /^SIGSEGV, 10 of 10$/,
  ],
  [
    'has another process in its place',
    { state: 'running', pid: 4 },
    { answers: true, pid: 99 },
    'foreign',
    /process 99 .* the service is process 4$/,
  ],
  [
    'cannot start because another process has its place',
    { state: 'waiting' },
    { answers: true, pid: 99 },
    'foreign',
    /the service is not running$/,
  ],
  [
    'has another program in its place',
    { state: 'running' },
    { answers: false, isForeign: true, problem: 'x' },
    'foreign',
    /x/,
  ],
  ['does not run', { state: 'stopped', isInstalled: true, isEnabled: true }, SILENT, 'stopped'],
  ['has no unit', { state: 'stopped', isInstalled: false, isEnabled: false }, SILENT, 'stopped'],
  ['does not start at login', { state: 'stopped', isInstalled: true, isEnabled: false }, SILENT, 'disabled'],
  [
    'lost its supervisor',
    { state: 'stopped', isLost: true },
    { answers: false, leftover: { file: '/x' } },
    'crashed',
  ],
  ['answers, but has no record', { state: 'starting' }, { answers: true, pid: 9 }, 'ready'],
  ['left a file', { state: 'stopped' }, { answers: false, leftover: { file: '/x' } }, 'stale'],
  [
    'was started by hand and hangs',
    { state: 'stopped' },
    { answers: false, problem: 'no answer' },
    'degraded',
    /no answer/,
  ],
]

for (const [what, status, probe, state, detail = /^$/] of STATES) {
  test(`describeState() calls a service ${state} that ${what}`, () => {
    const whole = {
      label: 'l',
      isInstalled: true,
      isEnabled: true,
      state: 'stopped',
      ...status,
    } as ServiceStatus
    const family = status.pid === 5 ? { startedAt: LONG_AGO, memoryBytes: 1, pids: [5, 6, 7] } : undefined
    const described = describeState({ status: whole, probe, family, hasLogin: true, now: NOW })
    assert.equal(described.state, state)
    assert.match(described.detail ?? '', detail)
  })
}

test('describeState() calls nothing disabled where nothing starts at login', () => {
  const status = { label: 'l', isInstalled: true, isEnabled: false, state: 'stopped' } as const
  const at = { status, probe: SILENT, family: undefined, now: NOW }
  assert.equal(describeState({ ...at, hasLogin: false }).state, 'stopped')
  assert.equal(describeState({ ...at, hasLogin: true }).state, 'disabled')
})

test('describeState() uses the probe when the service manager cannot be asked', () => {
  const at = { status: undefined, family: undefined, hasLogin: true, now: NOW }
  assert.equal(describeState({ ...at, probe: ANSWERS }).state, 'ready')
  assert.equal(describeState({ ...at, probe: SILENT }).state, 'stopped')
})
