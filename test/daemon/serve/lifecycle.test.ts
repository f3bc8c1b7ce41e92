import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { type DaemonHost, DaemonLifecycle } from '../../../src/daemon/serve/lifecycle.ts'

test('DaemonLife reloads for a SIGHUP that came before there was anything to reload, once', async () => {
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

/** Only its signals are of interest here. */
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
