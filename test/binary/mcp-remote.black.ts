import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startSse } from '../support/mcp/http/official-servers.ts'
import { scriptedServer, sendJson } from '../support/mcp/http/scripted-server.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

test('mcp add connects to a URL before it writes it, and list, ping, call and get use it afterwards', async () => {
  await using server = await scriptedServer()
  await using box = await makeSandbox()
  const options = ['--header', 'X-Team: crabs', '--auth-env', 'FAR_TOKEN']
  const env = { FAR_TOKEN: 's3cr3t-token' }
  const added = await box.run(['mcp', 'add', ...options, 'far', server.url], { env })
  assert.deepEqual([added.stdout, added.stderr, added.code], ['added far: 1 tool\n', '', 0])
  const sent = server.arrivals.map(({ headers }) => [headers.authorization, headers['x-team']].join())
  assert.deepEqual([...new Set(sent)], ['Bearer s3cr3t-token,crabs'])
  assert.equal(server.arrivals.at(-1)!.verb, 'DELETE')
  const list = await box.run(['mcp', 'list'])
  assert.match(list.stdout, new RegExp(`^far +idle +1 +http +${RegExp.escape(server.url)}$`, 'm'))
  const ping = await box.run(['mcp', 'ping', 'far'])
  assert.match(ping.stdout, /^far +ok +1 /m)
  const call = await box.run(['mcp', 'call', 'far', 'echo', 'text=hi'])
  assert.deepEqual([call.stdout, call.code], ['hi\n', 0])
  const get = await box.run(['mcp', 'get', 'far'])
  assert.doesNotMatch(list.stdout + get.stdout + ping.stdout, /s3cr3t-token/)
  assert.equal(server.of('initialize').length, server.of('DELETE').length)
})

test('mcp add detects a URL of server-sent events', async () => {
  await using server = await startSse()
  await using box = await makeSandbox()
  const added = await box.run(['mcp', 'add', 'old', server.url])
  assert.deepEqual([added.stdout, added.code], ['added old: 2 tools\n', 0])
  assert.equal((await box.run(['mcp', 'call', 'old', 'echo', 'text=hi'])).stdout, 'hi\n')
})

test('mcp add rejects a URL that it cannot connect to, and says why', async () => {
  await using closed = await scriptedServer({
    play({ id }, response) {
      sendJson(response, { id, error: 'invalid_token' }, 401)
      return true
    },
  })
  await using box = await makeSandbox()
  const add = (...args: string[]) => box.run(['mcp', 'add', ...args])
  assertFailed(await add('far', closed.url), 'credentials', {
    message: /"far": it requires authentication: it answered HTTP 401 \(Unauthorized\) at http/,
    hint: /add it with --no-verify, then crabtalk mcp login far/,
  })
  const before = closed.arrivals.length
  assertFailed(await add('--header', 'Host: x', 'far', closed.url), 'config', {
    message: /"far": the header "Host" cannot be set/,
  })
  const clash = ['--auth', 's3cr3t-token', '--header', 'Authorization: Basic s3cr3t-token']
  const clashed = await add(...clash, 'far', closed.url)
  assertFailed(clashed, 'config', { message: /"Authorization" and "auth" clash/ })
  assert.doesNotMatch(clashed.stderr, /s3cr3t-token/)
  assert.equal(closed.arrivals.length, before)
  await closed.stop()
  assertFailed(await add('far', closed.url), 'unavailable', { message: /connection refused/ })
  assert.doesNotMatch(await agentText(box), /url/)
})

async function agentText({ home }: Sandbox): Promise<string> {
  return await readFile(join(home, 'agents', 'crab.toml'), 'utf8').catch(() => '')
}
