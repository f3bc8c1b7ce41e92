import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'
import { type DaemonStart, startTestDaemon, type TestDaemon } from './daemon.ts'
import { makeModelHome } from './daemon-home.ts'
import { type FixedCase, type FixedClient, type FixedError, fixedClient } from './fixed-client.ts'
import type { FixedMessage } from './fixed-wire.ts'
import type { RecordedRequest, Script } from './model-server.ts'
import type { TemporaryHome } from './temporary-home.ts'

interface Place extends AsyncDisposable {
  home: TemporaryHome
  daemon: TestDaemon
  client: FixedClient
  endpoint: SocketEndpoint
  requests: readonly RecordedRequest[]
}

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
/** The servers of existing clients, which write every key, including the empty ones. */
const REMOTE = {
  name: 'far',
  command: '',
  args: [],
  env: {},
  auto_restart: true,
  url: 'http://127.0.0.1:9/mcp',
}
const NIL_ID = '0'.repeat(26)

/**
 * Runs whole turns of a strict client of the fixed protocol against a real daemon, from source or of that
 * program.
 */
export function testFixedClients(start: DaemonStart = {}): void {
  test('a turn whose model call is retried ends with its answer', async () => {
    await using at = await startPlace([{ status: 500, body: 'oops' }, { parts: ['Back.'] }], start)
    const events = await turn(at, 'hi')
    assert.deepEqual([joinChunks(events), at.requests.length], ['Back.', 2])
    assert.deepEqual(caseNames(events), ['start', 'text_start', 'chunk', 'text_end', 'end'])
  })

  test('a turn with a notice about config.toml ends with its answer', async () => {
    await using at = await startPlace(() => ({ parts: ['Fine.'] }), start)
    const config = await at.home.read('config.toml')
    await at.home.write('config.toml', `mdoel = "x"\n${config}`)
    const seen = await currentTurn(at.daemon, 'hi')
    assert.ok(seen.includes('notice'), `no notice in ${seen}`)
    assert.equal(joinChunks(await turn(at, 'hi')), 'Fine.')
  })

  test('a turn of an agent whose MCP server does not start ends with its answer', async () => {
    await using at = await startPlace(() => ({ parts: ['Without it.'] }), start)
    const config = JSON.stringify({ name: 'e', command: 'true', args: [], env: {}, url: null, auth: null })
    await at.client.request('upsert_mcp', { agent: 'crab', config })
    const seen = await currentTurn(at.daemon, 'hi')
    assert.ok(seen.includes('mcpState'), `no state of the server in ${seen}`)
    assert.equal(joinChunks(await turn(at, 'hi')), 'Without it.')
  })

  for (const [form, reply] of [
    ['a JSON object', JSON.stringify({ 'Which one?': 'Blue' })],
    ['a label', 'blue'],
    ['the number of an option', '2'],
  ] as const) {
    test(`a question is answered by ${form}`, async () => {
      await using at = await startPlace([{ parts: [ask(['Red', 'Blue'])] }, { parts: ['Thanks.'] }], start)
      const events = await turn(at, 'go', reply)
      assert.deepEqual([joinChunks(events), resultOf(events)], ['Thanks.', '{"Which one?":"Blue"}'])
    })
  }

  test('a question without options is answered by free text, or by nothing', async () => {
    const script = [{ parts: [ask([])] }, { parts: ['One.'] }, { parts: [ask([])] }, { parts: ['Two.'] }]
    await using at = await startPlace(script, start)
    assert.equal(resultOf(await turn(at, 'go', 'as "you" like\n')), '{"Which one?":"as \\"you\\" like"}')
    assert.match(resultOf(await turn(at, 'go', '{}')), /chose not to answer/)
  })

  for (const [reply, isDone] of [
    ['Allow once', true],
    ['2', true],
    ['{"Allow bash: touch made?":"Allow once"}', true],
    ['1', false],
    ['Deny', false],
    ['{}', false],
    ['not now', false],
  ] as const) {
    test(`permission is ${isDone ? 'given' : 'refused'} by ${reply}`, async () => {
      await using at = await startPlace([{ parts: [bash('touch made')] }, { parts: ['Done.'] }], start)
      const events = await turn(at, 'go', reply)
      assert.ok(caseNames(events).includes('ask_user'))
      assert.equal(existsSync(join(at.home.paths.home, '..', 'made')), isDone, resultOf(events))
      assert.equal(joinChunks(events), 'Done.')
    })
  }

  for (const [reply, isRead] of [
    ['Yes', true],
    ['1', true],
    ['2', false],
    ['No', false],
  ] as const) {
    test(`the first turn in a folder with instructions asks, and ${reply} ${isRead ? 'uses' : 'leaves'} them`, async () => {
      await using at = await startPlace(() => ({ parts: ['Done.'] }), start)
      const cwd = join(at.home.paths.home, '../project')
      await mkdir(join(cwd, '.git'), { recursive: true })
      await writeFile(join(cwd, 'AGENTS.md'), 'Speak like a pirate.\n')
      const questions: string[] = []
      for await (const { name, value } of at.client.stream({ ...PAIR, content: 'hi', cwd })) {
        if (name !== 'ask_user') continue
        questions.push(String((value['questions'] as FixedMessage[])[0]!['question']))
        await at.client.request('reply_to_ask', { ...PAIR, content: reply })
      }
      assert.equal(questions.length, 1)
      assert.match(questions[0]!, /^Use the instruction files of .*project\?/)
      assert.equal(/like a pirate/.test(at.requests[0]!.text), isRead)
    })
  }

  test('a sender of another class is not asked', async () => {
    await using at = await startPlace([{ parts: [ask(['Red'])] }, { parts: ['Alone.'] }], start)
    const events = await turn(at, 'go', undefined, 'tg:7')
    assert.ok(!caseNames(events).includes('ask_user'))
    assert.equal(joinChunks(events), 'Alone.')
  })

  test('empty lists and tables, the nil id and a tool as an object are stored', async () => {
    await using at = await startPlace([], start)
    for (const auth of [null, '']) {
      const config = JSON.stringify({ ...REMOTE, auth })
      const { value } = await at.client.request('upsert_mcp', { agent: 'crab', config })
      assert.deepEqual([value['name'], value['url']], ['far', REMOTE.url])
    }
    const before = await findAgent(at)
    const choice = { type: 'function', function: { name: 'bash' } }
    const config = JSON.stringify({ ...before, id: NIL_ID, tool_choice: choice, mcps: [REMOTE] })
    await at.client.request('update_agent', { name: 'crab', config })
    const after = await findAgent(at)
    assert.deepEqual([after['id'], after['tool_choice']], [before['id'], 'bash'])
    assert.deepEqual(after['mcps'], [{ name: 'far', url: REMOTE.url }])
    await at.client.request('create_agent', { name: 'new', prompt: 'Be brief.', config })
    const id = before['id']
    const other = JSON.stringify({ id: String(id).replace(/^0/, '1') })
    const isRefused = ({ code }: FixedError) => code === 400
    await assert.rejects(at.client.request('update_agent', { name: 'crab', config: other }), isRefused)
  })

  test('kill of an idle pair starts a new conversation and keeps the older one', async () => {
    await using at = await startPlace(() => ({ parts: ['Yes.'] }), start)
    await turn(at, 'the first')
    await at.client.request('kill', PAIR)
    await turn(at, 'the second')
    assert.doesNotMatch(at.requests[1]!.text, /the first/)
    const { value } = await at.client.request('list_conversations', PAIR)
    assert.equal((value['conversations'] as unknown[]).length, 2)
    await request(at.daemon.dispatch, 'kill', PAIR, NEVER)
    await turn(at, 'the third')
    assert.match(at.requests[2]!.text, /the second/)
  })

  test('kill of a running turn stops it, and the conversation continues', async () => {
    const script = [{ parts: ['Half'], end: 'hang' as const }, { parts: ['Whole.'] }]
    await using at = await startPlace(script, start)
    const names: string[] = []
    for await (const { name, value } of at.client.stream({ ...PAIR, content: 'the first' })) {
      names.push(name)
      if (name === 'chunk') await at.client.request('kill', PAIR)
      if (name === 'end') assert.match(String(value['error']), /^Cancelled/)
    }
    assert.equal(names.at(-1), 'end')
    await turn(at, 'the second')
    assert.match(at.requests[1]!.text, /the first/)
  })

  test('a steer that its turn never used is stored, because the client cannot be notified', async () => {
    const script = [{ parts: ['Half'], end: 'hang' as const }, { parts: ['Whole.'] }]
    await using at = await startPlace(script, start)
    for await (const { name } of at.client.stream({ ...PAIR, content: 'the first' })) {
      if (name !== 'chunk') continue
      await at.client.request('steer_session', { ...PAIR, content: 'one thing more' })
      await at.client.request('kill', PAIR)
    }
    await turn(at, 'the second')
    assert.match(at.requests[1]!.text, /one thing more/)
  })

  test('kill of an unknown pair is 404 and starts nothing', async () => {
    await using at = await startPlace([], start)
    await assert.rejects(at.client.request('kill', PAIR), ({ code }: FixedError) => code === 404)
    const { value } = await at.client.request('list_conversations', PAIR)
    assert.deepEqual(value, {})
  })
}

