import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { findProblems } from '../../../src/core/config/find-problems.ts'
import { findForeignMark, refuseForeignHome } from '../../../src/core/config/foreign-home.ts'
import { loadConfig } from '../../../src/core/config/load-config.ts'
import { agentStore } from '../../support/agent-store.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

for (const mark of [
  'local/settings.toml',
  'local/CrabTalk.toml',
  'local/agents/crab.md',
  'mcps.toml',
  'agents/01JZZZZZZZZZZZZZZZZZZZZZZZ/prompt.md',
]) {
  test(`a home with ${mark} belongs to the Rust reference, and is rejected unchanged`, async () => {
    await using home = await temporaryHome()
    await home.write(mark, 'x = 1\n')
    await home.write('config.toml', '[tasks]\nmax_concurrent = 4\n')
    const before = await readdir(home.paths.home, { recursive: true })
    const shown = mark.replace('/crab.md', '')
    await assert.rejects(loadConfig(home.paths), {
      kind: 'config',
      message: `Cannot use ${home.paths.home}: it is the home of the Rust crabtalk (it has ${shown}), which is not changed`,
      hint: `set CRABTALK_HOME to another directory; to take an agent along, run there: crabtalk agent create NAME --prompt @${home.paths.agents}/ID/prompt.md`,
    })
    assert.deepEqual(
      (await findProblems(home.paths)).map(({ file }) => file),
      [shown],
    )
    assert.deepEqual(await readdir(home.paths.home, { recursive: true }), before)
  })
}

test('homes of this program, new and missing homes are accepted', async () => {
  await using home = await temporaryHome()
  await refuseForeignHome(home.paths)
  await agentStore(home.paths).get('crab')
  await home.write('config/crons.toml', '')
  await mkdir(join(home.paths.agents, '01JZZZZZZZZZZZZZZZZZZZZZZZ'))
  await home.write('mcps.toml', '') // the old registry of this program's agents
  assert.equal(await findForeignMark(home.paths), undefined)
})
