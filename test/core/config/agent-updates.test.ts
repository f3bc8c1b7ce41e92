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

const ONE_BAD = `[[mcps]]
name = "bad"
command = "x"
autoApprove = []

[[mcps]]
name = "good"
command = "y"
permissions = { allow = ["read_*"] }
`

test('an invalid server does not cost its agent: it is left out, and says where and why', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await home.write('agents/a.toml', ONE_BAD)
  const { mcps, invalidMcps = [] } = await store.get('a')
  assert.deepEqual(
    mcps.map(({ name }) => name),
    ['good'],
  )
  const [{ name, index, problems }] = invalidMcps as [(typeof invalidMcps)[number]]
  assert.deepEqual([name, index, problems[0]!.file, problems[0]!.line], ['bad', 0, 'agents/a.toml', 4])
  assert.match(problems[0]!.message, /^unknown key "mcps\[0\]\.autoApprove"$/)
  assert.equal((await store.list()).problems.length, 1)
  assert.equal((await store.rules('a'))[0]!.source, 'agents/a.toml:9')
})

test('an agent with an invalid server can be changed, and that server corrected or removed', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await home.write('agents/a.toml', ONE_BAD)
  await store.update('a', { model: 'm' })
  assert.match(await home.read('agents/a.toml'), /autoApprove/)
  await assert.rejects(store.update('a', { mcps: [{ name: 'bad', command: 'x', foo: 1 }] }), {
    kind: 'invalid',
  })
  const fix = ({ mcps }: JsonObject) => ({
    mcps: [{ name: 'bad', command: 'x' }, (mcps as JsonObject[])[1]!],
  })
  assert.equal((await store.update('a', fix)).invalidMcps, undefined)
})

test('an invalid server that is required costs the agent, and so does a problem elsewhere', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  for (const text of [
    `${ONE_BAD}required = true\n`.replace('autoApprove = []', 'autoApprove = []\nrequired = true'),
    `modle = 1\n${ONE_BAD}`,
  ]) {
    await home.write('agents/a.toml', text)
    await assert.rejects(store.get('a'), { kind: 'config' })
  }
})
