import assert from 'node:assert/strict'
import { chmod, chown, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findDaemon } from '../../../src/daemon/find-daemon.ts'
import { requireOwnRunFolder } from '../../../src/daemon/serve/own-run-folder.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const UID = process.getuid?.() ?? 0
const NEVER = new AbortController().signal

test('requireOwnRunFolder() accepts a missing folder or one of this user, and rejects one of another user', async () => {
  await using home = await temporaryHome()
  const { run } = home.paths
  await requireOwnRunFolder(run, UID)
  await mkdir(run, { recursive: true })
  await requireOwnRunFolder(run, UID)
  await assert.rejects(requireOwnRunFolder(run, UID + 1), {
    kind: 'config',
    message: /run belongs to another user \(uid \d+\)$/,
  })
  await chmod(run, 0o777)
  await requireOwnRunFolder(run, UID)
  assert.equal((await stat(run)).mode & 0o777, 0o700)
})

test('findDaemon() does not connect to a socket of another user', async () => {
  await using home = await temporaryHome()
  const { paths } = home
  const socket = join(paths.run, 'crabtalk.sock')
  await mkdir(paths.run, { recursive: true })
  await writeFile(socket, '')
  if (UID === 0) await chown(socket, 12_345, 12_345)
  const at = { paths, env: {}, uid: UID + 1 }
  await assert.rejects(findDaemon(at, NEVER), {
    kind: 'denied',
    message: /crabtalk\.sock belongs to another user/,
  })
})
