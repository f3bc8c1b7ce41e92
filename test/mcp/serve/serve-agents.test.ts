import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { HOSTS, serveTo } from '../../support/mcp/served-host.ts'
import type { Script } from '../../support/model-server.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { answersIn } from '../../support/tool-talk.ts'
import { until } from '../../support/until.ts'

const NEVER = new AbortController().signal
const REVISIONS = { 'SDK 1.x': '2025-11-25', 'SDK 2.x': '2025-11-25', 'SDK 2.x, 2026-07-28': '2026-07-28' }

/** One call of bash, and then the reply to its result. */
const RUNS_LS: Script = (request) => {
  const [answer] = answersIn(request)
  return answer === undefined
    ? { parts: [{ call: 'c1', name: 'bash', args: '{"command":"echo $((40+2)) $CRABTALK_MCP_DEPTH"}' }] }
    : { parts: [`It said ${answer}`] }
}

for (const kind of HOSTS) {
  describe(`serveAgents() to ${kind}`, () => {
    test('offers a tool for each agent, and one that lists them', async () => {
      await using node = await startTestDispatch([])
      await request(
        node.dispatch,
        'createAgent',
        { name: 'reviewer', config: '{"description":"Reads"}' },
        NEVER,
      )
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      assert.deepEqual(await host.tools(), ['send_crab', 'send_reviewer', 'list_agents', 'search_sessions'])
      assert.equal(host.revision(), REVISIONS[kind])
      const { text, structured } = await host.call('list_agents')
      assert.match(text, /^reviewer \(send_reviewer\): Reads$/m)
      const agents = structured['agents'] as object[]
      assert.deepEqual(agents[1], {
        name: 'reviewer',
        description: 'Reads',
        model: '',
        tool: 'send_reviewer',
      })
    })

    test('returns the text, the conversation and the usage, and continues the conversation', async () => {
      const usage = { input: 11, output: 7 }
      await using node = await startTestDispatch([{ parts: ['Hel', 'lo.'], usage }, { parts: ['Again.'] }])
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      const words: string[] = []
      const onProgress = (line: string) => void words.push(line)
      const first = await host.call('send_crab', { message: 'Hi there' }, { onProgress })
      assert.deepEqual([first.text, first.isError], ['Hello.', false])
      const { agent, answer, conversation, usage: counted } = first.structured
      assert.deepEqual([agent, answer], ['crab', 'Hello.'])
      assert.deepEqual(counted, { input: 11, output: 7, cache_read: 0, cache_write: 0, reasoning: 0 })
      assert.ok(words.includes('crab works'), `progress was ${words.join(' | ')}`)
      const second = await host.call('send_crab', { message: 'More', conversation })
      assert.deepEqual([second.text, second.structured['conversation']], ['Again.', conversation])
      const messages = node.server.requests[1]!.json['messages'] as { role: string; content: string }[]
      const contents = messages.filter(({ role }) => role !== 'system').map(({ content }) => content)
      assert.deepEqual(contents, ['Hi there', 'Hello.', 'More'])
    })

    test('reports denied calls with the rule that would allow them, to a host that cannot ask', async () => {
      await using node = await startTestDispatch(RUNS_LS)
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      const { text, structured, isError } = await host.call('send_crab', { message: 'Run it' })
      assert.equal(isError, false)
      assert.match(text, /\[Not permitted, and not done:\n- bash: echo .*the rule bash/)
      const [denied] = structured['denied'] as { tool: string; rules: string[] }[]
      assert.equal(denied!.tool, 'bash')
      assert.match(denied!.rules.join(), /^bash/)
    })

    test('asks a host that can ask, whose yes runs the command one level deeper', async () => {
      await using node = await startTestDispatch(RUNS_LS)
      const forms: { message: string; requestedSchema: { properties: { answer_1: { enum: string[] } } } }[] =
        []
      const serving = { dispatch: node.dispatch, cwd: node.home.paths.home, env: { CRABTALK_MCP_DEPTH: '1' } }
      await using host = await serveTo(kind, serving, (form) => {
        forms.push(form as never)
        return { action: 'accept', content: { answer_1: 'Allow once' } }
      })
      const { text } = await host.call('send_crab', { message: 'Run it' })
      assert.match(text, /^It said 42 2\b/)
      assert.match(forms[0]!.message, /^crab asks for permission: bash: echo/)
      const { enum: answers } = forms[0]!.requestedSchema.properties.answer_1
      assert.ok(!answers.includes('Always allow'), 'a host was offered to write rules')
    })

    test("treats the user's no as a no", async () => {
      await using node = await startTestDispatch(RUNS_LS)
      const serving = { dispatch: node.dispatch, cwd: node.home.paths.home }
      await using host = await serveTo(kind, serving, () => ({ action: 'decline' }))
      const { text } = await host.call('send_crab', { message: 'Run it' })
      assert.match(text, /It said Not permitted: bash: echo .*: the user said no/)
    })

    test('cancels the turn when its host cancels the call', async () => {
      await using node = await startTestDispatch([{ parts: ['Wait'], end: 'hang' }])
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      const stop = new AbortController()
      const calling = host.call('send_crab', { message: 'Hi' }, { signal: stop.signal })
      await until('the model is asked', () => node.server.requests.length === 1)
      stop.abort()
      await assert.rejects(calling)
      assert.equal(await node.server.requests[0]!.done, false)
    })

    test('leaves no turn behind when the host disconnects', async () => {
      await using node = await startTestDispatch([{ parts: ['Wait'], end: 'hang' }])
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      host.call('send_crab', { message: 'Hi' }).catch(() => undefined)
      await until('the model is asked', () => node.server.requests.length === 1)
      host.hangUp()
      await host.served
      assert.equal(await node.server.requests[0]!.done, false)
    })

    test('leaves no turn behind when the host disconnects while its user thinks', async () => {
      await using node = await startTestDispatch(RUNS_LS)
      const serving = { dispatch: node.dispatch, cwd: node.home.paths.home }
      await using host = await serveTo(kind, serving, () => new Promise(() => {}))
      host.call('send_crab', { message: 'Run it' }).catch(() => undefined)
      const asks = async () => (await request(node.dispatch, 'listAsks', {}, NEVER)).asks
      await until('a question waits', async () => (await asks()).length === 1)
      host.hangUp()
      await host.served
      assert.deepEqual(await asks(), [])
    })

    test("ignores the host's answer when a question was answered elsewhere first", async () => {
      await using node = await startTestDispatch(RUNS_LS)
      const serving = { dispatch: node.dispatch, cwd: node.home.paths.home }
      const gate = Promise.withResolvers<{ action: string }>()
      await using host = await serveTo(kind, serving, () => gate.promise)
      const calling = host.call('send_crab', { message: 'Run it' })
      const asks = async () => (await request(node.dispatch, 'listAsks', {}, NEVER)).asks
      await until('a question waits', async () => (await asks()).length === 1)
      const [{ agent, sender, ask } = assert.fail()] = await asks()
      const content = JSON.stringify({ [ask!.questions[0]!.question]: 'Allow once' })
      await request(node.dispatch, 'replyToAsk', { agent, sender, askId: ask!.askId, content }, NEVER)
      await until('the turn goes on', () => node.server.requests.length === 2)
      gate.resolve({ action: 'decline' })
      assert.match((await calling).text, /^It said 42 1\b/)
    })

    test('does not repeat a turn that ended while its host was away', async () => {
      await using node = await startTestDispatch(RUNS_LS)
      const gate = Promise.withResolvers<{ action: string }>()
      await using host = await serveTo(
        kind,
        { dispatch: node.dispatch, cwd: node.home.paths.home },
        () => gate.promise,
      )
      const calling = host.call('send_crab', { message: 'Run it' })
      const asks = async () => (await request(node.dispatch, 'listAsks', {}, NEVER)).asks
      await until('a question waits', async () => (await asks()).length === 1)
      const [{ agent, sender, ask } = assert.fail()] = await asks()
      const content = JSON.stringify({ [ask!.questions[0]!.question]: 'Allow once' })
      await request(node.dispatch, 'replyToAsk', { agent, sender, askId: ask!.askId, content }, NEVER)
      const active = async () =>
        (await request(node.dispatch, 'listActiveConversations', {}, NEVER)).conversations
      await until('the turn is over', async () => (await active()).length === 0)
      gate.resolve({ action: 'decline' })
      assert.match((await calling).text, /^It said 42 1\b/)
      assert.equal(node.server.requests.length, 2)
    })

    test('notifies its host of agents that were added or removed', async () => {
      await using node = await startTestDispatch([{ parts: ['Done.'] }])
      await using host = await serveTo(kind, { dispatch: node.dispatch, cwd: node.home.paths.home })
      assert.deepEqual(await host.tools(), ['send_crab', 'list_agents', 'search_sessions'])
      await request(node.dispatch, 'createAgent', { name: 'other' }, NEVER)
      await host.call('send_crab', { message: 'Hi' })
      await until('the host is told', () => host.changes() === 1)
      assert.deepEqual(await host.tools(), ['send_crab', 'send_other', 'list_agents', 'search_sessions'])
    })
  })
}
