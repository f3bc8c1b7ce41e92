import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AgentInfo } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { findGuest, findGuests } from '../../../src/tui/controller/guests.ts'
import { openShownChat } from '../../support/shown-chat.ts'

const NEVER = new AbortController().signal
const AGENTS = ['crab', 'reviewer', 'rewriter'].map((name) =>
  AgentInfo.create({ name, description: `a ${name}` }),
)
const at = {
  dispatch: route({ listAgents: async () => ({ agents: AGENTS, problems: [] }) }),
  agent: 'crab',
}

test('findGuest() finds another agent at the start of a message', async () => {
  assert.equal(await findGuest('@reviewer look at this', at, NEVER), 'reviewer')
  for (const text of [
    '@crab hi',
    '@reviewer',
    '@README.md hi',
    'ask @reviewer that',
    '@src/reviewer hi',
    'hi',
  ])
    assert.equal(await findGuest(text, at, NEVER), undefined, text)
})

test('findGuests() offers the other agents by the beginning of their name', async () => {
  assert.deepEqual(await findGuests('re', at, NEVER), [
    { value: 'reviewer', detail: 'agent · a reviewer' },
    { value: 'rewriter', detail: 'agent · a rewriter' },
  ])
  assert.deepEqual(await findGuests('crab', at, NEVER), [])
  assert.deepEqual(await findGuests('re', { ...at, dispatch: route({}) }, NEVER), [])
})

test('a message to another agent is a guest turn, and the answer carries its name', async () => {
  await using chat = await openShownChat([{ parts: ['Looks fine to me.'] }, { parts: ['Good.'] }])
  await chat.node.home.write(
    'agents/owl.toml',
    'id = "01JZZZZZZZZZZZZZZZZZZZZZZY"\ndescription = "reviews"\n',
  )
  await chat.node.home.write('agents/owl.md', 'You are an owl.')
  chat.type('@ow')
  await chat.see('owl', 'agent · reviews')
  chat.type('\t')
  await chat.see('> @owl')
  chat.type('what do you think?\r')
  await chat.see('@owl what do you think?', 'owl ──', 'Looks fine to me.')
  chat.type('thanks\r')
  await chat.see('Good.')
  const [guest, own] = chat.node.server.requests
  assert.match(guest!.text, /You are an owl/)
  assert.match(own!.text, /<from agent=\\"owl\\">\\nLooks fine to me\./)
})

test('/btw answers in a panel that Esc closes, and the conversation stays as it was', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openShownChat([
    { parts: ['Working', gate.promise, ' on it.'] },
    { parts: ['A lease is a lock.'] },
  ])
  chat.type('go\r')
  await chat.see('Working')
  chat.type('/btw what is a lease?')
  await chat.see('> /btw what is a lease?')
  chat.type('\r')
  await chat.see('By the way: what is a lease?', 'A lease is a lock.', 'Esc closes')
  chat.type('\u001b')
  await chat.gone('A lease is a lock.')
  gate.resolve()
  await chat.see('Working on it.')
  assert.doesNotMatch(chat.text(), /Interrupted/)
})
