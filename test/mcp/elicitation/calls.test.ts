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

async function startAsking(node: McpNode, entry: StdioEntry) {
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

const UNANSWERED = async () => {
  const { CrabError } = await import('../../../src/core/base/errors.ts')
  throw new CrabError('denied', 'nobody')
}

for (const era of ['legacy', 'modern'] as const) {
  test(`a ${era} server's question during a call is put to the user of the turn`, async () => {
    await using node = await mcpNode()
    const { call } = await startAsking(node, askingEntry(era))
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

  test(`a ${era} server's question is declined if no user can be asked`, async () => {
    await using node = await mcpNode()
    const { agent, call } = await startAsking(node, askingEntry(era))
    const answer = await call(UNANSWERED)
    assert.deepEqual(JSON.parse(answer!.output), { kind: 'elicit', action: 'decline' })
    const at = { agent, name: 'docs', tool: 'ask', args: COLOUR, spillDir: node.folder }
    const direct = await node.servers.call(at, NEVER)
    assert.deepEqual(JSON.parse(direct.output), { kind: 'elicit', action: 'decline' })
  })

  test(`the time a user takes to answer a ${era} server does not count towards the call`, async () => {
    await using node = await mcpNode()
    const { call } = await startAsking(node, { ...askingEntry(era), timeout_ms: 1_500 } as StdioEntry)
    const slow = async (questions: readonly Question[]) => {
      await new Promise((resolve) => setTimeout(resolve, 1_700)) // longer than the time limit of the call
      return await answering('red')(questions)
    }
    const answer = await call(slow)
    assert.match(answer!.output, /"colour":"red"/)
  })

  test(`aborting a call withdraws the question of a ${era} server`, async () => {
    await using node = await mcpNode()
    const { call } = await startAsking(node, askingEntry(era))
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

test('with calls of two turns in flight, a question of an older server reaches no user', async () => {
  await using node = await mcpNode()
  const { call } = await startAsking(node, askingEntry('legacy'))
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
  const notices: string[] = []
  const notice = (text: string) => void notices.push(text)
  const two = await call(() => assert.fail('reaches a person'), { runId: 'two', notice })
  assert.match(notices.join(), /^Declined a question of the MCP server "docs": it may belong to another call/)
  assert.deepEqual(JSON.parse(two!.output), { kind: 'elicit', action: 'decline' })
  release.resolve()
  assert.match((await one)!.output, /"colour":"red"/)
})

test('with calls of two turns in flight, a question of a server of the newest revision reaches the right user', async () => {
  await using node = await mcpNode()
  const { call } = await startAsking(node, askingEntry('modern'))
  const answers = await Promise.all(
    ['red', 'blue'].map((colour) => call(answering(colour), { runId: colour })),
  )
  assert.deepEqual(
    answers.map((answer) => JSON.parse(answer!.output).content),
    [{ colour: 'red' }, { colour: 'blue' }],
  )
})

test('a URL that a server of the newest revision wants opened is shown to the user', async () => {
  await using node = await mcpNode()
  const { call } = await startAsking(node, askingEntry('modern'))
  const prompts: string[] = []
  const answer = await call(
    async (questions) => {
      prompts.push(...questions.map(({ question }) => question))
      return await answering('Done')(questions)
    },
    { args: { url: 'https://example.com/login', message: 'Log in' } },
  )
  assert.match(prompts[0]!, /example\.com\nhttps:\/\/example\.com\/login\nLog in$/)
  assert.deepEqual(JSON.parse(answer!.output), { kind: 'elicit', action: 'accept' })
})

test('the forms and URLs of the official server are answered', async () => {
  await using node = await mcpNode()
  const { call } = await startAsking(node, everythingEntry())
  const answers: Record<string, string> = {
    String: 'Ada',
    'Titled Multiple Select Enum': 'Tuna, Trout',
    Boolean: 'Yes',
  }
  const form = await call(
    async (questions) =>
      Object.fromEntries(
        questions.map(({ question, header }) => [
          question,
          header === '' ? 'Answer' : (answers[header] ?? ''),
        ]),
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

test('a failed call does not prevent questions in the next turn', async () => {
  await using node = await mcpNode()
  const { call } = await startAsking(node, everythingEntry())
  const args = { url: 'https://example.com/a', errorPath: true }
  const refused = await call(answering('Decline'), { runId: 'one', tool: 'trigger-url-elicitation', args })
  assert.equal(refused!.isError, true)
  const prompts: string[] = []
  const form = async (questions: readonly Question[]) => {
    prompts.push(...questions.map(({ question }) => question))
    return await answering('Decline')(questions)
  }
  await call(form, { runId: 'two', tool: 'trigger-elicitation-request', args: {} })
  assert.equal(prompts.length, 1)
})

const clockless = { pause: () => ({ [Symbol.dispose]() {} }) }

test('CallsInFlight declines questions outside a call', async () => {
  assert.deepEqual(await new CallsInFlight().answer({}, NEVER), { action: 'decline' })
})

test('CallsInFlight counts an abandoned call, because its server may still ask for it', async () => {
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

test('CallsInFlight tells each turn once about a question that may belong to another one', async () => {
  const calls = new CallsInFlight()
  const notices: string[] = []
  const of = (turn: string) => ({
    ...{ turn, answer: async () => ({ action: 'accept' as const }) },
    onDeclined: () => void notices.push(turn),
  })
  const left = calls.begin({ elicit: of('left'), ...clockless })
  left[Symbol.dispose]()
  using _one = calls.begin({ elicit: of('one'), ...clockless })
  using _same = calls.begin({ elicit: of('one'), ...clockless })
  using _two = calls.begin({ elicit: of('two'), ...clockless })
  for (let i = 0; i < 2; i++) assert.deepEqual(await calls.answer({}, NEVER), { action: 'decline' })
  assert.deepEqual(notices, ['one', 'two'])
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
