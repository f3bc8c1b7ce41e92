import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OnAsk } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { armCard, openCard } from '../../../src/tui/cards/card.ts'
import type { Reply } from '../../support/model-server.ts'
import {
  findEvent,
  startTestDispatch,
  type TestDispatch,
  type WireEvent,
} from '../../support/test-dispatch.ts'
import { CRAB, pressKeys } from './card-fixtures.ts'

const NEVER = new AbortController().signal
const run = (id: string, command: string) => ({ call: id, name: 'bash', args: JSON.stringify({ command }) })

/** The keys that a user presses, and the result of the call. */
const PERMISSIONS: readonly [keys: string[], output: RegExp, isDenied: boolean][] = [
  [['1', 'enter'], /^hello/, false],
  [['2', 'enter'], /^hello/, false],
  [['3', 'enter'], /^hello/, false],
  [['4', 'enter'], /said no/, true],
  [['escape'], /said no/, true],
  [['5', 'enter', 'write:use printf'], /the user said no: use printf/, true],
]

for (const [keys, output, isDenied] of PERMISSIONS) {
  test(`${keys.join(' ')} on a permission card is accepted by the runtime`, async () => {
    await using node = await startTestDispatch([{ parts: [run('a', 'expr hello')] }, { parts: ['Done.'] }])
    const { value } = findEvent(await turn(node, keys), 'toolResult')
    assert.match(value.output, output)
    assert.equal(value.denial !== undefined, isDenied)
  })
}

test('2 allows the same call for the rest of the conversation', async () => {
  const script: Reply[] = [run('a', 'expr hello'), run('b', 'expr hello')].map((call) => ({ parts: [call] }))
  await using node = await startTestDispatch([...script, { parts: ['Done.'] }])
  const events = await turn(node, ['2', 'enter'])
  assert.equal(events.filter(({ $case }) => $case === 'askUser').length, 1)
  assert.equal(events.filter(({ $case }) => $case === 'toolResult').length, 2)
})

test("3 writes the rule to the agent's file", async () => {
  await using node = await startTestDispatch([{ parts: [run('a', 'expr hello')] }, { parts: ['Done.'] }])
  await turn(node, ['3', 'enter'])
  assert.match(await node.home.read('agents/crab.toml'), /bash\(expr /)
})

test("a form answers the agent's question, and Esc leaves the decision to the agent", async () => {
  const questions = [
    { question: 'Which one?', options: ['first', 'second'] },
    { question: 'Which of them?', options: ['a', 'b', 'c'], multi: true },
    { question: 'What name?' },
  ]
  const ask = { call: 'a', name: 'ask_user', args: JSON.stringify({ questions }) }
  await using node = await startTestDispatch([
    { parts: [ask] },
    { parts: ['Thanks.'] },
    { parts: [ask] },
    { parts: ['Well.'] },
  ])
  const marks = ['1', 'enter', '3', 'enter', '5', 'enter']
  const keys = ['2', 'enter', ...marks, '1', 'enter', 'write:crab', '1', 'enter']
  const { value } = findEvent(await turn(node, keys), 'toolResult')
  assert.deepEqual(JSON.parse(value.output), {
    'Which one?': 'second',
    'Which of them?': 'a, c',
    'What name?': 'crab',
  })
  assert.match(findEvent(await turn(node, ['escape']), 'toolResult').value.output, /chose not to answer/)
})

/** Runs a turn; these keys answer each card it opens. */
async function turn(node: TestDispatch, keys: readonly string[]): Promise<WireEvent[]> {
  const message = { agent: 'crab', sender: 'ann', content: 'go', options: { onAsk: OnAsk.CLIENT } }
  const events: WireEvent[] = []
  for await (const { event } of streamTurn(node.dispatch, message, NEVER)) {
    events.push(event!)
    if (event?.$case !== 'askUser') continue
    const { effects } = pressKeys(armCard(openCard(event.value, CRAB)), keys)
    const answer = effects.find(({ type }) => type === 'answer')
    assert.ok(answer?.type === 'answer')
    const content = JSON.stringify(answer.answers)
    await request(
      node.dispatch,
      'replyToAsk',
      { agent: 'crab', sender: 'ann', askId: answer.askId, content },
      NEVER,
    )
  }
  return events
}
