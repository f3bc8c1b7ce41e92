import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardSpec } from '../../../src/up/units/guard-spec.ts'
import { daemonSpec, USUAL_HOME } from './specs.ts'

test('guardSpec() is the same for every service it is made from, and has no service keys', () => {
  const daemon = daemonSpec(USUAL_HOME)
  const clock = {
    ...daemon,
    name: 'clock',
    label: 'ai.crabtalk.clock',
    description: 'Time',
    envFile: `${USUAL_HOME}/.crabtalk/run/env/clock.env`,
    output: daemon.output.replace('daemon', 'clock'),
    grant: { service: 'clock', names: ['KEY'], from: daemon.envFile },
  }
  const guard = guardSpec(daemon, ['/bin/crabtalk'])
  assert.deepEqual(guardSpec(clock, ['/bin/crabtalk']), guard)
  assert.notEqual(guard.envFile, daemon.envFile)
  assert.equal(guard.label, 'ai.crabtalk-guard')
})
