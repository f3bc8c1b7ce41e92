import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { main } from '../../src/commands/main.ts'
import { makeTestHost } from '../support/test-host.ts'

for (const line of [
  ['daemon', 'run'],
  ['cron', 'run'],
]) {
  test(`${line.join(' ')} reports what is wrong in the configuration and exits 78, with --give-up 0`, async () => {
    await using box = await makeTestHost()
    const home = join(box.folder, 'home')
    await mkdir(join(home, 'local'), { recursive: true })
    await writeFile(join(home, 'local/settings.toml'), '') // marks a home of another program
    const host = { ...box.host, env: { CRABTALK_HOME: home } }
    assert.equal(await main('crabtalk', line, host), 78)
    const stderr = box.stderr()
    assert.match(stderr, /^crabtalk: error\[config\]: .+\n/)
    assert.equal(await main('crabtalk', [...line, '--give-up'], host), 0)
    assert.equal(box.stderr(), stderr + stderr)
  })
}
