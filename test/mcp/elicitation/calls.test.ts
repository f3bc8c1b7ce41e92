import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Question } from '../../../src/core/runtime/asks.ts'
import type { ToolDispatch } from '../../../src/core/runtime/hook.ts'
import { CallsInFlight } from '../../../src/mcp/elicitation/calls-in-flight.ts'
import { askingEntry, everythingEntry, type StdioEntry } from '../../support/mcp/mcp-servers.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, run } from '../mcp-node.ts'

const COLOUR = {
  message: 'Which colour?',
  schema: {
    type: 'object',
    properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
    required: ['colour'],
  },
}

async function asking(node: McpNode, entry: StdioEntry) {
  const agent = agentWith([entry])
  await offer(node, agent)
  const call = (
    ask: ToolDispatch['ask'],
    options: { args?: object; runId?: string; tool?: string; notice?: (text: string) => void } = {},
    signal = NEVER,
  ) =>
    run(
      node,
      agent,
      {
        name: `mcp__${entry.name}__${options.tool ?? 'ask'}`,
        args: { ...(options.args ?? COLOUR) },
        ask,
        runId: options.runId ?? 'run',
        ...(options.notice && { notice: options.notice }),
      },
      signal,
    )
  return { agent, call }
}

const answering = (label: string) => async (questions: readonly Question[]) =>
  Object.fromEntries(questions.map(({ question }) => [question, label]))

const NOBODY = async () => {
  const { CrabError } = await import('../../../src/core/base/errors.ts')
  throw new CrabError('denied', 'nobody')
}

for (const era of ['legacy', 'modern'] as const) {
  test(`a ${era} server's question during a call is put to the person of the turn`, async () => {
    await using node = await mcpNode()
    const { call } = await asking(node, askingEntry(era))
    const kinds: string[] = []
    const answer = await call(async (questions, kind) => {
      kinds.push(kind)
      return await answering('blue')(questions)
    })
    assert.deepEqual(JSON.parse(answer!.output), {
      kind: 'elicit',
      action: 'accept',
      content: { colour: 'blue' },
    })
    assert.deepEqual(kinds, ['elicitation'])
  })

  test(`a ${era} server's question is declined where nobody can be asked`, async () => {
    await using node = await mcpNode()
    const { agent, call } = await asking(node, askingEntry(era))
    const answer = await call(NOBODY)
    assert.deepEqual(JSON.parse(answer!.output), { kind: 'elicit', action: 'decline' })
    const at = { agent, name: 'docs', tool: 'ask', args: COLOUR, spillDir: node.folder }
    const direct = await node.servers.call(at, NEVER)
    assert.deepEqual(JSON.parse(direct.output), { kind: 'elicit', action: 'decline' })
  })

  test(`the time a person takes to answer a ${era} server is not the call's`, async () => {
    await using node = await mcpNode()
    const { call } = await asking(node, { ...askingEntry(era), timeout_ms: 1_500 } as StdioEntry)
    const slow = async (questions: readonly Question[]) => {
      await new Promise((resolve) => setTimeout(resolve, 1_700)) // longer than the call may take
      return await answering('red')(questions)
    }
    const answer = await call(slow)
    assert.match(answer!.output, /"colour":"red"/)
  })

  test(`a call that is aborted takes the question of a ${era} server back`, async () => {
    await using node = await mcpNode()
    const { call } = await asking(node, askingEntry(era))
    const stop = new AbortController()
    const isAsked = Promise.withResolvers<AbortSignal>()
    const aborted = call(
      (_, __, signal) => {
        isAsked.resolve(signal!)
        return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
      },
      {},
      stop.signal,
    )
    const signal = await isAsked.promise
    stop.abort()
    await assert.rejects(aborted!, { kind: 'cancelled' })
    await until('the question is taken back', () => signal.aborted)
  })
}

test('with calls of two turns under way, an older server reaches the person of neither', async () => {
  await using node = await mcpNode()
  const { call } = await asking(node, askingEntry('legacy'))
  const first = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const one = call(
    async (questions) => {
      first.resolve()
      await release.promise
      return await answering('red')(questions)
    },
    { runId: 'one' },
  )
  await first.promise
  const told: string[] = []
  const notice = (text: string) => void told.push(text)
  const two = await call(() => assert.fail('reaches a person'), { runId: 'two', notice })
  assert.match(told.join(), /^Declined a question of the MCP server "docs": it may belong to another call/)
  assert.deepEqual(JSON.parse(two!.output), { kind: 'elicit', action: 'decline' })
  release.resolve()
  assert.match((await one)!.output, /"colour":"red"/)
})

test('with calls of two turns under way, a server of the newest revision reaches the right person', async () => {
  await using node = await mcpNode()
  const { call } = await asking(node, askingEntry('modern'))
  const answers = await Promise.all(
    ['red', 'blue'].map((colour) => call(answering(colour), { runId: colour })),
  )
  assert.deepEqual(
    answers.map((answer) => JSON.parse(answer!.output).content),
    [{ colour: 'red' }, { colour: 'blue' }],
  )
})

