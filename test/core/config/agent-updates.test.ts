import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { agentStore } from '../../support/agent-store.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

test('update() accepts a function of the current contents, also under concurrent changes', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', { tools: ['first'] }, '')
  const add = (tool: string) => (stored: JsonObject) => ({ tools: [...(stored['tools'] as string[]), tool] })
  await Promise.all(['x', 'y', 'z'].map((tool) => store.update('a', add(tool))))
  assert.deepEqual((await store.get('a')).tools.toSorted(), ['first', 'x', 'y', 'z'])
})

test('update() changes nothing when the function throws', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  const text = await home.read('agents/a.toml')
  const refuse = () => {
    throw new CrabError('conflict', 'no')
  }
  await assert.rejects(store.update('a', refuse, 'new'), { kind: 'conflict', message: 'no' })
  assert.deepEqual([await home.read('agents/a.toml'), (await store.get('a')).prompt], [text, ''])
})

test("locateKeys() returns the lines of an agent's keys, and nothing without a file", async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await home.write('agents/a.toml', '# Mine.\nmodel = "m"\n\n[[mcps]]\nname = "x"\ncommand = "x"\n')
  await home.write('agents/bad.toml', 'model = \n')
  const paths = [['mcps', 0], ['model']]
  assert.deepEqual(await store.locateKeys('a', paths), ['agents/a.toml:4', 'agents/a.toml:2'])
  for (const name of ['bad', 'none']) assert.deepEqual(await store.locateKeys(name, paths), ['', ''])
})
