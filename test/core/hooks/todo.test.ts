import assert from 'node:assert/strict'
import { test } from 'node:test'
import { todoHook } from '../../../src/core/hooks/todo.ts'
import type { ToolDispatch } from '../../../src/core/runtime/hook.ts'

const NEVER = new AbortController().signal

test('todo answers with the progress of the list', async () => {
  const items = [
    'Read',
    { text: 'Fix', status: 'completed' },
    { text: 'Test', status: 'in_progress' },
    { text: ' ' },
  ]
  assert.deepEqual(await update({ items }), { output: '1 of 3 done', isError: false })
  assert.deepEqual(await update({ items: [] }), { output: '0 of 0 done', isError: false })
})

test('todo says which shape it expects, and limits the list', async () => {
  for (const items of [undefined, 'Read', [1], [{ text: 1 }], [{ text: 'a', status: 'open' }]])
    assert.match(
      (await update({ items }))?.output ?? '',
      /^Cannot update the list: items must be of this shape: \["\[x\] a step/,
    )
  assert.match((await update({ items: Array(51).fill('a') }))?.output ?? '', /more than 50 items$/)
  assert.match((await update({ items: ['a'.repeat(501)] }))?.output ?? '', /longer than 500 characters$/)
})

test('the definition of todo is short, and its calls need no permission', async () => {
  const [spec] = await todoHook().schema!({} as never, { emit: () => undefined, signal: NEVER })
  assert.equal(spec?.readOnly, true)
  assert.ok(JSON.stringify(spec?.parameters).length <= 120)
  assert.equal(todoHook().dispatch!('bash', {} as ToolDispatch, NEVER), undefined)
})

async function update(args: Record<string, unknown>) {
  return await todoHook().dispatch!('todo', { args } as unknown as ToolDispatch, NEVER)
}