async function startPlace(script: Script, start: DaemonStart): Promise<Place> {
  const home = await makeModelHome(script)
  const daemon = await startTestDaemon(home, start)
  const endpoint = { kind: 'unix', path: join(home.paths.run, 'crabtalk.sock') } as const
  return {
    home,
    daemon,
    endpoint,
    client: fixedClient(endpoint),
    requests: home.server.requests,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** Runs a whole turn; its questions are answered by `reply`. */
async function turn(
  { client, home }: Place,
  content: string,
  reply?: string,
  sender = PAIR.sender,
): Promise<FixedCase[]> {
  const events: FixedCase[] = []
  const isLocal = sender === PAIR.sender
  const cwd = isLocal ? { cwd: join(home.paths.home, '..') } : {}
  for await (const event of client.stream({ agent: PAIR.agent, sender, content, ...cwd })) {
    events.push(event)
    if (event.name !== 'ask_user') continue
    assert.ok(reply !== undefined, 'a question that the test did not expect')
    await client.request('reply_to_ask', { ...PAIR, content: reply })
  }
  assert.equal(events.at(-1)!.value['error'], undefined)
  return events
}

/** Returns the events of a turn as a client with request ids sees them. */
async function currentTurn({ dispatch }: TestDaemon, content: string): Promise<(string | undefined)[]> {
  const events = await Array.fromAsync(streamTurn(dispatch, { agent: 'crab', sender: 'bob', content }, NEVER))
  return events.map(({ event }) => event?.$case)
}

async function findAgent({ client }: Place): Promise<FixedMessage> {
  const { value } = await client.request('get_agent', { name: 'crab' })
  return JSON.parse(String(value['config']))
}

function ask(options: readonly string[]) {
  const labels = options.map((label) => ({ label }))
  return {
    call: 'a',
    name: 'ask_user',
    args: JSON.stringify({ questions: [{ question: 'Which one?', options: labels }] }),
  }
}

function bash(command: string) {
  return { call: 'a', name: 'bash', args: JSON.stringify({ command }) }
}

function caseNames(events: readonly FixedCase[]): string[] {
  return events.map(({ name }) => name)
}

function joinChunks(events: readonly FixedCase[]): string {
  return events.flatMap(({ name, value }) => (name === 'chunk' ? [value['content']] : [])).join('')
}

function resultOf(events: readonly FixedCase[]): string {
  return events.flatMap(({ name, value }) => (name === 'tool_result' ? [value['output']] : [])).join('')
}
