import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../../src/commands/main.ts'
import { makeTestHost } from '../../../support/test-host.ts'

const RECORD = {
  package: '@acme/crabtalk-echo',
  version: '1.0.0',
  description: '',
  script: 'main.js',
  runsOnNode: true,
  installedAt: '2026-01-01T00:00:00.000Z',
  source: '@acme/crabtalk-echo',
  origin: 'registry',
}

test('crabup doctor suggests to pull a component from its original package, not by its name', async () => {
  await using box = await makeTestHost()
  const packages = join(box.folder, 'home', 'packages')
  await install(join(packages, 'echo'), RECORD)
  await install(join(packages, 'local'), { ...RECORD, origin: 'folder', source: '/my own/local' })
  const failed = { version: '1.1.0', at: '2026-01-02T00:00:00.000Z', why: 'it exited' }
  await writeFile(join(packages, 'echo', 'failed.json'), JSON.stringify(failed))
  await mkdir(join(packages, 'half'))
  const env = { CRABTALK_HOME: join(box.folder, 'home'), CRABTALK_SERVICE_MANAGER: 'supervisor' }
  await main('crabup', ['doctor'], { ...box.host, env: { ...env, PATH: '/usr/bin:/bin' } })
  await box.host.stdout.flush()
  const hints = [...box.stdout().matchAll(/hint: (crabup pull [^,\n]*)/g)]
  assert.deepEqual(
    hints.map(([, hint]) => hint),
    [
      'crabup pull @acme/crabtalk-echo reinstalls it',
      'crabup pull @acme/crabtalk-echo --version 1.1.0 tries it again',
      "crabup pull '/my own/local' reinstalls it",
      'crabup pull PACKAGE reinstalls it',
    ],
  )
})

/** Writes a component with a record and without a program. */
async function install(folder: string, record: object): Promise<void> {
  await mkdir(join(folder, '1.0.0'), { recursive: true })
  await writeFile(join(folder, '1.0.0', 'crabup.json'), JSON.stringify(record))
  await symlink('1.0.0', join(folder, 'current'))
}
