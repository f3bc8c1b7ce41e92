import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import type { MemoryEntry, MemoryOp } from '../../src/core/protocol/crabtalk.generated.ts'
import { MemoryKind } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { Reply } from '../support/model-server.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('memory_op remembers, renames, adds aliases and forgets, and returns the entry', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  const created = await change(dispatch, remember('deploy', 'by hand', ['ship']))
  assert.deepEqual({ ...created, createdAt: '' }, toEntry('deploy', 'by hand', ['ship']))
  assert.ok(Math.abs(Date.parse(created.createdAt) - Date.now()) < 60_000)
  assert.deepEqual((await change(dispatch, remember('ship', 'by robot', ['go']))).aliases, ['ship', 'go'])
  const renamed = await change(dispatch, { $case: 'rename', value: { name: 'go', newName: 'release' } })
  assert.deepEqual([renamed.name, renamed.aliases], ['release', ['deploy', 'ship', 'go']])
  const aliased = await change(dispatch, {
    $case: 'alias',
    value: { name: 'go', add: ['x'], remove: ['go', 'ship'] },
  })
  assert.deepEqual(aliased.aliases, ['deploy', 'x'])
  assert.equal((await change(dispatch, { $case: 'forget', value: { name: 'x' } })).content, 'by robot')
  assert.deepEqual(await list(dispatch), { entries: [], total: 0 })
})

test('memory_op rejects missing and taken names, and archives', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  await withArchive(node)
  await change(dispatch, remember('a', 'x'))
  const refused: [MemoryOp['op'], string][] = [
    [undefined, 'invalid'],
    [remember('', 'x'), 'invalid'],
    [{ $case: 'forget', value: { name: 'b' } }, 'missing'],
    [{ $case: 'rename', value: { name: 'a', newName: 'The plan' } }, 'conflict'],
    [remember('The plan', 'x'), 'conflict'],
    [{ $case: 'forget', value: { name: 's-1' } }, 'conflict'],
  ]
  for (const [op, kind] of refused) await assert.rejects(change(dispatch, op), { kind })
  await assert.rejects(change(dispatch, remember('a', 'x'), 'nobody'), { kind: 'missing' })
  await assert.rejects(change(dispatch, remember('a', 'x'), '../crab'), { kind: /invalid|missing/ })
  assert.deepEqual(toNames((await list(dispatch)).entries), ['a', 's-1'])
})

test('list_memory returns entries by name, page by page, of one kind, or one by any of its names', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  await withArchive(node)
  for (const name of ['c', 'a', 'b']) await change(dispatch, remember(name, `of ${name}`))
  assert.deepEqual(toNames((await list(dispatch)).entries), ['a', 'b', 'c', 's-1'])
  const page = await list(dispatch, { offset: 1, limit: 2 })
  assert.deepEqual([toNames(page.entries), page.total], [['b', 'c'], 4])
  const archives = await list(dispatch, { kind: MemoryKind.ARCHIVE })
  assert.deepEqual([toNames(archives.entries), archives.total], [['s-1'], 1])
  assert.deepEqual((await list(dispatch, { name: 'The plan' })).entries[0]?.content, 'how the tides go')
  await assert.rejects(list(dispatch, { name: 'C' }), { kind: 'missing' })
})

test('list_memory sends as many entries as fit a frame, and at least one', async () => {
  await using node = await startTestDispatch([])
  const entry = { id: 0n, createdAt: 1n, kind: 'note', content: 'x'.repeat(2 ** 20), aliases: [] } as const
  const entries = Array.from({ length: 12 }, (_, n) => ({ ...entry, name: `${n + 10}` }))
  await node.services.memory.replace('crab', entries, NEVER)
  const names: string[] = []
  for (let total = 1; names.length < total; ) {
    const page = await list(node.dispatch, { offset: names.length })
    assert.ok(page.entries.length > 0 && page.entries.length < 9, `${page.entries.length}`)
    names.push(...toNames(page.entries))
    total = page.total
  }
  assert.deepEqual(names, toNames(entries))
})

test('search_memory finds entries by words, and returns where they match', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  await withArchive(node)
  await change(dispatch, remember('moon', 'ä: pulls the Tide, and tides again', ['luna']))
  const { hits } = await request(dispatch, 'searchMemory', { agent: '', query: 'TIDE', limit: 0 }, NEVER)
  assert.deepEqual(hits.map(({ entry }) => entry!.name).sort(), ['moon', 's-1'])
  const { entry, matches, score } = hits.find((hit) => hit.entry!.name === 'moon')!
  const bytes = Buffer.from(entry!.content)
  const words = matches.flatMap((from, n) =>
    n % 2 === 0 ? [bytes.subarray(from, matches[n + 1]).toString()] : [],
  )
  assert.deepEqual(words, ['Tide', 'tides'])
  assert.ok(score > 0)
  const one = await request(dispatch, 'searchMemory', { agent: 'crab', query: 'luna', limit: 1 }, NEVER)
  assert.deepEqual([one.hits.length, one.hits[0]?.entry?.name], [1, 'moon'])
})

