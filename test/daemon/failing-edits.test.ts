import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const READ = { call: 'r', name: 'read', args: '{"path":"notes.txt"}' }

test('an edit that is known to fail is not asked about; the corrected one is', async () => {
  const impossible = edit('lost', 'x')
  await using node = await startTestDispatch([
    { parts: [edit('early', 'one')] },
    { parts: [READ] },
    { parts: [impossible] },
    { parts: [edit('good', 'one')] },
    { parts: ['Done.'] },
  ])
  await node.home.write('notes.txt', 'one\n')
  const { asked: diffs, results } = await follow(node)
  assert.match(results.get('early') ?? '', /you have not read it/)
  assert.match(results.get('lost') ?? '', /old does not occur/)
  assert.deepEqual([diffs.length, await node.home.read('notes.txt')], [1, 'two\n'])
})

test('of several edits in one step, only those that can succeed after the ones before are asked about', async () => {
  await using node = await startTestDispatch([
    { parts: [READ] },
    {
      parts: [
        edit('first', 'one'),
        edit('lost', 'three'),
        edit('second', 'two', 'six'),
        edit('third', 'six'),
      ],
    },
    { parts: ['Done.'] },
  ])
  await node.home.write('notes.txt', 'one\n')
  const { asked: diffs, results } = await follow(node)
  assert.deepEqual(
    diffs.map((diff) => diff.split('\n').filter((line) => /^[+-]\w/.test(line))),
    [
      ['-one', '+two'],
      ['-two', '+six'],
      ['-six', '+two'],
    ],
  )
  assert.match(results.get('lost') ?? '', /old does not occur/)
  assert.equal(await node.home.read('notes.txt'), 'two\n')
})

test('an edit of an unread file is refused without asking, unless a call in the same step reads the file', async () => {
  const listing = { call: 'ls', name: 'bash', args: '{"command":"expr 1"}' }
  await using node = await startTestDispatch([
    { parts: [listing, listing, edit('early', 'one')] },
    { parts: [READ, edit('good', 'one')] },
    { parts: ['Done.'] },
  ])
  await node.home.write('notes.txt', 'one\n')
  const { asked: diffs, results } = await follow(node)
  assert.match(results.get('early') ?? '', /you have not read it/)
  assert.deepEqual(
    diffs.map((diff) => diff === ''),
    [true, true, false],
  )
  assert.equal(await node.home.read('notes.txt'), 'two\n')
})

function edit(call: string, old: string, text = 'two') {
  return {
    call,
    name: 'edit',
    args: JSON.stringify({ path: 'notes.txt', edits: [{ old, new: text }] }),
  }
}

/** Runs a turn in which everything is allowed: returns the diffs that were shown, and the tool results. */
async function follow({ dispatch, home }: TestDispatch) {
  const diffs: string[] = []
  const results = new Map<string, string>()
  const options = { onAsk: OnAsk.CLIENT }
  const message = { agent: 'crab', sender: 'ann', content: 'go', cwd: home.paths.home, options }
  for await (const { event } of streamTurn(dispatch, message, NEVER)) {
    if (event?.$case === 'toolResult') results.set(event.value.callId, event.value.output)
    if (event?.$case !== 'askUser') continue
    const { askId, permission, questions } = event.value
    diffs.push(permission?.diff ?? '')
    const content = JSON.stringify({ [questions[0]!.question]: 'Allow once' })
    await request(dispatch, 'replyToAsk', { agent: 'crab', sender: 'ann', askId, content }, NEVER)
  }
  return { asked: diffs, results }
}
