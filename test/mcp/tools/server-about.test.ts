import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServerMemory } from '../../../src/mcp/peers/server-memory.ts'
import { readAbout, recallAbout } from '../../../src/mcp/tools/server-about.ts'
import { everythingEntry } from '../../support/mcp/mcp-servers.ts'
import { agentWith, mcpNode, offer } from '../mcp-node.ts'

const NOTHING = { title: '', description: '', instructions: '', hasResources: false, hasPrompts: false }

test("readAbout() prefers a title to a name, and reads the server's instructions", () => {
  const info = { name: 'files', title: 'Files of\nthis machine', description: 'Reads and writes' }
  const about = readAbout({ info, capabilities: { resources: {} }, instructions: 'Read\nfirst' })
  assert.deepEqual(about, {
    ...{ title: 'Files of this machine', description: 'Reads and writes', instructions: 'Read\nfirst' },
    ...{ hasResources: true, hasPrompts: false },
  })
  assert.equal(readAbout({ info: { name: 'files' }, capabilities: {}, instructions: '' }).title, 'files')
})

test('readAbout() removes control sequences, and keeps at most 16,384 characters of instructions', () => {
  const long = `\u001b]0;title\u0007${'ä'.repeat(19_000)}`
  const { instructions, description, title } = readAbout({
    info: { name: '\u001b[31mred', description: long },
    capabilities: undefined,
    instructions: long,
  })
  assert.equal(title, 'red')
  assert.match(instructions, /^ä+… \[cut: 19010 characters in all\]$/)
  assert.equal(instructions.length, 16_384)
  assert.ok(description.length <= 1024 && description.startsWith('ä'))
})

test('readAbout() reads nothing from invalid values', () => {
  assert.deepEqual(readAbout({ info: 7, capabilities: [], instructions: {} }), NOTHING)
  assert.equal(recallAbout(7), undefined)
  assert.deepEqual(recallAbout({ hasResources: 'yes', title: 1 }), NOTHING)
})

test("a server's description of itself is stored next to its list", async () => {
  await using node = await mcpNode()
  const agent = agentWith([everythingEntry()])
  await offer(node, agent)
  const { fingerprint } = node.servers.view(agent).servers[0]!
  await node.servers[Symbol.asyncDispose]()
  const { about } = await new ServerMemory(join(node.folder, 'cache', 'mcp')).read(fingerprint)
  assert.match(about?.instructions ?? '', /Everything Server/)
  assert.deepEqual([about?.hasResources, about?.hasPrompts], [true, true])
})