test('replace_memory replaces the contents of a memory with those of another, and answers without contents', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  await change(dispatch, remember('gone', 'x'))
  const replacement = [
    { ...toEntry('b', 'two', ['y']), id: 0, createdAt: '2026-04-14T10:23:45Z' },
    { ...toEntry('a', 'one', []), id: 0, kind: MemoryKind.ARCHIVE },
  ]
  const answer = await request(dispatch, 'replaceMemory', { agent: 'crab', entries: replacement }, NEVER)
  assert.deepEqual([toNames(answer.entries), answer.total], [['a', 'b'], 2])
  assert.ok(answer.entries.every(({ content }) => content === ''))
  const { entries } = await list(dispatch)
  assert.deepEqual(entries[1], { ...replacement[0], id: 2 })
  assert.ok(Math.abs(Date.parse(entries[0]!.createdAt) - Date.now()) < 60_000)
  const wrong = [replacement[0]!, { ...replacement[1]!, aliases: ['y'] }]
  await assert.rejects(request(dispatch, 'replaceMemory', { agent: '', entries: wrong }, NEVER), {
    kind: 'invalid',
  })
  const untimed = [{ ...replacement[0]!, createdAt: 'soon' }]
  await assert.rejects(request(dispatch, 'replaceMemory', { agent: '', entries: untimed }, NEVER), {
    kind: 'invalid',
  })
  assert.equal((await list(dispatch)).total, 2)
})

test('a memory can be read and changed after its agent is deleted', async () => {
  await using node = await startTestDispatch([])
  const { dispatch } = node
  await request(dispatch, 'createAgent', { name: 'judge', config: '', prompt: '' }, NEVER)
  await change(dispatch, remember('law', 'is law'), 'judge')
  await request(dispatch, 'deleteAgent', { name: 'judge' }, NEVER)
  assert.deepEqual(toNames((await list(dispatch, { agent: 'judge' })).entries), ['law'])
  await change(dispatch, { $case: 'forget', value: { name: 'law' } }, 'judge')
})

test('an agent remembers in one conversation and recalls in another without permission prompts', async () => {
  const args = { name: 'deploy', content: 'on Fridays never' }
  await using node = await startTestDispatch([
    toolCall('remember', args),
    { parts: ['done'] },
    toolCall('recall', { query: 'fridays' }),
    { parts: ['never'] },
  ])
  await node.ask('keep that')
  await node.ask('when?', { sender: 'bob' })
  const results = node.server.requests.map(({ text }) => text)
  assert.match(results[1]!, /Remembered \\"deploy\\"/)
  assert.match(results[3]!, /\[deploy\] note of .*\\non Fridays never/)
})

test('a remote turn cannot use the memory unless a rule of its class allows it', async () => {
  const recall = toolCall('recall', { query: 'deploy' })
  await using node = await startTestDispatch([
    ...[recall, { parts: ['no'] }, recall, { parts: ['no'] }],
    ...[recall, { parts: ['yes'] }],
  ])
  await change(node.dispatch, remember('deploy', 'on Fridays never'))
  const far = route(handlers(node.services, TCP_CLIENT))
  const ask = async () => {
    await Array.fromAsync(streamTurn(far, { agent: 'crab', sender: 'tg:1', content: 'when?' }, NEVER))
  }
  await ask()
  await node.services.agents.addRule('crab', 'recall')
  await ask()
  await node.home.write('agents/crab.toml', '[permissions.remote]\nallow = ["recall"]\n')
  await ask()
  const texts = node.server.requests.map(({ text }) => text)
  for (const text of texts.slice(0, 4)) assert.doesNotMatch(text, /on Fridays never|"name":"recall","desc/)
  assert.match(texts[5]!, /on Fridays never/)
})

function toolCall(name: string, args: object): Reply {
  return { parts: [{ call: 'c', name, args: JSON.stringify(args) }] }
}

async function withArchive({ services }: TestDispatch): Promise<void> {
  const archive = {
    kind: 'archive',
    name: 's-1',
    aliases: ['The plan'],
    content: 'how the tides go',
  } as const
  await services.memory.apply('crab', { op: 'add', createdAt: 1n, ...archive }, NEVER)
}

async function change(dispatch: Dispatch, op: MemoryOp['op'], agent = ''): Promise<MemoryEntry> {
  return await request(dispatch, 'memoryOp', { agent, op }, NEVER)
}

async function list(
  dispatch: Dispatch,
  more: { agent?: string; name?: string; kind?: MemoryKind; offset?: number; limit?: number } = {},
) {
  return await request(dispatch, 'listMemory', { agent: '', name: '', offset: 0, limit: 0, ...more }, NEVER)
}

function remember(name: string, content: string, aliases: string[] = []): MemoryOp['op'] {
  return { $case: 'remember', value: { name, content, aliases } }
}

function toEntry(name: string, content: string, aliases: string[]): MemoryEntry {
  return { id: 1, createdAt: '', kind: MemoryKind.NOTE, name, content, aliases }
}

function toNames(entries: readonly { name: string }[]): string[] {
  return entries.map(({ name }) => name)
}
