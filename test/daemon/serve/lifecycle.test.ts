import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { type DaemonHost, DaemonLifecycle } from '../../../src/daemon/serve/lifecycle.ts'

test('DaemonLifecycle reloads once for a SIGHUP that came before the reload function was set', async () => {
  using life = new DaemonLifecycle(thisProcess(), () => {})
  const reloads: string[] = []
  await hangUp()
  await hangUp()
  life.reloadWith(() => reloads.push('first'))
  assert.deepEqual(reloads, ['first'])
  await hangUp()
  life.reloadWith(() => reloads.push('other'))
  await hangUp()
  assert.deepEqual(reloads, ['first', 'first', 'other'])
})

async function hangUp(): Promise<void> {
  const heard = once(process, 'SIGHUP')
  process.kill(process.pid, 'SIGHUP')
  await heard
}

/** Returns a host for which only the signals matter here. */
function thisProcess(): DaemonHost {
  return {
    onSignal(listener) {
      const hear = () => listener('SIGHUP')
      process.on('SIGHUP', hear)
      return { [Symbol.dispose]: () => process.off('SIGHUP', hear) }
    },
    onCrash: () => ({ [Symbol.dispose]() {} }),
    leave: () => assert.fail('leaves'),
    stderr: { isTerminal: false, write: () => true, flush: async () => {} },
  }
}
