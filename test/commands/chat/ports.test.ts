import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChatPorts } from '../../../src/commands/chat/ports.ts'
import { makeTestHost } from '../../support/test-host.ts'

test('hasFile() sees files that git ignores, and no folders', async () => {
  await using test = await makeTestHost()
  await using opened = openChatPorts(test.host)
  await writeFile(join(test.folder, '.gitignore'), 'AGENTS.md\n')
  await writeFile(join(test.folder, 'AGENTS.md'), 'ours')
  await mkdir(join(test.folder, 'CLAUDE.md'))
  const names = ['AGENTS.md', 'CLAUDE.md', 'Crab.md']
  assert.deepEqual(await Promise.all(names.map(opened.ports.hasFile)), [true, false, false])
})