test('an address that a server of the newest revision wants opened is put to the person', async () => {
  await using node = await mcpNode()
  const { call } = await asking(node, askingEntry('modern'))
  const asked: string[] = []
  const answer = await call(
    async (questions) => {
      asked.push(...questions.map(({ question }) => question))
      return await answering('Done')(questions)
    },
    { args: { url: 'https://example.com/login', message: 'Log in' } },
  )
  assert.match(asked[0]!, /example\.com\nhttps:\/\/example\.com\/login\nLog in$/)
  assert.deepEqual(JSON.parse(answer!.output), { kind: 'elicit', action: 'accept' })
})

test('the forms and addresses of the official server are answered', async () => {
  await using node = await mcpNode()
  const { call } = await asking(node, everythingEntry())
  const given: Record<string, string> = {
    String: 'Ada',
    'Titled Multiple Select Enum': 'Tuna, Trout',
    Boolean: 'Yes',
  }
  const form = await call(
    async (questions) =>
      Object.fromEntries(
        questions.map(({ question, header }) => [question, header === '' ? 'Answer' : (given[header] ?? '')]),
      ),
    { tool: 'trigger-elicitation-request', args: {} },
  )
  assert.match(form!.output, /"name": "Ada"/)
  assert.match(form!.output, /"fish-1",\s+"fish-3"/)
  assert.match(form!.output, /"integer": 42/)
  const args = { url: 'https://example.com/a', errorPath: true }
  const open = await call(answering('Done'), { tool: 'trigger-url-elicitation', args })
  assert.match(open!.output, /User completed the URL elicitation flow/)
  const declined = await call(answering('Decline'), {
    tool: 'trigger-url-elicitation',
    args: { ...args, url: 'https://example.com/b' },
  })
  assert.equal(declined?.isError, true)
})

test('a call that was refused leaves the person of the next turn to the server', async () => {
  await using node = await mcpNode()
  const { call } = await asking(node, everythingEntry())
  const args = { url: 'https://example.com/a', errorPath: true }
  const refused = await call(answering('Decline'), { runId: 'one', tool: 'trigger-url-elicitation', args })
  assert.equal(refused!.isError, true)
  const asked: string[] = []
  const form = async (questions: readonly Question[]) => {
    asked.push(...questions.map(({ question }) => question))
    return await answering('Decline')(questions)
  }
  await call(form, { runId: 'two', tool: 'trigger-elicitation-request', args: {} })
  assert.equal(asked.length, 1)
})

const clockless = { pause: () => ({ [Symbol.dispose]() {} }) }

test('CallsInFlight declines what is asked outside of a call', async () => {
  assert.deepEqual(await new CallsInFlight().answer({}, NEVER), { action: 'decline' })
})

test('CallsInFlight counts a call that was given up, as its server may still ask for it', async () => {
  const calls = new CallsInFlight()
  const yes = (turn: string) => ({ turn, answer: async () => ({ action: 'accept' as const }) })
  const left = calls.begin({ elicit: yes('left'), ...clockless })
  left[Symbol.dispose]()
  using _open = calls.begin({ elicit: yes('open'), ...clockless })
  assert.deepEqual(await calls.answer({}, NEVER), { action: 'decline' })
  const settled = new CallsInFlight()
  const answered = settled.begin({ elicit: yes('answered'), ...clockless })
  answered.isLeft = false
  answered[Symbol.dispose]()
  using _alone = settled.begin({ elicit: yes('open'), ...clockless })
  assert.deepEqual(await settled.answer({}, NEVER), { action: 'accept' })
})

test('CallsInFlight tells each turn once of a question that may be of another one', async () => {
  const calls = new CallsInFlight()
  const told: string[] = []
  const of = (turn: string) => ({
    ...{ turn, answer: async () => ({ action: 'accept' as const }) },
    onDeclined: () => void told.push(turn),
  })
  const left = calls.begin({ elicit: of('left'), ...clockless })
  left[Symbol.dispose]()
  using _one = calls.begin({ elicit: of('one'), ...clockless })
  using _same = calls.begin({ elicit: of('one'), ...clockless })
  using _two = calls.begin({ elicit: of('two'), ...clockless })
  for (let i = 0; i < 2; i++) assert.deepEqual(await calls.answer({}, NEVER), { action: 'decline' })
  assert.deepEqual(told, ['one', 'two'])
})

test('CallsInFlight lets a server ask ten times during a call', async () => {
  const calls = new CallsInFlight()
  using _call = calls.begin({
    elicit: { turn: 'a', answer: async () => ({ action: 'accept' }) },
    ...clockless,
  })
  const answers = []
  for (let i = 0; i < 11; i++) answers.push((await calls.answer({}, NEVER)).action)
  assert.deepEqual(answers, [...Array(10).fill('accept'), 'decline'])
})
