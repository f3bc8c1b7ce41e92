import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/base/message.ts'
import { request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { RecordedRequest } from '../support/model-server.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal

test('search_sessions gives a turn at this machine the conversations of people here with that agent, besides its own', async () => {
  await using place = await startPlace()
  await place.say('ann', 'The ferry leaves at nine')
  await place.say('sh:01K', 'The ferry takes bicycles')
  await place.say('telegram:5', 'The ferry is my secret')
  await place.say('ann', 'The ferry of the other agent', 'critic')
  const answer = await place.search('bob', 'ferry')
  assert.match(answer, /^\[\S{8}\] \d{4}-\d\d-\d\d\n> user: The ferry/)
  assert.deepEqual(saidIn(answer), ['The ferry leaves at nine', 'The ferry takes bicycles'])
})

test('search_sessions gives a turn from elsewhere exactly the conversations of its sender', async () => {
  await using place = await startPlace()
  await place.say('ann', 'The ferry leaves at nine')
  await place.say('telegram:5', 'The ferry is my secret')
  await place.say('telegram:6', 'The ferry is full')
  assert.equal(await place.search('telegram:7', 'ferry'), 'Nothing was found for ferry.')
  await request(place.dispatch, 'newSession', { agent: 'crab', sender: 'telegram:5' }, NEVER)
  assert.deepEqual(saidIn(await place.search('telegram:5', 'ferry')), ['The ferry is my secret'])
})

test('search_sessions tells a model what is wrong with its arguments, and can be refused by a rule', async () => {
  await using place = await startPlace()
  assert.match(await place.call('ann', { since: 'soon' }), /^Cannot search: query is missing/)
  assert.match(
    await place.call('ann', { query: 'x', since: 'soon' }),
    /since is not a date such as 2026-03-01/,
  )
  const refused = await place.call('ann', { query: 'x' }, { deny: ['search_sessions'] })
  assert.match(refused, /--deny/)
})

interface Place extends AsyncDisposable {
  dispatch: TestDispatch['dispatch']
  say(sender: string, content: string, agent?: string): Promise<void>
  /** What a model is answered that calls the tool in a turn of that sender. */
  call(sender: string, args: JsonObject, options?: JsonObject): Promise<string>
  search(sender: string, query: string): Promise<string>
}

/** A home whose model calls search_sessions with the arguments that a message gives behind `find`. */
async function startPlace(): Promise<Place> {
  const node = await startTestDispatch((asked) => {
    const { role, content } = lastOf(asked)
    const found = role === 'user' ? /^find (.*)$/s.exec(content) : null
    return { parts: found ? [{ call: 'c', name: 'search_sessions', args: found[1]! }] : ['Noted.'] }
  })
  const dispatch = route(handlers(node.services, 'local'))
  await request(dispatch, 'createAgent', { name: 'critic', config: '', prompt: '' }, NEVER)
  const turn = async (sender: string, content: string, more: JsonObject = {}) => {
    await Array.fromAsync(streamTurn(dispatch, { agent: 'crab', sender, content, ...more }, NEVER))
  }
  const call: Place['call'] = async (sender, args, options = {}) => {
    await turn(sender, `find ${JSON.stringify(args)}`, { options })
    const { role, content } = lastOf(node.server.requests.at(-1)!)
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

function lastOf({ json }: RecordedRequest): { role: string; content: string } {
  return (json['messages'] as { role: string; content: string }[]).at(-1)!
}

function saidIn(answer: string): string[] {
  return [...answer.matchAll(/^> user: (.*)$/gm)].map(([, text]) => text!).toSorted()
}
