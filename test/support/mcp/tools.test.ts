import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ODD_NAMES } from './bad-tools.ts'
import { numberedLines } from './good-tools.ts'
import { BEHAVIOURS, misbehavingEntry } from './mcp-servers.ts'
import type { Message } from './message.ts'
import { type RawClient, startRaw } from './raw-client.ts'

const LIST_CHANGED = 'notifications/tools/list_changed'

test('--tools=odd has odd names, each with its own answer', async () => {
  await using server = startRaw(misbehavingEntry({ tools: ['odd'] }))
  assert.deepEqual(await namesOf(server), ODD_NAMES)
  for (const name of ODD_NAMES) assert.equal(textOf(await server.call(name)), JSON.stringify(name))
})

test('--tools=twins has one name twice', async () => {
  await using server = startRaw(misbehavingEntry({ tools: ['twins'] }))
  assert.deepEqual(await namesOf(server), ['twin', 'between', 'twin'])
})

test('--tools=schemas has definitions of every bad kind, between good ones', async () => {
  await using server = startRaw(misbehavingEntry({ tools: ['few', 'schemas'] }))
  const tools = (await server.request('tools/list')).result!['tools'] as Definition[]
  const byName = new Map(tools.map((tool) => [tool?.name, tool]))
  assert.equal(byName.get('echo')!.inputSchema!['type'], 'object')
  assert.equal(byName.get('no_schema')!.inputSchema, undefined)
  assert.equal(byName.get('null_schema')!.inputSchema, null)
  assert.equal(byName.get('array_type')!.inputSchema!['type'], 'array')
  assert.match(JSON.stringify(byName.get('remote_ref')), /"\$ref":"https:/)
  assert.match(JSON.stringify(byName.get('output_slow_pattern')!.outputSchema), /\(a\+\)\+/)
  assert.ok(tools.includes(null))
  let depth = 0
  for (let at = byName.get('deep')!.inputSchema as Nested | undefined; at; at = at.properties?.a) depth++
  assert.ok(depth > 1_000)
})

test('--tools=none has none', async () => {
  await using server = startRaw(misbehavingEntry({ tools: ['none'] }))
  assert.deepEqual(await namesOf(server), [])
})

test('--pages splits the list, with each tool on one page', async () => {
  await using whole = startRaw(misbehavingEntry())
  await using server = startRaw(misbehavingEntry({ pages: 3 }))
  const names: string[] = []
  const sizes: number[] = []
  for (let cursor: unknown; ; ) {
    const { result } = await server.request('tools/list', cursor === undefined ? {} : { cursor })
    const page = (result!['tools'] as Definition[]).map((tool) => tool!.name)
    names.push(...page)
    sizes.push(page.length)
    cursor = result!['nextCursor']
    if (cursor === undefined) break
  }
  assert.deepEqual(names, await namesOf(whole))
  assert.equal(sizes.length, 3)
  assert.ok(sizes.every((size) => size > 0))
  assert.equal((await server.request('tools/list', { cursor: 'made up' })).error?.code, -32602)
})

test('--cursor=repeat names the same page forever, and endless always another one', async () => {
  for (const [cursor, pages] of [
    ['repeat', ['page-again', 'page-again', 'page-again']],
    ['endless', ['page-2', 'page-3', 'page-4']],
  ] as const) {
    await using server = startRaw(misbehavingEntry({ cursor }))
    const seen: unknown[] = []
    for (let time = 0; time < 3; time++) {
      const params = seen.length > 0 ? { cursor: seen.at(-1) } : {}
      const { result } = await server.request('tools/list', params)
      assert.ok((result!['tools'] as unknown[]).length > 0)
      seen.push(result!['nextCursor'])
    }
    assert.deepEqual(seen, pages)
  }
})

test('--loop notifies of a change after each list', async () => {
  await using server = startRaw(misbehavingEntry(BEHAVIOURS.listLoop))
  await server.initialize()
  for (let time = 0; time < 3; time++) await server.request('tools/list')
  await server.request('ping')
  const ids = server.messages().map(({ id, method }) => id ?? method)
  assert.deepEqual(ids, [1, 2, LIST_CHANGED, 3, LIST_CHANGED, 4, LIST_CHANGED, 5])
})

test('the change tool changes the list and notifies, advertised or not', async () => {
  for (const options of [{}, BEHAVIOURS.unadvertisedChanges]) {
    await using server = startRaw(misbehavingEntry({ ...options }))
    const { result } = await server.initialize()
    const before = await namesOf(server)
    await server.call('change', { add: ['fresh'], remove: ['echo'], times: 3 })
    assert.equal(server.messages().filter(({ method }) => method === LIST_CHANGED).length, 3)
    assert.deepEqual(await namesOf(server), [...before.filter((name) => name !== 'echo'), 'fresh'])
    assert.equal(textOf(await server.call('fresh')), 'fresh')
    assert.equal((await server.call('echo', { text: 'a' })).error?.code, -32602)
    const { tools } = result!['capabilities'] as { tools: object }
    assert.equal('listChanged' in tools, options !== BEHAVIOURS.unadvertisedChanges)
  }
})

test('big returns exactly the given number of bytes, and more than a client buffers', async () => {
  await using server = startRaw(misbehavingEntry())
  for (const bytes of [0, 1, 79, 80, 81, 100_000, 11 * 1024 * 1024]) {
    const text = textOf(await server.call('big', { bytes }))
    assert.equal(Buffer.byteLength(text), bytes)
    assert.ok(text === numberedLines(bytes))
  }
})

test('big_structured repeats its content as text', async () => {
  await using server = startRaw(misbehavingEntry())
  const answer = await server.call('big_structured', { bytes: 50_000 })
  assert.deepEqual(JSON.parse(textOf(answer)), answer.result!['structuredContent'])
  assert.ok(textOf(answer).length > 50_000)
})

test('wrong results are sent unchanged', async () => {
  await using server = startRaw(misbehavingEntry())
  const resultOf = async (name: string) => (await server.call(name)).result!
  const types = async (name: string) =>
    ((await resultOf(name))['content'] as Part[]).map((part) => part?.type)
  assert.deepEqual(await types('unknown_content'), ['text', 'hologram'])
  assert.deepEqual(await types('malformed_content'), ['text', 'image', undefined, undefined])
  assert.deepEqual(await resultOf('shapeless'), { answer: 42 })
  assert.equal((await resultOf('content_text'))['content'], 'a text instead of a list')
  assert.deepEqual((await resultOf('mismatch'))['structuredContent'], { degrees: 'warm' })
})

type Part = { type: string } | null
type Definition = { name: string; inputSchema?: Record<string, unknown>; outputSchema?: object } | null
interface Nested {
  properties?: { a?: Nested }
}

async function namesOf(server: RawClient): Promise<string[]> {
  const { result } = await server.request('tools/list')
  return (result!['tools'] as Definition[]).map((tool) => tool!.name)
}

function textOf({ result }: Message): string {
  return (result!['content'] as { text: string }[])[0]!.text
}
