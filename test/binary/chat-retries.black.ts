import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openChat } from '../support/chat-session.ts'
import { type Reply, startModelServer } from '../support/model-server.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const busy = (headers: Readonly<Record<string, string>>): Reply => ({
  status: 529,
  headers,
  body: { error: { message: 'Overloaded' } },
})
const SOON = busy({ 'retry-after-ms': '1' })
const LATE = busy({ 'retry-after': '200' })

test('a busy model costs no turn, and leaves no line', async () => {
  await using talk = await makeTalk([SOON, SOON, SOON, SOON, SOON, { parts: ['Here I am.'] }])
  await using chat = openChat(talk, ['chat', 'hello'])
  await chat.shows('Here I am.')
  await chat.shows('> Ask anything')
  assert.doesNotMatch(chat.screen.text().join('\n'), /Overloaded|attempt/)
  assert.equal(talk.server.requests.length, 6)
})

test('a wait is counted down in the line of the turn; Esc ends it, and the next message is sent', async () => {
  await using talk = await makeTalk([SOON, LATE, { parts: ['Back.'] }])
  await using chat = openChat(talk, ['chat', 'hello'], { columns: 100 })
  await chat.shows(
    /^. Overloaded \(529\) · trying again in 3 m \d\d s · attempt 3 of 10 · esc to interrupt$/m,
  )
  chat.type('also this\r')
  await chat.shows('next: also this')
  chat.press('esc')
  await chat.shows('Interrupted')
  await chat.shows('> also this')
  assert.doesNotMatch(chat.screen.text().join('\n'), /Overloaded/)
  chat.press('enter')
  await chat.shows('Back.')
})

test('a model that does not come back ends the turn with the number of attempts', async () => {
  await using talk = await makeTalk(() => SOON)
  await using chat = openChat(talk, ['chat', 'hello'], { columns: 100 })
  await chat.shows('Overloaded (529), after 10 attempts')
  assert.equal(talk.server.requests.length, 10)
})

test('a delay of more than five minutes, a spent quota and a bad request end the turn immediately', async () => {
  const limit = { status: 429, headers: { 'retry-after': '9000' }, body: { error: { message: 'Limit' } } }
  const quota = { status: 429, body: { error: { message: 'No quota', code: 'insufficient_quota' } } }
  const bad = { status: 422, body: { error: { message: 'Bad field' } } }
  await using talk = await makeTalk([limit, quota, bad])
  await using chat = openChat(talk, ['chat', 'hello'], { columns: 100 })
  await chat.shows('Limit (429)')
  await chat.shows('try again in 3 h')
  chat.type('again\r')
  await chat.shows('No quota (429)')
  chat.type('and again\r')
  await chat.shows('Bad field (422)')
  assert.equal(talk.server.requests.length, 3)
})

test('a server that is down is waited for until it is back', async () => {
  await using talk = await makeTalk([])
  await talk.server[Symbol.asyncDispose]()
  await using chat = openChat(talk, ['chat', 'hello'], { columns: 100 })
  await chat.shows(/Connection refused · trying again/)
  await using _server = await startModelServer([{ parts: ['I was away.'] }], { port: talk.server.port })
  await chat.shows('I was away.')
})

test('an answer that broke off is asked for again, and stored once', async () => {
  await using talk = await makeTalk([
    { parts: ['Half an ans'], end: 'cut' },
    { parts: ['First.\n\n', 'Sec'], end: 'cut' },
    { parts: ['First.\n\n', 'Second.'] },
    { parts: ['Fine.'] },
  ])
  await using chat = openChat(talk, ['chat', 'hello'])
  await chat.shows('Second.')
  await chat.shows('> Ask anything')
  assert.doesNotMatch(chat.screen.text().join('\n'), /Half an ans/)
  chat.type('thanks\r')
  await chat.shows('Fine.')
  await chat.shows('> Ask anything')
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  const [session] = await talk.sessions()
  assert.deepEqual(session?.said, [
    'user: hello',
    'assistant: First.\n\nSecond.',
    'user: thanks',
    'assistant: Fine.',
  ])
})

test('a turn that waits goes into the background and comes back with its countdown; a stop of the daemon ends it', async () => {
  await using talk = await makeTalk(({ text }) => (text.includes('other') ? { parts: ['Quick.'] } : LATE))
  await using daemon = await startSandboxDaemon(talk)
  await using chat = openChat(talk, ['chat', 'hello'], { columns: 100, env: WITH_DAEMON })
  await chat.shows('attempt 2 of 10')
  chat.type('\u0002')
  await chat.shows('1 running')
  chat.type('the other one\r')
  await chat.shows('Quick.')
  chat.press('left')
  await chat.shows('Agents: 1 running')
  await chat.shows('waiting for the model, attempt 2 of 10')
  chat.press('enter')
  await chat.shows(/Overloaded \(529\) · trying again in 3 m \d\d s · attempt 2 of 10/)
  chat.press('ctrl+d')
  assert.equal((await chat.finished).code, 0)
  daemon.kill('SIGTERM')
  assert.equal((await daemon.finished).code, 0)
})

test('a turn that an event starts waits for its model, and hands on only the whole answer', async () => {
  const script = [SOON, SOON, SOON, { parts: ['Half'], end: 'cut' as const }, { parts: ['The report.'] }]
  await using talk = await makeTalk(script)
  await using _daemon = await startSandboxDaemon(talk)
  const run = async (...args: readonly string[]) => {
    const { stdout, stderr, code } = await talk.run(['events', ...args], { env: WITH_DAEMON })
    assert.equal(code, 0, stderr)
    return stdout
  }
  await run('subscribe', 'rss:fetch', 'crab')
  await run('subscribe', 'agent:crab:done', 'crab', '--once')
  const id = (await run('publish', 'rss:fetch', 'news')).trim()
  await until('the answer is handed on', async () => /The report\./.test(await run('trace', id)))
  assert.doesNotMatch(await run('trace', id), /Half/)
  const [session] = await talk.sessions()
  assert.deepEqual(session?.said.slice(1, 2), ['assistant: The report.'])
})
