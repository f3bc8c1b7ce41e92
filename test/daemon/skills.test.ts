import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { lastPrompt } from '../support/talk.ts'
import { startTestDispatch, type TestDispatch, type WireEvent } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const LOOK = { call: 'a', name: 'read', args: '{"path":"none"}' }

test('the model reads a skill; listings, titles and the search show what was typed', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await writeSkill(node)
  await node.ask('/review src/a.ts')
  assert.match(
    lastUserMessage(node),
    /^<skill name="review" .*>\nBeware of herons\.\n<\/skill>\n\nsrc\/a\.ts$/,
  )
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const [{ filePath: session, preview }] = conversations as [(typeof conversations)[0]]
  assert.equal(preview, '/review src/a.ts')
  assert.deepEqual(await contents(node, session), ['/review src/a.ts', 'yes'])
  const hits = async (query: string) => {
    return (await request(node.dispatch, 'searchSessions', { query }, NEVER)).hits.length
  }
  assert.deepEqual([await hits('review'), await hits('herons')], [1, 0])
  await node.ask('go on')
  assert.match(node.server.requests.at(-1)!.text, /Beware of herons/)
  await request(node.dispatch, 'generateTitle', { session }, NEVER)
  assert.doesNotMatch(lastUserMessage(node), /Beware/)
})

test('a steer that names a skill becomes its body, and is reported as typed', async () => {
  await using node = await startTestDispatch([{ parts: [LOOK] }, { parts: ['Done.'] }])
  await writeSkill(node)
  const events: WireEvent[] = []
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go' }, NEVER)) {
    events.push(event!)
    const steer = { ...PAIR, content: '/review that' }
    if (event?.$case === 'toolStart') await request(node.dispatch, 'steerSession', steer, NEVER)
  }
  assert.match(lastUserMessage(node), /^<skill name="review"[\s\S]*\n\nthat$/)
  const steered = events.flatMap((event) => (event.$case === 'userSteered' ? [event.value.content] : []))
  assert.deepEqual(steered, ['/review that'])
})

test('an agent that may use other skills only reads the message as it is', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await writeSkill(node)
  await node.home.write('agents/narrow.toml', 'skills = ["other"]\n')
  await node.home.write('agents/narrow.md', 'You are narrow.')
  await node.ask('/review this', { agent: 'narrow' })
  assert.equal(lastUserMessage(node), '/review this')
})

test('the model loads a skill itself; an agent is limited to its skills, whatever its tool list says', async () => {
  await using node = await startTestDispatch([
    { parts: [{ call: 'a', name: 'skill', args: '{"name":"review"}' }] },
    { parts: ['Done.'] },
    { parts: ['Yes.'] },
  ])
  await writeSkill(node)
  await node.home.write('agents/narrow.toml', 'skills = ["review"]\ntools = ["read"]\n')
  await node.home.write('agents/narrow.md', 'You are narrow.')
  await node.ask('look at it', { agent: 'narrow' })
  assert.match(describeSkillTool(node, 0)!, /\n- review: x$/)
  assert.match(node.server.requests[1]!.text, /<skill name=\\"review\\" folder=.*>\\nBeware of herons/)
  await node.home.write('agents/other.toml', 'skills = ["other"]\n')
  await node.home.write('agents/other.md', 'You are another.')
  await node.ask('and that', { agent: 'other' })
  assert.equal(describeSkillTool(node, 2), undefined)
})

test('a remote sender has only the skills that the agent names, a local unattended turn has all', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await writeSkill(node)
  await node.home.write('agents/public.toml', 'skills = ["review"]\n')
  await node.home.write('agents/public.md', 'You are public.')
  const offered = async (agent: string, sender: string) => {
    await node.ask('hello', { agent, sender, options: { unattended: true } })
    return describeSkillTool(node, node.server.requests.length - 1) !== undefined
  }
  assert.equal(await offered('crab', 'telegram:42'), false)
  assert.equal(await offered('public', 'telegram:42'), true)
  assert.equal(await offered('crab', 'cron'), true)
})

/** Returns the description of the tool in a request, if it is offered. */
function describeSkillTool({ server }: TestDispatch, at: number): string | undefined {
  const tools = (server.requests[at]!.json['tools'] ?? []) as {
    function: { name: string; description: string }
  }[]
  return tools.find((tool) => tool.function.name === 'skill')?.function.description
}

function writeSkill({ home }: TestDispatch): Promise<void> {
  return home.write('skills/review/SKILL.md', '---\nname: review\ndescription: x\n---\nBeware of herons.\n')
}

/** Returns the last message of the user in the latest request. */
function lastUserMessage({ server }: TestDispatch): string {
  return lastPrompt(server.requests.at(-1))
}

async function contents({ dispatch }: TestDispatch, session: string): Promise<string[]> {
  const { messages } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 10 }, NEVER)
  return messages.map(({ content }) => content)
}
