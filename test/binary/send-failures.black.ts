import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import type { Reply } from '../support/model-server.ts'
import { assertFailed, makeTalk, shortConfig, type Talk, writeConfig } from '../support/talk.ts'

const errorBody = (message: string) => ({ error: { message } })
const OK: Reply = { parts: ['ok'] }

test('401 exits 77 after one request, with a hint that names the source of the key and not the key', async () => {
  const config = (url: string) => `${shortConfig(url)}api_key = "sk-secret-0123456789"\n`
  await using talk = await makeTalk(
    () => ({ status: 401, body: errorBody('Bad key sk-secret-0123456789') }),
    config,
  )
  const finished = await talk.send(['-s', 'me', 'hello'])
  assertFailed(finished, 'credentials', {
    message: /^Cannot call scripted \(llm\): Bad key \[secret\] \(401\)$/,
    hint: /check the key \(config\.toml:\d+\), or replace it: crabtalk connect$/,
  })
  assert.equal(talk.server.requests.length, 1)
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: hello'])
})

test('429 waits for the time in Retry-After and then succeeds', async () => {
  await using talk = await makeTalk([
    { status: 429, headers: { 'retry-after': '1' }, body: errorBody('slow down') },
    OK,
  ])
  const { stdout, stderr, code } = await talk.send(['--output', 'stream-json', 'hello'])
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([records.find(({ type }) => type === 'retry').delay_ms, records.at(-1).text], [1000, 'ok'])
  assert.deepEqual([stderr, code, talk.server.requests.length], ['', 0, 2])
})

test('429 with a Retry-After that is too long exits 75 immediately, with that time', async () => {
  const reply = { status: 429, headers: { 'retry-after': '120' }, body: errorBody('slow down') }
  await using talk = await makeTalk(() => reply)
  const { stdout, code } = await talk.send(['--output', 'json', 'hello'])
  const { error } = JSON.parse(stdout)
  assert.deepEqual(
    [code, error.code, error.retryable, error.retry_after_ms],
    [75, 'throttled', true, 120_000],
  )
  assertFailed(await talk.send(['hello']), 'throttled', { message: /slow down \(429\)$/ })
  assert.equal(talk.server.requests.length, 2)
})

test('a server that fails twice gets a third request; one that always fails exits 69', async () => {
  const fails = (status: number): Reply => ({ status, body: errorBody('oops') })
  await using talk = await makeTalk([
    fails(500),
    fails(503),
    OK,
    fails(500),
    fails(502),
    fails(500),
    fails(500),
  ])
  const { stdout, stderr } = await talk.send(['hello'])
  assert.deepEqual([stdout, stderr], ['ok\n', ''])
  assertFailed(await talk.send(['hello']), 'unavailable', { message: /oops \(500\)$/ })
  assert.equal(talk.server.requests.length, 6)
  assertFailed(await talk.send(['--retries', '0', 'hello']), 'unavailable', { message: /oops \(500\)$/ })
  assert.equal(talk.server.requests.length, 7)
})

test('a stream that is cut, or has no end event, exits 69; its text is printed and kept, and nothing is retried', async () => {
  for (const end of ['cut', 'unfinished'] as const) {
    await using talk = await makeTalk([{ parts: ['half an ', 'answer'], end }, OK])
    assertFailed(await talk.send(['-s', 'me', 'hello']), 'unavailable', {
      message: /^Cannot call scripted \(llm\): the answer ended early$/,
      stdout: 'half an answer\n',
    })
    assert.equal(talk.server.requests.length, 1)
    assert.deepEqual((await talk.sessions())[0]?.said, ['user: hello', 'assistant: half an answer [failed]'])
    assert.equal((await talk.send(['-s', 'me', 'again'])).stdout, 'ok\n')
  }
})

test('an error inside a stream is reported in the words of the server', async () => {
  await using talk = await makeTalk(() => ({
    parts: ['half'],
    error: { message: 'Overloaded', type: 'server_error' },
  }))
  const finished = await talk.send(['hello'])
  assertFailed(finished, 'unavailable', { message: /Overloaded/, stdout: 'half\n' })
})

test('a server that is unreachable exits 69, and one that is not HTTP exits 78, with the place of its configuration', async () => {
  await using talk = await makeTalk([])
  await writeConfig(talk.home, shortConfig('http://127.0.0.1:1/v1'))
  assertFailed(await talk.send(['hello']), 'unavailable', {
    message: /^Cannot reach http:\/\/127\.0\.0\.1:1: connection refused$/,
    hint: /base_url \(config\.toml:\d+\)/,
  })
  await using deaf = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end('220 smtp ready\r\n'),
  )
  await once(deaf.listen(0, '127.0.0.1'), 'listening')
  const { port } = deaf.address() as { port: number }
  await writeConfig(talk.home, shortConfig(`http://127.0.0.1:${port}/v1`))
  const finished = await talk.send(['hello'])
  assert.match(finished.stderr, /^crabtalk: error\[config\]: Cannot (reach|call) .*\n(hint: .*\n)?$/)
  assert.equal(finished.code, 78)
})

test('the finish reason of a model decides the exit code', async () => {
  const endings: [Reply, 'refused' | 'truncated' | 'empty', RegExp, string][] = [
    [{ parts: [], finish: 'refused' }, 'refused', /^The model refused to answer$/, ''],
    [{ parts: ['cut he'], finish: 'length' }, 'truncated', /output limit$/, 'cut he\n'],
    [{ parts: [] }, 'empty', /^The model returned an empty answer$/, ''],
    [{ parts: [' \n'] }, 'empty', /^The model returned an empty answer$/, ' \n'],
    [{ parts: [{ thinking: 'Hm.' }] }, 'empty', /^The model returned an empty answer$/, ''],
  ]
  await using talk = await makeTalk(endings.map(([reply]) => reply))
  for (const [, kind, message, stdout] of endings) {
    assertFailed(await talk.send(['hello']), kind, { message, hint: /./, stdout })
  }
})

test('a rejected request is reported in the words of the server: too long, unknown model, a web page', async () => {
  const wrong: [Reply, number, RegExp][] = [
    [
      { status: 400, body: errorBody('maximum context length is 4096 tokens') },
      65,
      /4096 tokens \(400\)\nhint: compact the conversation, send less/,
    ],
    [
      { status: 404, body: errorBody('The model does not exist') },
      78,
      /does not exist \(404\)\nhint: .*config\.toml:1/,
    ],
    [
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>hi</html>' },
      78,
      /a web page\nhint: /,
    ],
  ]
  await using talk = await makeTalk(wrong.map(([reply]) => reply))
  for (const [, exit, text] of wrong) {
    const { stdout, stderr, code } = await talk.send(['hello'])
    assert.match(stderr, text)
    assert.deepEqual([stdout, code], ['', exit])
  }
})

test('failures leave no temporary file and no process', async () => {
  await using talk = await makeTalk([
    { status: 401, body: '' },
    { parts: ['x'], end: 'cut' },
  ])
  const codes = [(await talk.send(['hello'])).code, (await talk.send(['hello'])).code]
  assert.deepEqual([codes, (await talk.sessions()).length], [[77, 69], 2])
  assert.deepEqual(await leftovers(talk), [])
  assert.deepEqual(await talk.processesLeft(), [])
})

async function leftovers(talk: Talk): Promise<string[]> {
  const { stdout } = await talk.shell('find "$CRABTALK_HOME" -name "*.tmp" -o -path "*/run/proc/*"')
  return stdout.split('\n').filter(Boolean)
}
