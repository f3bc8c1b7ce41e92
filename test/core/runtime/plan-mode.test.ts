import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { PLAN_ANSWERS } from '../../../src/core/base/plan-answers.ts'
import { planHook } from '../../../src/core/hooks/plan/plan-hook.ts'
import type { QueuedAsk } from '../../../src/core/runtime/asks.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import type { TurnRequest } from '../../../src/core/runtime/turn-request.ts'
import { findEnd, requestMessages, startTestNode, type TestNode } from '../../support/test-node.ts'

const PLANNING = { settings: { mode: 'plan', onAsk: 'client' } } as const
const PLAN = '# Plan\n\n1. Change a.ts'
const PRESENT = { call: 'p', name: 'present_plan', args: JSON.stringify({ plan: PLAN }) }
const EDIT = { call: 'e', name: 'edit', args: '{}' }

test('a turn in plan mode may only read, presents its plan, and carries it out in the same turn', async () => {
  const files = editHook()
  await using node = await startNode([EDIT], [PRESENT], [EDIT], files)
  const { asks, events } = await answerPlans(node, [PLAN_ANSWERS.acceptEdits])
  assert.deepEqual(asks, [
    { kind: 'plan', question: PLAN, labels: ['No', 'Accept', 'Accept and allow edits'] },
  ])
  assert.equal(files.edits, 1)
  assert.equal(findEnd(events).stopReason, 'stop')
  assert.deepEqual(toolResults(node), [
    'Not permitted: edit a.ts: plan mode: this turn may only read until its plan is accepted',
    'The user accepted the plan and allows edits. Plan mode is over: carry out the plan now.',
    'edited',
  ])
  assert.deepEqual(node.server.requests.map(hasPlanMode), [true, true, false, false])
  assert.deepEqual(node.server.requests.map(offersPlan), [true, true, false, false])
})

test('after a plan that is accepted without edits, a change is asked about as usual', async () => {
  const files = editHook()
  await using node = await startNode([PRESENT], [EDIT], [], files)
  const { asks } = await answerPlans(node, [PLAN_ANSWERS.accept, 'Deny'])
  assert.deepEqual(
    asks.map(({ kind }) => kind),
    ['plan', 'permission'],
  )
  assert.equal(files.edits, 0)
})

test('changes that the user asks for go back to the model, which stays in plan mode; so does a refusal', async () => {
  const files = editHook()
  await using node = await startNode([PRESENT], [PRESENT], [EDIT], files)
  await answerPlans(node, ['also change b.ts', PLAN_ANSWERS.no])
  const [changes, refusal, edit] = toolResults(node)
  assert.match(changes!, /^The user asks for changes to the plan\..*\n\nalso change b\.ts$/s)
  assert.match(refusal!, /^The user did not accept the plan\./)
  assert.match(edit!, /plan mode/)
  assert.equal(files.edits, 0)
})

test('the plan of a turn that no user answers is its answer', async () => {
  for (const request of [
    { settings: { mode: 'plan' } },
    { settings: { mode: 'plan', onAsk: 'fail' } },
    { trust: 'unattended', settings: { mode: 'plan', onAsk: 'park' } },
  ] as const satisfies Partial<TurnRequest>[]) {
    await using node = await startTestNode([{ parts: [PLAN] }], { hooks: [planHook(), editHook()] })
    assert.equal(findEnd(await node.ask('go', request)).stopReason, 'stop')
    assert.equal(offersPlan(node.server.requests[0]!), false)
    assert.match(node.server.requests[0]!.text, /then answer with your plan in Markdown/)
  }
})

test('an accepted plan gives a remote turn no more than its class has', async () => {
  const files = editHook()
  await using node = await startNode([PRESENT], [EDIT], [], files)
  const remote = { trust: 'remote', settings: { mode: 'plan', onAsk: 'park' } } as const
  const { asks } = await answerPlans(node, [PLAN_ANSWERS.acceptEdits, PLAN_ANSWERS.accept], remote)
  assert.deepEqual(asks[0]?.labels, ['No', 'Accept'])
  assert.match(toolResults(node)[0]!, /^The user asks for changes/)
})

