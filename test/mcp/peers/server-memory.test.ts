import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ServerMemory, type ServerRecord } from '../../../src/mcp/peers/server-memory.ts'

const KNOWN: ServerRecord = {
  list: {
    tools: [
      {
        name: 'a',
        description: 'Does a',
        inputSchema: { type: 'object', properties: { ['__proto__']: {} } },
      },
    ],
    dropped: [{ name: 'b', why: 'it is not an object' }],
  },
  era: { is: 'modern', since: 5 },
}

test('ServerMemory returns what was written, also immediately', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const memory = new ServerMemory(join(folder.path, 'deep', 'mcp'))
  await memory.write('f1', KNOWN)
  await memory.write('f2', { failure: { at: 5, why: 'it ended' } })
  assert.deepEqual(await memory.read('f1'), KNOWN)
  assert.deepEqual(memory.readNow('f1'), KNOWN)
  assert.deepEqual(await memory.read('f2'), { failure: { at: 5, why: 'it ended' } })
})

test('ServerMemory knows nothing about servers that were never written', async () => {
  const memory = new ServerMemory('/nowhere')
  assert.deepEqual([await memory.read('f'), memory.readNow('f')], [{}, {}])
})

const BROKEN: Record<string, [string, ServerRecord]> = {
  'is empty': ['', {}],
  'is truncated': [JSON.stringify({ v: 2, ...KNOWN }).slice(0, 40), {}],
  'is of another version': [JSON.stringify({ v: 1, ...KNOWN }), {}],
  'holds other things': ['{"v":2,"list":7,"era":"future","failure":{"at":"x"}}', {}],
  'holds invalid tools': [
    '{"v":2,"list":{"tools":[null,{"name":"a","inputSchema":7}],"dropped":[5]}}',
    { list: { tools: [], dropped: [] } },
  ],
}
for (const [what, [text, known]] of Object.entries(BROKEN)) {
  test(`ServerMemory reads what it can from a file that ${what}`, async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
    await mkdir(join(folder.path, 'mcp'))
    await writeFile(join(folder.path, 'mcp', 'f.json'), text)
    assert.deepEqual(await new ServerMemory(join(folder.path, 'mcp')).read('f'), known)
  })
}
