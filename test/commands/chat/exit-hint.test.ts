import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitHint } from '../../../src/commands/chat/exit-hint.ts'
import type { Farewell } from '../../../src/tui/state/farewell.ts'

const QUIET: Farewell = {
  session: undefined,
  running: undefined,
  others: 0,
  otherAsks: 0,
  unanswered: undefined,
}
const SESSION = '0123456789abcdef-01J0000000000000003F7K2M9Q'
const ASKS = { agent: 'crab', sender: 'sh:1' }

test('exitHint() says how to continue, after what still runs or waits', () => {
  const hint = (more: Partial<Farewell>) => exitHint({ ...QUIET, ...more })
  assert.equal(hint({}), '')
  assert.equal(hint({ session: SESSION }), 'Continue: crabtalk --resume 3F7K2M9Q\n')
  assert.equal(
    hint({ session: SESSION, running: '01J000000000000000008QK2M0', others: 2 }),
    `A turn is still running. Watch it: crabtalk attach 008QK2M0
2 turns of other conversations are still running. See them: /agents in the chat
Continue: crabtalk --resume 3F7K2M9Q
`,
  )
  assert.equal(
    hint({ otherAsks: 1 }),
    '1 question of another conversation is waiting. See it: crabtalk asks\n',
  )
  assert.match(
    hint({ otherAsks: 2 }),
    /^2 questions of other conversations are waiting\. See them: crabtalk asks$/m,
  )
  assert.equal(
    hint({ running: 'crab/a b' }),
    "A turn is still running. Watch it: crabtalk attach 'crab/a b'\n",
  )
  const one = { ...ASKS, askIds: ['01J000000000000000000000A1'], isWaiting: true }
  assert.equal(
    hint({ running: 'r', unanswered: one }),
    'A question is waiting. Answer it: crabtalk answer 000000A1\n',
    'the turn that asks is not named twice',
  )
  assert.equal(
    hint({ unanswered: { ...one, askIds: ['a', 'b'] } }),
    '2 questions are waiting. See them: crabtalk asks\n',
  )
  assert.equal(
    hint({ unanswered: { ...one, isWaiting: false } }),
    'The open question ended with the chat and its turn.\n',
  )
})
