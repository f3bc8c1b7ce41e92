import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { clearDesired, newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import { makeServiceHome } from '../../support/services.ts'

const WITHOUT_WATCHES = ['-Ur', 'sh', '-c', 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"', 'sh']

test('supervise() polls for changes when the system has no file watches left', async (context) => {
  if (!canLimit()) return context.diagnostic('this user may not make a namespace')
  await using at = await makeServiceHome()
  await setDesired(at.folder, at.spec('one', 'exec sleep 1000'), newStartRequest('start'))
  const words = [...WITHOUT_WATCHES, ...at.program, 'supervise', '--home', at.paths.home]
  const supervisor = spawn('unshare', words, { env: { PATH: process.env['PATH'] }, stdio: 'ignore' })
  const ended = once(supervisor, 'exit')
  await at.recorded('one', ({ state }) => state === 'running')
  clearDesired(at.folder, 'one')
  assert.deepEqual(await ended, [0, null])
  assert.equal(at.record('one')?.state, 'stopped')
  assert.match(readFileSync(join(at.paths.logs, 'supervisor.log'), 'utf8'), /Cannot watch for changes/)
})

function canLimit(): boolean {
  try {
    execFileSync('unshare', [...WITHOUT_WATCHES, 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
