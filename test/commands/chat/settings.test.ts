import assert from 'node:assert/strict'
import { mkdtempDisposable, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSettings } from '../../../src/commands/chat/settings.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('watching the settings creates the home as a private folder', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crabtalk-settings-'))
  const home = join(folder.path, 'above', '.crabtalk')
  await using test = await makeTestHost({ env: { CRABTALK_HOME: home } })
  const { promise: watched, resolve } = Promise.withResolvers<void>()
  const before = process.umask(0o022)
  try {
    using _watching = openSettings(test.host).watch(resolve)
    await watched
  } finally {
    process.umask(before)
  }
  for (const path of [home, join(folder.path, 'above')])
    assert.equal((await stat(path)).mode & 0o777, 0o700, path)
})
