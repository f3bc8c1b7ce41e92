import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toServiceLabel } from '../../../src/up/names.ts'
import { collectServices } from '../../../src/up/services/collect-services.ts'
import { openServicesContext } from '../../../src/up/services/services-context.ts'
import { makeServiceHome } from '../../support/services.ts'
import { makeTestHost } from '../../support/test-host.ts'

const NEVER = new AbortController().signal

test('collectServices() counts the services of other homes in one sentence', async () => {
  await using box = await makeTestHost()
  await using at = await makeServiceHome()
  const env = { CRABTALK_HOME: at.paths.home, CRABTALK_SERVICE_MANAGER: 'supervisor' }
  const place = await openServicesContext({ ...box.host, env }, NEVER)
  const others = ['a', 'b', 'c'].map((name) => `ai.crabtalk.${name}.01234567`)
  const status = async (labels: readonly string[]) =>
    labels.map((label) => ({ label, isInstalled: true, isEnabled: true, state: 'stopped' }) as const)
  const collect = async (foreign: readonly string[]) => {
    const labels = async () => [toServiceLabel('cron', place.labels), ...foreign]
    const manager = { ...place.manager, status, labels, note: undefined }
    const { notes } = await collectServices({ ...place, manager }, NEVER, { withDisk: false })
    return notes.map(({ message }) => message)
  }
  assert.deepEqual(await collect(others), [`${others[0]} and 2 more are services of another home`])
  assert.deepEqual(await collect(others.slice(2)), [`${others[2]} is a service of another home`])
  assert.deepEqual(await collect([]), [])
})
