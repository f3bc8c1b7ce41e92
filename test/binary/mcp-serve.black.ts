import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stringify } from 'smol-toml'
import type { JsonObject } from '../../src/core/base/message.ts'
import { CLIENTS, connectNew } from '../support/mcp/clients.ts'
import type { StdioEntry } from '../support/mcp/mcp-servers.ts'
import { startRaw } from '../support/mcp/raw-client.ts'
import type { Script } from '../support/model-server.ts'
import { HAS_DAEMONS, type Sandbox } from '../support/run-binary.ts'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'
import { answersIn } from '../support/tool-talk.ts'
import { until } from '../support/until.ts'

const MODES = {
  ...CLIENTS,
  'SDK 2.x, 2026-07-28': (entry: StdioEntry) => connectNew(entry, { pin: '2026-07-28' }),
}

for (const [name, connect] of Object.entries(MODES)) {
  test(`mcp serve answers the client ${name}`, async () => {
    await using talk = await makeTalk([{ parts: ['Hello.'] }])
    {
      await using client = await connect(served(talk))
      assert.equal(client.server()?.name, 'crabtalk')
      assert.deepEqual(await client.tools(), ['send_crab', 'list_agents', 'search_sessions'])
      const { content, structuredContent } = await client.call('send_crab', { message: 'Hi' })
      assert.deepEqual(content, [{ type: 'text', text: 'Hello.' }])
      assert.match(String((structuredContent as JsonObject)['conversation']), /^[0-9A-Z]{26}$/)
    }
    await until('all processes have ended', async () => (await talk.processesLeft()).length === 0)
  })
}

test('mcp serve writes only messages on standard output, and ends with its input', async () => {
  await using talk = await makeTalk([{ parts: ['Hello.'] }])
  await using server = startRaw(served(talk))
  await server.initialize()
  server.child.stdin.write('this is no message\n')
  const { result } = await server.call('send_crab', { message: 'Hi' })
  assert.equal((result as JsonObject)['isError'], undefined)
  server.child.stdin.end()
  assert.deepEqual(await server.exit, { code: 0, signal: null })
  await server.closed
  for (const line of server.stdout().toString().trimEnd().split('\n')) {
    assert.equal(JSON.parse(line).jsonrpc, '2.0')
  }
  assert.match(server.stderr(), /^crabtalk: .+\n$/)
})

test('mcp serve cancels its turns and leaves nothing when it is terminated or its host goes away', async () => {
  for (const end of ['SIGTERM', 'SIGINT', 'input'] as const) {
    await using talk = await makeTalk([{ parts: ['Wait'], end: 'hang' }])
    await using server = startRaw(served(talk))
    await server.initialize()
    server.say({ id: 'x', method: 'tools/call', params: { name: 'send_crab', arguments: { message: 'Hi' } } })
    await until('the model is asked', () => talk.server.requests.length === 1)
    if (end === 'input') server.child.stdin.end()
    else server.child.kill(end)
    const { code, signal } = await server.exit
    assert.deepEqual([code, signal], end === 'input' ? [0, null] : [null, end])
    assert.equal(await talk.server.requests[0]!.done, false)
    await until('all processes have ended', async () => (await talk.processesLeft()).length === 0)
  }
})

test('mcp serve on a terminal says that it is for MCP clients, and ends with Ctrl-D', async () => {
  await using talk = await makeTalk([])
  const terminal = talk.terminal(['mcp', 'serve'])
  await terminal.shows(/programs that speak MCP start this by themselves/)
  terminal.type('\x04')
  assert.equal((await terminal.finished).code, 0)
})

test('mcp serve of an unknown agent fails before it writes a message', async () => {
  await using talk = await makeTalk([])
  const finished = await talk.run(['mcp', 'serve', '--agent', 'crap'])
  assertFailed(finished, 'missing', {
    message: /Cannot offer the agent "crap"/,
    hint: /did you mean "crab"\?/,
  })
})

test('an agent asks an agent of another home through mcp serve', async () => {
  await using other = await makeTalk([{ parts: ['Forty-two.'] }])
  const script: Script = (request) => {
    const [answer] = answersIn(request)
    const call = { call: 'c', name: 'mcp__other__send_crab', args: '{"message":"How many?"}' }
    return { parts: [answer === undefined ? call : `It says ${answer}`] }
  }
  await using talk = await makeTalk(script)
  await declare(talk, { ...served(other), name: 'other' })
  const { stdout, stderr, code } = await talk.send(['--allow', 'mcp__other__*', 'ask it'])
  assert.match(stdout, /^It says Forty-two\.\n/)
  assert.deepEqual([stderr, code], ['', 0])
  const [session] = await other.sessions()
  assert.deepEqual(session!.said, ['user: How many?', 'assistant: Forty-two.'])
})

test('an agent that is its own server is refused after it has called itself four times', async () => {
  const script: Script = (request) => {
    const [answer] = answersIn(request)
    const call = { call: 'c', name: 'mcp__me__send_crab', args: '{"message":"Go on."}' }
    return { parts: [answer === undefined ? call : `heard: ${answer.split('\n')[0]}`] }
  }
  await using talk = await makeTalk(script)
  await declare(talk, { ...served(talk), name: 'me' }, { permissions: { allow: ['*'] } })
  const { stdout, code } = await talk.send(['go'])
  assert.equal(code, 0)
  assert.match(stdout, /^(heard: ){5}Cannot ask crab: agents have called one another 4 deep already/)
  assert.equal((await talk.sessions()).length, 5)
  if (HAS_DAEMONS) return // a running daemon keeps its servers
  await until('all processes have ended', async () => (await talk.processesLeft()).length === 0)
})

/** Returns the entry with which a host declares the agents of a sandbox. */
function served({ env, cwd }: Sandbox): StdioEntry {
  const command = join(env['PATH']!.split(':')[0]!, 'crabtalk')
  return { name: 'crabtalk', command, args: ['mcp', 'serve'], env: { ...env }, cwd }
}

async function declare({ home }: Talk, entry: StdioEntry, more: JsonObject = {}): Promise<void> {
  await mkdir(join(home, 'agents'), { recursive: true })
  const id = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
  await writeFile(join(home, 'agents', 'crab.toml'), stringify({ id, mcps: [{ ...entry, ...more }] }))
}
