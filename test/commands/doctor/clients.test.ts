import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { clientFindings } from '../../../src/commands/doctor/permissions.ts'
import { EMPTY_CONFIG } from '../../../src/core/config/config.ts'
import { readOrCreateToken } from '../../../src/core/transport/token.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('doctor warns where TCP clients need no token, and of a token that is too weak', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  await using one = await makeTestHost()
  const place = { paths, host: one.host }
  const { daemon } = EMPTY_CONFIG
  assert.deepEqual(await clientFindings(place, daemon), [])
  await readOrCreateToken(paths.run)
  assert.deepEqual(await clientFindings(place, daemon), [])
  const [open] = await clientFindings(place, { ...daemon, tcpToken: false })
  assert.equal(open?.status, 'warning')
  assert.match(open?.message ?? '', /a daemon without CRABTALK_ALLOW_TCP_WITHOUT_TOKEN=1 refuses to start$/)
  await using allowed = await makeTestHost({ env: { CRABTALK_ALLOW_TCP_WITHOUT_TOKEN: '1' } })
  const [served] = await clientFindings({ paths, host: allowed.host }, { ...daemon, tcpToken: false })
  assert.match(served?.message ?? '', /every user/)
  await mkdir(paths.run, { recursive: true })
  await writeFile(join(paths.run, 'tcp.token'), 'a'.repeat(40), { mode: 0o600 })
  const [weak] = await clientFindings(place, daemon)
  assert.deepEqual([weak?.status, weak?.hint], ['warning', 'restart the daemon; it creates a new one'])
})
