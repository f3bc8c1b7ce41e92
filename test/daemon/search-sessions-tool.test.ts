import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/base/message.ts'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { RecordedRequest } from '../support/model-server.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('search_sessions gives a local turn the conversations of local users with that agent, as well as its own', async () => {
  await using fixture = await startSearchNode()
  await fixture.say('ann', 'The ferry leaves at nine')
  await fixture.say('sh:01K', 'The ferry takes bicycles')
  await fixture.say('telegram:5', 'The ferry is my secret')
  await fixture.say('ann', 'The ferry of the other agent', 'critic')
  const answer = await fixture.search('bob', 'ferry')
  assert.match(answer, /^\[\S{8}\] \d{4}-\d\d-\d\d\n> user: The ferry/)
  assert.deepEqual(readMatches(answer), ['The ferry leaves at nine', 'The ferry takes bicycles'])
})

test('search_sessions gives a remote turn exactly the conversations of its sender', async () => {
  await using fixture = await startSearchNode()
  await fixture.say('ann', 'The ferry leaves at nine')
  await fixture.say('telegram:5', 'The ferry is my secret')
  await fixture.say('telegram:6', 'The ferry is full')
  assert.equal(await fixture.search('telegram:7', 'ferry'), 'Nothing was found for ferry.')
  await request(fixture.dispatch, 'newSession', { agent: 'crab', sender: 'telegram:5' }, NEVER)
  assert.deepEqual(readMatches(await fixture.search('telegram:5', 'ferry')), ['The ferry is my secret'])
})

test('search_sessions tells a model what is wrong with its arguments, and can be denied by a rule', async () => {
  await using fixture = await startSearchNode()
  assert.match(await fixture.call('ann', { since: 'soon' }), /^Cannot search: query is missing/)
  assert.match(
    await fixture.call('ann', { query: 'x', since: 'soon' }),
    /since is not a date such as 2026-03-01/,
  )
  const refused = await fixture.call('ann', { query: 'x' }, { deny: ['search_sessions'] })
  assert.match(refused, /--deny/)
})

interface SearchNode extends AsyncDisposable {
  dispatch: TestDispatch['dispatch']
  say(sender: string, content: string, agent?: string): Promise<void>
  /** Returns the result of a call of the tool in a turn of that sender. */
  call(sender: string, args: JsonObject, options?: JsonObject): Promise<string>
  search(sender: string, query: string): Promise<string>
}

/** Starts a home whose model calls search_sessions with the arguments that follow `find` in a message. */
async function startSearchNode(): Promise<SearchNode> {
  const node = await startTestDispatch((received) => {
    const { role, content } = lastMessage(received)
    const found = role === 'user' ? /^find (.*)$/s.exec(content) : null
    return { parts: found ? [{ call: 'c', name: 'search_sessions', args: found[1]! }] : ['Noted.'] }
  })
  const dispatch = route(handlers(node.services, 'local'))
  await request(dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  const turn = async (sender: string, content: string, more: JsonObject = {}) => {
    await Array.fromAsync(streamTurn(dispatch, { agent: 'crab', sender, content, ...more }, NEVER))
  }
  const call: SearchNode['call'] = async (sender, args, options = {}) => {
    await turn(sender, `find ${JSON.stringify(args)}`, { options })
    const { role, content } = lastMessage(node.server.requests.at(-1)!)
    assert.equal(role, 'tool')
    return content
  }
  return {
    dispatch,
    say: (sender, content, agent = 'crab') => turn(sender, content, { agent }),
    call,
    search: (sender, query) => call(sender, { query }),
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  }
}

function lastMessage({ json }: RecordedRequest): { role: string; content: string } {
  return (json['messages'] as { role: string; content: string }[]).at(-1)!
}

function readMatches(answer: string): string[] {
  return [...answer.matchAll(/^> user: (.*)$/gm)].map(([, text]) => text!).toSorted()
}
