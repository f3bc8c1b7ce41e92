import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryHook } from '../../../../src/core/hooks/memory/memory-hook.ts'
import { MemoryStore } from '../../../../src/core/memory/memory-store.ts'
import type { Op } from '../../../../src/core/memory/ops.ts'
import type { Hook } from '../../../../src/core/runtime/hook.ts'
import { toolDispatch, toolRequest } from '../../../support/dispatches.ts'

const NEVER = new AbortController().signal
const TOOLS = ['remember', 'forget', 'recall']

test('memoryHook() offers three tools with short schemas, of which one is read-only', async () => {
  const tools = await memoryHook({} as never).schema!({} as never, { emit: () => undefined, signal: NEVER })
  assert.deepEqual(
    tools.map(({ name, readOnly }) => [name, readOnly]),
    [
      ['remember', undefined],
      ['forget', undefined],
      ['recall', true],
    ],
  )
  const prompt = memoryHook({} as never).systemPrompt!(() => true)!
  assert.ok(JSON.stringify(tools).length + prompt.length <= 700)
})

test('memoryHook() says when to use the memory tools that a turn has, and does not mention others', () => {
  const hook = memoryHook({} as never)
  const saying = (...names: string[]) => hook.systemPrompt!(({ name }) => names.includes(name))
  assert.match(saying(...TOOLS)!, /recall .*remember /)
  assert.match(saying('recall')!, /^(?!.*remember).*recall/)
  assert.match(saying('remember')!, /^(?!.*recall).*remember/)
  assert.equal(saying('read'), undefined)
})

test("memoryHook() describes each call as one on the agent's own memory", async () => {
  const hook = memoryHook({} as never)
  const args = { name: 'a', content: 'b', query: 'c' }
  for (const [name, harmless] of [
    ['remember', false],
    ['forget', false],
    ['recall', true],
  ] as const) {
    const action = await hook.describe!(name, toolRequest({ args }))
    assert.deepEqual(action, { kind: 'tool', name, harmless, own: true })
  }
  assert.equal(hook.describe!('bash', toolRequest()), undefined)
  assert.equal(hook.dispatch!('bash', toolDispatch(), NEVER), undefined)
})

test('memoryHook() rejects invalid arguments, and names the field', async () => {
  const hook = memoryHook({} as never)
  for (const [name, args, field] of [
    ['remember', { content: 'x' }, 'name'],
    ['remember', { name: ' ', content: 'x' }, 'name'],
    ['remember', { name: 'x' }, 'content'],
    ['remember', { name: 'x', content: 'x', aliases: [1] }, 'aliases'],
    ['forget', { name: 1 }, 'name'],
    ['recall', {}, 'query'],
    ['recall', { query: 'x', limit: 'many' }, 'limit'],
    ['recall', { query: 'x', limit: 0 }, 'limit'],
  ] as const) {
    const refused = { kind: 'invalid', message: new RegExp(`^Cannot run ${name}: ${field} must be`) }
    await assert.rejects(hook.describe!(name, toolRequest({ args }))!, refused)
  }
})

test('remember adds a note of its agent, and returns the text it replaced', async () => {
  await using home = await openHome()
  assert.equal(
    await home.call('remember', { name: 'deploy', content: 'by hand', aliases: 'ship' }),
    'Remembered "deploy"',
  )
  assert.equal(
    await home.call('remember', { name: 'ship', content: 'by hand', aliases: null }),
    'Remembered "deploy"',
  )
  const answer = await home.call('remember', { name: 'ship', content: 'by robot', aliases: ['go', ''] })
  assert.equal(answer, 'Remembered "deploy" in place of: by hand')
  const { entries } = await home.memory.read('crab')
  assert.deepEqual(entries, [
    { id: 1n, createdAt: 60n, kind: 'note', name: 'deploy', content: 'by robot', aliases: ['ship', 'go'] },
  ])
})

test('forget removes a note by any of its names, and never an archive', async () => {
  await using home = await openHome()
  await home.call('remember', { name: 'deploy', content: 'by hand', aliases: ['ship'] })
  assert.equal(await home.call('forget', { name: 'ship' }), 'Forgot "deploy", which said: by hand')
  await assert.rejects(home.call('forget', { name: 'ship' }), { kind: 'missing' })
  await home.memory.apply('crab', archive('s-1', 'The plan', 'long ago'), NEVER)
  for (const tool of ['forget', 'remember']) {
    await assert.rejects(home.call(tool, { name: 'The plan', content: 'x' }), {
      kind: 'conflict',
      message: /archive/,
    })
  }
})

test('recall finds entries by words, and an entry of exactly that name first and in full', async () => {
  await using home = await openHome()
  const long = `${'sand '.repeat(2000)}the tide turns at noon ${'sand '.repeat(2000)}`
  await home.call('remember', { name: 'tide', content: long })
  await home.call('remember', { name: 'moon', content: 'pulls the tide', aliases: ['luna'] })
  await home.memory.apply('crab', archive('s-1', 'The plan', 'of the tides'), NEVER)
  const byWord = await home.call('recall', { query: 'noon' })
  assert.match(
    byWord,
    /^\[tide\] note of 1970-01-01 \(a part; recall it by its name for all\)\n….* turns at noon .*…$/,
  )
  assert.ok(byWord.length < 2000)
  const byName = await home.call('recall', { query: 'tide' })
  assert.ok(byName.startsWith(`[tide] note of 1970-01-01\n${long.slice(0, 20_000)}`))
  assert.match(byName, /\n\n\[moon\] \(also luna\) note of 1970-01-01\npulls the tide/)
  assert.match(byName, /\n\n\[s-1\] \(also The plan\) archive of 1970-01-01\nof the tides/)
  assert.equal(byName.split('[tide]').length, 2)
  assert.match(await home.call('recall', { query: 'luna' }), /^\[moon\]/)
  assert.doesNotMatch(await home.call('recall', { query: 'tide', limit: '1' }), /\[moon\]/)
})

test('recall lists what exists when it finds nothing', async () => {
  await using home = await openHome()
  assert.equal(await home.call('recall', { query: 'x y' }), 'The memory is empty')
  await home.call('remember', { name: 'moon', content: 'pulls' })
  await home.memory.apply('crab', archive('s-1', 'The plan', 'long ago'), NEVER)
  assert.equal(
    await home.call('recall', { query: 'x y' }),
    'Nothing is remembered about "x y"; it knows "moon"',
  )
})

function archive(name: string, title: string, content: string): Op {
  return { op: 'add', kind: 'archive', name, aliases: [title], content, createdAt: 1n }
}

async function openHome() {
  const dir = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const lock = async () => new AsyncDisposableStack()
  const memory = new MemoryStore({ folder: dir.path, lock, now: Date.now })
  const hook: Hook = memoryHook({ memory, now: () => 60_999 })
  return {
    memory,
    async call(name: string, args: Record<string, unknown>): Promise<string> {
      const { output, isError } = (await hook.dispatch!(name, toolDispatch({ args }), NEVER))!
      assert.equal(isError, false)
      return output
    },
    [Symbol.asyncDispose]: () => dir.remove(),
  }
}
