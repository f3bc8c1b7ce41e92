import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CrabError } from '../../src/core/base/errors.ts'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import { type DeepPartial, OnAsk, type StreamMsg } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { newSession } from '../../src/core/runtime/sessions.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { RecordedRequest } from '../support/model-server.ts'
import { DAEMON, startTestDispatch, systemPrompt, type TestDispatch } from '../support/test-dispatch.ts'
import { requestMessages } from '../support/test-node.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

/**
 * Makes the call in the last message of the user, written as `CALL name {…}`, and answers with its result.
 */
function callAsTold(asked: RecordedRequest) {
  const messages = requestMessages(asked)
  const last = messages.at(-1)
  if (last?.['role'] === 'tool') return { parts: [String(last['content'])] }
  const [, name, args] = /CALL (\w+) (\{.*\})/s.exec(String(last?.['content'])) ?? []
  return { parts: [name === undefined ? 'yes' : { call: 'c', name, args: args! }] }
}

/** Sends that message over TCP. */
async function overTcp({ services }: TestDispatch, sender: string, content: string): Promise<string> {
  const client = route(handlers(services, TCP_CLIENT))
  return (await request(client, 'send', { agent: 'crab', sender, content }, NEVER)).content
}

test('a TCP client cannot reach the conversation or the directory of a local user', async () => {
  await using node = await startTestDispatch(callAsTold)
  const { home } = node.home.paths
  await writeFile(join(home, 'secret.txt'), 'private')
  await node.ask('hello', { sender: 'user', cwd: home })
  for (const sender of ['user', 'sh:1', 'tg:1', '']) {
    const read = `CALL read {"path":"secret.txt"}`
    const answer = await overTcp(node, sender, read).catch((reason: Error) => reason.message)
    assert.doesNotMatch(answer, /private/, sender)
    await overTcp(node, sender, 'CALL write {"path":"Makefile","content":"x"}').catch(() => undefined)
  }
  assert.ok(!(await readdir(home)).includes('Makefile'))
})

test('a conversation that started in a project works in its own folder once its turns are remote', async () => {
  await using node = await startTestDispatch(callAsTold)
  const { home } = node.home.paths
  await writeFile(join(home, 'secret.txt'), 'private')
  const { id: agentId } = await node.services.agents.get('crab')
  const created_at = new Date(0).toISOString()
  const header = {
    v: 1,
    agent: 'crab',
    agent_id: agentId,
    created_by: 'tg:1',
    created_at,
    cwd: home,
  } as const
  const session = await newSession(node.services, header, NEVER)
  assert.equal((await request(node.dispatch, 'getSession', { session }, NEVER)).cwd, home)
  assert.doesNotMatch(await overTcp(node, 'tg:1', 'CALL read {"path":"secret.txt"}'), /private/)
  assert.match(await overTcp(node, 'tg:1', `CALL read {"path":"${home}/secret.txt"}`), /^Not permitted: /)
})

test('untrusted senders cannot read what another one wrote, or write what unattended turns are told', async () => {
  await using node = await startTestDispatch(callAsTold, { daemon: DAEMON })
  for (const file of ['notes.txt', 'AGENTS.md']) {
    await overTcp(node, 'tg:1', `CALL write {"path":"${file}","content":"INJECTED"}`)
    assert.doesNotMatch(await overTcp(node, 'tg:2', `CALL read {"path":"${file}"}`), /INJECTED/)
  }
  assert.match(await overTcp(node, 'tg:1', 'CALL read {"path":"notes.txt"}'), /INJECTED/)
  await request(node.dispatch, 'subscribeEvent', { source: 'rss', targetAgent: 'crab' }, NEVER)
  const before = node.server.requests.length
  await request(
    node.dispatch,
    'publishEvent',
    { source: 'rss', payload: 'CALL glob {"pattern":"**"}' },
    NEVER,
  )
  await until('the event is answered', () => node.server.requests.length === before + 2)
  const requests = node.server.requests.slice(before)
  assert.match(systemPrompt(requests[0]!.json), /cwd: .*\/workspace\/crab\/unattended\n/)
  for (const { text } of requests) assert.doesNotMatch(text, /INJECTED|notes\.txt/)
})