test('edits that a permission allows are not asked about for the rest of the turn, and not in the next one', async () => {
  const files = editHook()
  await using node = await startNode([EDIT], [EDIT], [EDIT], files)
  const { asks } = await answerPlans(node, [PERMISSION_ANSWERS.edits], { settings: { onAsk: 'client' } })
  assert.deepEqual(
    asks.map(({ kind, labels }) => [kind, labels]),
    [['permission', ['Deny', 'Allow once', 'Allow edits in this directory', 'Always allow']]],
  )
  assert.equal(files.edits, 3)
})

test('an edit outside the working directory gets no offer to allow edits, and that answer is a No', async () => {
  const files = editHook('/elsewhere/a.ts')
  await using node = await startNode([EDIT], [], [], files)
  const { asks } = await answerPlans(node, [PERMISSION_ANSWERS.edits], { settings: { onAsk: 'client' } })
  assert.deepEqual(asks[0]?.labels, ['Deny', 'Allow once', 'Allow in this conversation', 'Always allow'])
  assert.equal(files.edits, 0)
})

test("the mode of the agent's file applies to turns that name none", async () => {
  await using node = await startTestNode(() => ({ parts: ['ok'] }), { hooks: [planHook()] })
  await node.home.write('agents/crab.toml', 'mode = "plan"\n')
  await node.ask('go', { settings: { onAsk: 'client' } })
  await node.ask('go', { settings: { onAsk: 'client', mode: 'ask' } })
  assert.deepEqual(node.server.requests.map(hasPlanMode), [true, false])
})

test('present_plan refuses a plan without text, and one that is too long', async () => {
  for (const plan of ['', ' ', 'x'.repeat(50_001), 1]) {
    const present = { ...PRESENT, args: JSON.stringify({ plan }) }
    await using node = await startTestNode([{ parts: [present] }, { parts: ['ok'] }], { hooks: [planHook()] })
    const events = await node.ask('go', PLANNING)
    assert.ok(events.every(({ type }) => type !== 'ask'))
    assert.match(toolResults(node)[0]!, /^Cannot present the plan: /)
  }
})

type Part = typeof PRESENT

function startNode(...script: [Part[], Part[], Part[], Hook]): Promise<TestNode> {
  const hook = script[3]
  const steps = script.slice(0, 3) as Part[][]
  const replies = steps.map((parts) => ({ parts: parts.length > 0 ? parts : ['done'] }))
  return startTestNode([...replies, { parts: ['done'] }], { hooks: [planHook(), hook] })
}

/** Builds a tool that changes a file of the working directory. */
function editHook(path?: string): Hook & { edits: number } {
  const hook: Hook & { edits: number } = {
    edits: 0,
    schema: () => [{ name: 'edit', description: 'edit it', parameters: { type: 'object' } }],
    describe: async (name, { cwd }) => {
      return name === 'edit'
        ? { kind: 'edit', path: path ?? `${cwd}/a.ts`, shown: 'a.ts' }
        : { kind: 'tool', name, harmless: true }
    },
    dispatch(name) {
      if (name !== 'edit') return undefined
      hook.edits += 1
      return Promise.resolve({ output: 'edited', isError: false })
    },
  }
  return hook
}

interface SeenAsk {
  kind: QueuedAsk['ask']['kind']
  question: string
  labels: string[]
}

/** Runs a turn in plan mode and answers its questions in order. */
async function answerPlans(
  node: TestNode,
  answers: readonly string[],
  request: Partial<TurnRequest> = PLANNING,
): Promise<{ asks: SeenAsk[]; events: AgentEvent[] }> {
  const asks: SeenAsk[] = []
  const events: AgentEvent[] = []
  const { trust = 'local' } = request
  for await (const event of node.turn('go', request)) {
    events.push(event)
    if (event.type !== 'ask') continue
    const { kind, id, questions } = event.ask
    const [{ question, options }] = questions as [(typeof questions)[0] & object]
    const answer = answers[asks.length]!
    asks.push({ kind, question, labels: options.map(({ label }) => label) })
    const to = { agent: 'crab', sender: 'ann', trust, id }
    setImmediate(() => node.asks.reply(to, JSON.stringify({ [question]: answer })))
  }
  return { asks, events }
}

/** Returns the tool results that the model read, oldest first. */
function toolResults(node: TestNode): string[] {
  return requestMessages(node.server.requests.at(-1))
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content))
}

function hasPlanMode({ text }: { text: string }): boolean {
  return text.includes('Plan mode: change nothing yet')
}

function offersPlan({ text }: { text: string }): boolean {
  return text.includes('Show the user your plan')
}
