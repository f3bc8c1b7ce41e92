import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientFindings } from '../../../src/commands/doctor/clients.ts'
import { EMPTY_CONFIG } from '../../../src/core/config/config.ts'
import { readOrCreateToken } from '../../../src/core/transport/token.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('doctor warns where TCP clients need no token, and of a token that others may know', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  const { daemon } = EMPTY_CONFIG
  assert.deepEqual(await clientFindings(paths, daemon), [])
  await readOrCreateToken(paths.run)
  assert.deepEqual(await clientFindings(paths, daemon), [])
  const [open] = await clientFindings(paths, { ...daemon, tcpToken: false })
  assert.deepEqual([open?.status, /every user/.test(open?.message ?? '')], ['warning', true])
  await mkdir(paths.run, { recursive: true })
  await writeFile(join(paths.run, 'tcp.token'), 'a'.repeat(40), { mode: 0o600 })
  const [weak] = await clientFindings(paths, daemon)
  assert.deepEqual([weak?.status, weak?.hint], ['warning', 'restart the daemon; it makes a new one'])
})