test('what the user allows, in files or for a conversation, does not apply to remote turns', async () => {
  await using node = await startTestDispatch(callAsTold)
  const { home } = node.home.paths
  const rules = '[permissions]\nallow = ["edit(/**)", "read(/**)", "bash", "recall", "mcp__*"]\n'
  await node.home.write('agents/crab.toml', rules)
  for (const call of [
    'read {"path":"/etc/hostname"}',
    `write {"path":"${home}/by-tcp","content":"x"}`,
    'bash {"command":"touch by-tcp"}',
    'recall {"query":"x"}',
  ]) {
    assert.match(await overTcp(node, 'tg:9', `CALL ${call}`), /^(Not permitted|Cannot call)/, call)
  }
  assert.ok(!(await readdir(home)).includes('by-tcp'))
  const allowed = await node.ask('CALL write {"path":"by-me","content":"x"}', { cwd: home })
  assert.ok(allowed.some(({ $case }) => $case === 'toolResult'))
  assert.ok((await readdir(home)).includes('by-me'))
})

test('an untrusted turn gets no notices about servers, files and skills of this machine', async () => {
  await using node = await startTestDispatch(callAsTold)
  const server = '[[mcps]]\nname = "payroll"\ncommand = "false"\n'
  await node.home.write('agents/crab.toml', `skills = ["broken"]\n${server}`)
  await node.home.write('skills/broken/SKILL.md', 'no front matter')
  await node.ask('hello') // what breaks from now on is reported as a notice
  await node.home.write('config.toml', 'modle = "x"\n')
  const here = await readStream(node.dispatch, { sender: 'ann', content: '/broken' })
  for (const part of [/MCP server/, /config\.toml:1/, /SKILL\.md/]) assert.match(here, part)
  for (const client of [node.dispatch, route(handlers(node.services, TCP_CLIENT))]) {
    const there = await readStream(client, { sender: 'tg:1', content: '/broken' })
    assert.match(there, /"stop"/)
    assertNamesNothing(there, node)
  }
})

