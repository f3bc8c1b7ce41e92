import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestDaemon } from '../../support/daemon.ts'
import { readDaemonLog } from '../../support/daemon-home.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('a daemon whose port file cannot be removed still closes its listeners', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home, { args: ['--tcp', '--port', '0'] })
  const portFile = join(home.paths.run, 'crabtalk.port')
  await rm(portFile)
  await mkdir(portFile)
  daemon.kill('SIGTERM')
  assert.equal((await daemon.ended).code, 0)
  const messages = (await readDaemonLog(home)).map(({ message }) => message)
  assert.match(messages.at(-2) ?? '', /^while it stopped: .*crabtalk\.port/)
  assert.equal(messages.at(-1), 'stopped')
})
