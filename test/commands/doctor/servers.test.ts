import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { makeTestHost } from '../../support/test-host.ts'

const CLASH =
  '[[mcps]]\nname = "u"\nurl = "http://127.0.0.1:1/"\nauth = "x"\nheaders = { Authorization = "y" }\n'

test('doctor reports a remote server whose entry has two values for one header', async () => {
  await using one = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
  await mkdir(join(one.folder, 'home', 'agents'), { recursive: true })
  await writeFile(join(one.folder, 'home', 'agents', 'crab.toml'), CLASH)
  assert.equal(await main('crabtalk', ['doctor', '--json'], one.host), 1)
  const { checks }: { checks: { status: string; message: string; hint?: string }[] } = JSON.parse(
    one.stdout(),
  )
  const found = checks.filter(({ message }) => message.startsWith('u of crab'))
  assert.deepEqual(
    found.map(({ status, message }) => `${status}: ${message}`),
    ['problem: u of crab: the header "Authorization" and "auth" clash: use one of them'],
  )
  assert.match(found[0]?.hint ?? '', /mcp set/)
})
