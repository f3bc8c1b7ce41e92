import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openService } from '../../../src/up/services/open-service.ts'
import { newStartRequest, setDesired } from '../../../src/up/supervisor/desired-state.ts'
import { makeServiceHome } from '../../support/services.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('openService() keeps the PATH of a running service when a shell with a shorter one calls it', async () => {
  await using box = await makeTestHost()
  await using at = await makeServiceHome()
  const over = new AbortController()
  const mine = join(box.folder, 'my tools')
  await mkdir(mine)
  const env = { CRABTALK_HOME: at.paths.home, CRABTALK_SERVICE_MANAGER: 'supervisor' }
  const open = async (PATH: string) => {
    const {
      retainedPath,
      spec,
      stopSpec: known,
      manager,
    } = await openService({ ...box.host, env: { ...env, PATH } }, 'cron', over.signal)
    return { retainedPath, path: spec().env['PATH'], known, manager }
  }
  const { path, known } = await open('/usr/bin:/bin')
  const argv = ['/bin/sleep', '1000'] as const
  const own = { ...known, argv, cwd: '/', env: { ...known.env, PATH: `${mine}:${path}` } }
  await setDesired(at.folder, own, newStartRequest('start'))
  const supervising = at.supervise(over.signal)
  await at.recorded('cron', ({ state }) => state === 'running')
  const bare = await open('/usr/bin:/bin')
  assert.deepEqual([bare.retainedPath, bare.path], [[mine], `${mine}:${path}`])
  const full = await open('/opt/other:/usr/bin:/bin')
  assert.deepEqual([full.retainedPath, full.path?.split(':')[0]], [[], '/opt/other'])
  await bare.manager.stop(own, over.signal)
  const ended = await open('/usr/bin:/bin')
  assert.deepEqual([ended.retainedPath, ended.path], [[], path])
  over.abort()
  await supervising
})

test('openService() gives a service the PATH of service.env, whatever the shell has', async () => {
  await using box = await makeTestHost()
  await using at = await makeServiceHome()
  const env = {
    CRABTALK_HOME: at.paths.home,
    CRABTALK_SERVICE_MANAGER: 'supervisor',
    PATH: '/opt/other:/usr/bin',
  }
  await mkdir(at.paths.home, { recursive: true })
  await writeFile(at.paths.serviceEnv, "PATH='/opt/mine:/usr/bin:/bin'\n")
  const { spec, retainedPath } = await openService({ ...box.host, env }, 'cron', new AbortController().signal)
  assert.deepEqual([spec().env['PATH'], retainedPath], ['/opt/mine:/usr/bin:/bin', []])
})
