import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import type { TurnRequest } from '../../../src/core/runtime/turn-request.ts'
import { requestMessages, startTestNode, type TestNode } from '../../support/test-node.ts'

const { once, session, no } = PERMISSION_ANSWERS
const CLIENT = { settings: { onAsk: 'client' } } as const
const CALL = { call: 'c', name: 'bash', args: '{"command":"rm -rf build","timeout":5}' }

test('a call that the user has changed runs as changed, and the model reads what ran', async () => {
  const shell = shellHook()
  await using node = await startNode(shell)
  const events = await answerCall(node, once, '{"command":"rm -r build/tmp"}')
  assert.deepEqual(shell.ran, ['rm -r build/tmp'])
  assert.equal(
    readResult(node),
    '[The user changed this call. It ran with {"command":"rm -r build/tmp"}]\nran rm -r build/tmp',
  )
  const notices = events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
  assert.deepEqual(notices, ['The call of bash was changed by ann before it ran'])
  const decisions = (await node.lines()).filter(
    (line) => line.kind === 'event' && line.event === 'permission',
  )
  assert.deepEqual(
    decisions.map(
      (line) => line.kind === 'event' && line.event === 'permission' && [line.reason, line.arguments],
    ),
    [['ann changed it and allowed it', '{"command":"rm -r build/tmp"}']],
  )
})

test('a changed call is judged again: what a rule denies does not run, and what fails says what was tried', async () => {
  const shell = shellHook()
  await using node = await startNode(shell)
  await answerCall(node, once, '{"command":"git push"}', { deny: ['bash(git push *)'] })
  assert.deepEqual(shell.ran, [])
  assert.match(readResult(node), /^Not permitted: bash: git push: --deny denies/)
  await using other = await startNode(shell)
  await answerCall(other, once, '{"command":"fail"}')
  assert.match(readResult(other), /^\[The user changed this call\. It ran with .*\]\n.*no such program$/)
})

test('a change that is not a JSON object, or comes with another answer, is refused, and the question stays open', async () => {
  const shell = shellHook()
  await using node = await startNode(shell)
  for await (const event of node.turn('go', CLIENT)) {
    if (event.type !== 'ask') continue
    const { question } = event.ask.questions[0]!
    const reply = (answer: string, args?: string, trust: TurnRequest['trust'] = 'local') =>
      node.asks.reply(
        { agent: 'crab', sender: 'ann', trust, id: event.ask.id },
        JSON.stringify({ [question]: answer }),
        args,
      )
    for (const answer of [session, no, 'because'])
      assert.throws(() => reply(answer, '{"command":"ls"}'), {
        kind: 'invalid',
        message: /only be allowed once/,
      })
    for (const args of ['', '[]', 'ls'])
      assert.throws(() => reply(once, args), { kind: 'invalid', message: /not a JSON object/ })
    assert.throws(() => reply(once, '{"command":"ls"}', 'remote'), { kind: 'denied' })
    reply(once)
  }
  assert.deepEqual(shell.ran, ['rm -rf build'])
})

test('a question that is not about a call, and a call of a remote turn, cannot be changed', async () => {
  const shell = shellHook()
  await using node = await startNode(shell)
  const asks: boolean[] = []
  for await (const event of node.turn('go', { trust: 'unattended', settings: { onAsk: 'park' } })) {
    if (event.type !== 'ask') continue
    asks.push(event.ask.permission!.editable)
    const { question } = event.ask.questions[0]!
    const to = { agent: 'crab', sender: 'ann', trust: 'local', id: event.ask.id } as const
    const content = JSON.stringify({ [question]: once })
    assert.throws(() => node.asks.reply(to, content, '{}'), { kind: 'invalid' })
    node.asks.reply(to, content)
  }
  assert.deepEqual(asks, [false])
})

function startNode(hook: Hook): Promise<TestNode> {
  return startTestNode([{ parts: [CALL] }, { parts: ['ok'] }], { hooks: [hook] })
}

/** Builds a `bash` that runs nothing and records its commands. */
function shellHook(): Hook & { ran: string[] } {
  const ran: string[] = []
  return {
    ran,
    schema: () => [{ name: 'bash', description: 'run it', parameters: { type: 'object' } }],
    describe: async (_, { args }) => ({ kind: 'bash', command: String(args['command']) }),
    async dispatch(_, { args }) {
      const command = String(args['command'])
      if (command === 'fail') throw new Error('no such program')
      ran.push(command)
      return { output: `ran ${command}`, isError: false }
    },
  }
}

async function answerCall(
  node: TestNode,
  answer: string,
  args: string,
  settings: TurnRequest['settings'] = {},
): Promise<AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of node.turn('go', { settings: { ...CLIENT.settings, ...settings } })) {
    events.push(event)
    if (event.type !== 'ask') continue
    const content = JSON.stringify({ [event.ask.questions[0]!.question]: answer })
    node.asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: event.ask.id }, content, args)
  }
  return events
}

/** Returns the last tool result that the model read. */
function readResult(node: TestNode): string {
  const messages = requestMessages(node.server.requests.at(-1))
  return String(messages.findLast(({ role }) => role === 'tool')?.['content'])
}