const BROKEN = {
  'a required server': {
    agent: '[[mcps]]\nname = "payroll"\ncommand = "/opt/secret/payroll"\nrequired = true\n',
    parts: [/unavailable/, /Cannot answer: this agent is not available now/],
    logged: /payroll.*\/opt\/secret/,
  },
  'an agent file': {
    agent: 'payroll = "x"\n[permissions\n',
    parts: [/config/, /Cannot answer: this agent is not available now/],
    logged: /crab\.toml/,
  },
  'a refused request': {
    agent: '',
    status: 400,
    parts: [/invalid/, /Cannot answer: the agent cannot use this request/],
    logged: /Cannot call scripted \(.*payroll/,
  },
  'a retried request': {
    agent: '',
    status: 503,
    parts: [/retry/, /unavailable/, /Cannot answer: this agent is not available now/],
    logged: /Cannot call scripted \(.*payroll/,
  },
}

for (const [what, { agent, parts, logged, ...more }] of Object.entries(BROKEN)) {
  test(`an untrusted client is not told what is wrong with ${what}; the log is`, async () => {
    const lines: string[] = []
    const status =
      'status' in more ? { status: more.status, body: '{"error":{"message":"payroll"}}' } : undefined
    const script = (asked: RecordedRequest) => status ?? callAsTold(asked)
    await using node = await startTestDispatch(script, { log: (...line) => lines.push(JSON.stringify(line)) })
    await node.home.write('agents/crab.toml', agent)
    const tcp = route(handlers(node.services, TCP_CLIENT))
    for (const client of [node.dispatch, tcp]) {
      const there = await readStream(client, { sender: 'tg:1', content: 'hello' })
      for (const part of parts) assert.match(there, part)
      assertNamesNothing(there, node)
      assert.match(lines.splice(0).join('\n'), logged)
    }
    const sent = await request(tcp, 'send', { agent: 'crab', sender: 'tg:1', content: 'hello' }, NEVER).catch(
      toText,
    )
    assertNamesNothing(String(sent), node)
    assert.match(await readStream(node.dispatch, { sender: 'ann', content: 'hello' }), /payroll|crab\.toml/)
  })
}

test('an untrusted client is not offered the names of other agents', async () => {
  await using node = await startTestDispatch(callAsTold)
  await node.home.write('agents/payroll.toml', '')
  const guest = { sender: 'tg:1', content: 'hello', guest: 'payrol' }
  assert.match(await readStream(node.dispatch, { ...guest, sender: 'ann' }), /did you mean \\?"payroll/)
  for (const client of [node.dispatch, route(handlers(node.services, TCP_CLIENT))]) {
    const there = await readStream(client, guest)
    assert.match(there, /missing.*Cannot find the agent/)
    assert.doesNotMatch(there, /payroll/)
  }
})

/** Reads the whole stream of a turn as JSON lines; the last one is the error, if one is thrown. */
async function readStream(client: Dispatch, message: DeepPartial<StreamMsg>): Promise<string> {
  const lines: string[] = []
  try {
    for await (const event of streamTurn(client, { agent: 'crab', ...message }, NEVER))
      lines.push(JSON.stringify(event))
  } catch (reason) {
    lines.push(toText(reason))
  }
  return lines.join('\n')
}

function toText(reason: unknown): string {
  const { kind, message, hint } = reason as CrabError
  return JSON.stringify({ kind, message, hint })
}

function assertNamesNothing(text: string, { home }: TestDispatch): void {
  for (const name of ['payroll', 'crab.toml', '/opt', home.paths.home])
    assert.ok(!text.includes(name), `${name}: ${text}`)
}

test('hello lists the operations that a client may call', async () => {
  await using node = await startTestDispatch(callAsTold)
  const here = await request(node.dispatch, 'hello', {}, NEVER)
  const client = route(handlers(node.services, TCP_CLIENT))
  const there = await request(client, 'hello', {}, NEVER)
  assert.ok(here.features.includes('list_memory') && here.features.includes('list_asks'))
  assert.ok(there.features.includes('list_asks') && !there.features.includes('list_memory'))
})

test('a TCP client sees only the call of a parked permission', async () => {
  await using node = await startTestDispatch(callAsTold)
  await node.home.write('agents/crab.toml', '[permissions.remote]\nask = ["edit(**)"]\n')
  const client = route(handlers(node.services, TCP_CLIENT))
  const over = new AbortController()
  const content = 'CALL write {"path":"payroll.txt","content":"x"}'
  const message = { agent: 'crab', sender: 'tg:1', content, options: { onAsk: OnAsk.PARK } }
  const lines: string[] = []
  const reading = (async () => {
    for await (const event of streamTurn(client, message, over.signal)) lines.push(JSON.stringify(event))
  })().catch(() => undefined)
  await until('the question', () => lines.some((line) => line.includes('askUser')))
  const local = await request(node.dispatch, 'listAsks', { agent: '' }, NEVER)
  assert.match(local.asks[0]!.ask!.permission!.cwd, /workspace/)
  const remote = await request(client, 'listAsks', { agent: '' }, NEVER)
  for (const ask of [
    remote.asks[0]!.ask!,
    JSON.parse(lines.find((line) => line.includes('askUser')) ?? '').event.value,
  ]) {
    const { tool, arguments: args, cwd, reason, diff, rules } = ask.permission
    assert.deepEqual([tool, cwd, reason, diff, rules], ['write', '', '', '', []])
    assert.match(args, /payroll/)
  }
  over.abort()
  await reading
})
