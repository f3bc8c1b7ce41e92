import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTools, replaceList } from '../../../src/mcp/tools/remote-tool.ts'
import { toPrintableLine } from '../../../src/mcp/tools/server-text.ts'

const SOUND = { name: 'a', description: 'Does a', inputSchema: { type: 'object' } }

test('readTools() keeps name, description and schema of a tool', () => {
  const tool = {
    ...SOUND,
    title: 'A!',
    annotations: { readOnlyHint: true },
    outputSchema: { type: 'object' },
  }
  assert.deepEqual(readTools([tool]), { tools: [SOUND], dropped: [] })
})

test('readTools() drops invalid tools, with a reason, and keeps the rest in order', () => {
  const { tools, dropped } = readTools([
    { ...SOUND, name: 'b' },
    null,
    { inputSchema: {} },
    { ...SOUND, name: 42 },
    { ...SOUND, name: 'x'.repeat(257) },
    { ...SOUND, name: 'bell\u0007' },
    { ...SOUND, name: 'half\ud83d' },
    { ...SOUND, name: 'bad', inputSchema: [] },
    { ...SOUND, name: 'task', execution: { taskSupport: 'required' } },
    { ...SOUND, execution: { taskSupport: 'optional' } },
  ])
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['b', 'a'],
  )
  assert.deepEqual(
    dropped.map(({ name, why }) => [name.slice(0, 5), why]),
    [
      ['', 'it is not an object'],
      ['', 'it has no name'],
      ['', 'it has no name'],
      ['xxxxx', 'its name has over 256 characters'],
      ['bell', 'its name has a control character'],
      ['half', 'its name has a control character'],
      ['bad', 'its schema is not an object'],
      ['task', 'it runs only as a task'],
    ],
  )
})

test('readTools() keeps odd names that can be converted', () => {
  const names = ['', '__proto__', 'constructor', 'déjà-vu 🦀', 'x'.repeat(120), 'mcp__other__echo']
  const { tools, dropped } = readTools(names.map((name) => ({ ...SOUND, name })))
  assert.deepEqual(
    tools.map(({ name }) => name),
    names,
  )
  assert.deepEqual(dropped, [])
})

test('readTools() keeps the first of two tools with one name, and says so', () => {
  const other = { ...SOUND, description: 'Another' }
  assert.deepEqual(readTools([SOUND, other]), {
    tools: [SOUND],
    dropped: [{ name: 'a', why: 'its name is taken' }],
  })
})

test('readTools() treats the same tool twice as one', () => {
  assert.deepEqual(readTools([SOUND, { ...SOUND }]), { tools: [SOUND], dropped: [] })
})

test('readTools() keeps a description whole, in any script, but for control sequences', () => {
  const whole = `\n  Rules:\n\t1. ${'漢字'.repeat(5_000)} 🦀 \n`
  assert.equal(readTools([{ ...SOUND, description: whole }]).tools[0]!.description, whole)
  const description = `\u001b[31mred\u0007\u202e${'é'.repeat(2_000)}`
  assert.equal(readTools([{ ...SOUND, description }]).tools[0]!.description, `red${'é'.repeat(2_000)}`)
})

test('readTools() cuts a description of more than 32,768 characters, and its end says so', () => {
  const description = '🦀'.repeat(1_000_000)
  const [tool] = readTools([{ ...SOUND, description }]).tools
  assert.ok(tool!.description.length <= 32_768)
  assert.match(tool!.description, /^(🦀)+… \[cut: 2000000 characters in all\]$/u)
  assert.deepEqual(readTools([tool]).tools, [tool], 'a stored tool stays the same')
})

test('readTools() treats a description that is not a string as empty', () => {
  assert.equal(readTools([{ ...SOUND, description: { text: 'x' } }]).tools[0]!.description, '')
})

test('replaceList() returns the old list itself when only the order of keys changed', () => {
  const before = readTools([SOUND])
  const again = readTools([{ inputSchema: { type: 'object' }, description: 'Does a', name: 'a' }])
  assert.equal(replaceList(before, again), before)
})

test('replaceList() keeps the tools that stayed the same', () => {
  const before = readTools([SOUND, { ...SOUND, name: 'b' }])
  const after = replaceList(before, readTools([{ ...SOUND, name: 'c' }, { ...SOUND }]))
  assert.deepEqual(
    after.tools.map(({ name }) => name),
    ['c', 'a'],
  )
  assert.equal(after.tools[1], before.tools[0])
})

test('toPrintableLine() makes one short line of any text', () => {
  assert.equal(toPrintableLine(' a\n\tb\u001b[2J \u0000c '), 'a b c')
  assert.equal(toPrintableLine('x'.repeat(5_000)).length, 301)
})

test('readTools() drops each pathological schema by name, and offers the others unchanged', () => {
  const good = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } }, required: ['a'] }
  let deep: object = { type: 'string' }
  for (let level = 0; level < 10_000; level++) deep = { type: 'object', properties: { a: deep } }
  const schemas: [string, unknown][] = [
    ['first', good],
    ['deep', deep],
    ['huge', { type: 'object', properties: { a: { enum: ['x'.repeat(5_000_000)] } } }],
    [
      'wide',
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [i, {}])) },
    ],
    ['remote', { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/x.json' } } }],
    [
      'circle',
      { type: 'object', properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/a' } } },
    ],
    ['last', good],
  ]
  const { tools, dropped } = readTools(schemas.map(([name, inputSchema]) => ({ name, inputSchema })))
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['first', 'circle', 'last'],
  )
  for (const { name, inputSchema } of tools) assert.deepEqual(inputSchema, new Map(schemas).get(name))
  assert.deepEqual(
    dropped.map(({ name, why }) => `${name}: ${why}`),
    [
      'deep: its schema is nested more than 64 levels deep',
      'huge: its schema has over 64 KiB',
      'wide: its schema is too large',
      'remote: its schema refers to "http://127.0.0.1:1/x.json", which is outside of it',
    ],
  )
})
