import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed, makeTalk, modesUnder, type Talk } from '../support/talk.ts'

const TITLE = 'Hello there, this is what I would like to know about the crabs of the northern sea'

test('conversation list truncates a long sender, and --json prints all of it', async () => {
  await using talk = await makeTwo()
  const sender = `tg:${'x'.repeat(100)}`
  assert.equal((await talk.run(['send', '--no-stdin', '-s', sender, 'third'])).code, 0)
  const { stdout } = await talk.run(['conversation', 'list', '-n', '1'])
  assert.match(stdout, /crab +tg:x{28}… +\d+ +/)
  assert.equal((await listed(talk))[0]?.['sender'], sender)
})

test('conversation list prints the newest first: plain in a pipe, truncated on a terminal, or as JSON', async () => {
  await using talk = await makeTwo()
  const { stdout, stderr, code } = await talk.run(['conversation', 'list'])
  assert.deepEqual([stderr, code], ['', 0])
  const [header, ...rows] = stdout.trimEnd().split('\n')
  assert.match(header ?? '', /^ID +UPDATED +AGENT +SENDER +MESSAGES +TITLE$/)
  assert.match(rows[0] ?? '', /^[0-9A-Z]{8} +(now|\ds ago) +crab +you +2 +second$/)
  assert.match(rows[1] ?? '', /^[0-9A-Z]{8} +(now|\ds ago) +crab +me +2 +Hello there, this is what I would/)
  assert.equal(rows.length, 2)
  const terminal = talk.terminal(['conversation', 'list'], { columns: 60 })
  await terminal.finished
  assert.match(terminal.output(), /\r\n.{59}…\r\n$/)
  const [second, first] = await listed(talk)
  assert.deepEqual(
    [second?.['sender'], first?.['sender'], first?.['messages'], first?.['cwd']],
    ['you', 'me', 2, talk.cwd],
  )
  assert.match(String(first?.['updated_at']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})

test('conversation list filters by agent and sender, and limits the number of rows', async () => {
  await using talk = await makeTwo()
  await talk.run(['agent', 'create', 'helper'])
  await talk.send(['-a', 'helper', '-s', 'me', 'third'])
  const senders = async (...args: string[]) =>
    (await listed(talk, ...args)).map(({ agent, sender }) => `${agent} ${sender}`)
  assert.deepEqual(await senders('-s', 'me'), ['helper me', 'crab me'])
  assert.deepEqual(await senders('-a', 'crab'), ['crab you', 'crab me'])
  assert.deepEqual(await senders('-a', 'crab', '--sender=me'), ['crab me'])
  assert.deepEqual(await senders('-n1'), ['helper me'])
  assert.equal((await senders('--limit', '0')).length, 3)
  assert.deepEqual(await senders('-s', 'nobody'), [])
  assertFailed(await talk.run(['conversation', 'list', '-a', 'nobody']), 'missing', { message: /"nobody"$/ })
  assertFailed(await talk.run(['conversation', 'list', '-n', 'x']), 'usage', {
    message: /^Cannot use --limit x: /,
  })
})

test('conversation list without conversations says how to start one on standard error, and creates no home', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['conversation', 'list'])
  assert.deepEqual([stdout, code], ['', 0])
  assert.match(stderr, /^No conversations yet; start one with crabtalk send/)
  assert.equal((await box.run(['conversation', 'list', '--json'])).stdout, '[]\n')
  const none = await box.run(['conversation', 'show'])
  assertFailed(none, 'missing', { message: /^No conversations yet$/, hint: /./ })
  assert.deepEqual(await modesUnder(box.home), [])
})

test('conversation show prints the last conversation, or the one whose id ends with the argument, with tool calls and truncation marks', async () => {
  const call = { call: 'c1', name: 'read', args: '{"path":"nosuch"}' }
  await using talk = await makeTalk([
    { parts: ['Let me look.', call] },
    { parts: ['Gone.'] },
    { parts: ['ha'], end: 'cut' },
  ])
  await talk.send(['-s', 'me', 'what?'])
  await talk.send(['-s', 'you', 'other'])
  const { stdout } = await talk.run(['conversation', 'show'])
  assert.match(
    stdout,
    /^# .*\n\ncrab · you · .* · 2 messages\n\n## You\n\nother\n\n## crab\n\nha\n\n\[failed\]\n$/,
  )
  const id = basename((await talk.sessions())[0]?.path ?? '', '.jsonl')
  const first = (await talk.run(['conversation', 'show', id.slice(-8).toLowerCase()])).stdout
  assert.match(
    first,
    /\nwhat\?\n\n## crab\n\nLet me look\.\n\n`read\(\{"path":"nosuch"\}\)`\n\nread failed:\n\n```\nCannot read/,
  )
  assert.equal((await talk.run(['conversation', 'show', id])).stdout, first)
  const json = JSON.parse((await talk.run(['conversation', 'show', id, '--json'])).stdout)
  assert.deepEqual([json.id, json.sender, json.messages.length], [id, 'me', 4])
  assert.deepEqual(json.messages[1].tool_calls, [{ id: 'c1', name: 'read', arguments: call.args }])
  assertFailed(await talk.run(['conversation', 'show', 'nosuch']), 'missing', {
    message: /"nosuch"$/,
    hint: /list shows all conversations$/,
  })
})

test('conversation show strips control sequences on a terminal and keeps them in a pipe', async () => {
  await using talk = await makeTalk(() => ({ parts: ['\u001b[31mred\u001b]0;title\u0007'] }))
  await talk.send(['hello'])
  assert.ok((await talk.run(['conversation', 'show'])).stdout.includes('\u001b[31mred'))
  const terminal = talk.terminal(['conversation', 'show'])
  await terminal.finished
  assert.ok(!terminal.output().includes('\u001b') && terminal.output().includes('red'))
})

test('conversation export writes Markdown, JSON and JSONL to standard output or a file', async () => {
  await using talk = await makeTwo()
  const markdown = (await talk.run(['conversation', 'export'])).stdout
  assert.equal(markdown, (await talk.run(['conversation', 'show'])).stdout)
  const json = (await talk.run(['conversation', 'export', '--format', 'json'])).stdout
  assert.equal(json, (await talk.run(['conversation', 'show', '--json'])).stdout)
  const { stdout } = await talk.run(['conversation', 'export', '--format', 'jsonl', '-O', 'talk.jsonl'])
  const text = await readFile(join(talk.cwd, 'talk.jsonl'), 'utf8')
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([stdout, lines], ['', JSON.parse(json).messages])
  assert.equal((await stat(join(talk.cwd, 'talk.jsonl'))).mode & 0o600, 0o600)
  assertFailed(await talk.run(['conversation', 'export', '--format', 'pdf']), 'usage', {
    message: /^Cannot use --format pdf$/,
    hint: /markdown, html, json, jsonl$/,
  })
})

test('conversation delete removes files permanently, and none of them when an id is wrong', async () => {
  await using talk = await makeTwo()
  const ids = (await listed(talk)).map(({ id }) => String(id))
  assertFailed(await talk.run(['conversation', 'delete', ids[0]!, 'nosuch']), 'missing', {
    message: /"nosuch"$/,
  })
  assertFailed(await talk.run(['conversation', 'delete']), 'usage', { message: /(is|are) missing$/ })
  assert.equal((await talk.sessions()).length, 2)
  const [first = '', second = ''] = ids.map((id) => id.slice(-8))
  assertFailed(await talk.run(['conversation', 'delete', first]), 'denied', {
    message: new RegExp(`^Cannot delete ${first}: there is no terminal to ask for confirmation$`),
    hint: /--yes/,
  })
  const no = talk.terminal(['conversation', 'delete', first, second])
  await no.shows(/Permanently delete these 2\? \[y\/N\] /)
  assert.match(no.output(), new RegExp(`${first} · crab/[^\\r]* · 2 messages · `))
  no.type('n\r')
  assert.equal((await no.finished).code, 4)
  assert.equal((await talk.sessions()).length, 2)
  const { stdout, code } = await talk.run(['conversation', 'delete', '--yes', first, second, ids[0]!])
  assert.deepEqual([stdout, code], [`deleted ${first}\ndeleted ${second}\n`, 0])
  assert.deepEqual([await talk.sessions(), await listed(talk)], [[], []])
  await talk.send(['-s', 'me', 'again'])
  assert.equal((await talk.sessions()).length, 1)
})

test('a listing ends quietly when its reader goes away', async () => {
  await using talk = await makeTalk(() => ({ parts: ['line\n'.repeat(100_000)] }))
  await talk.send(['hello'])
  const script = 'crabtalk conversation show | head -3; crabtalk conversation list | true'
  const { stdout, stderr } = await talk.shell(script)
  assert.match(stdout, /^# hello\n\ncrab · .*\n$/)
  assert.equal(stderr, '')
})

/** Makes two conversations: `me`, then `you`. */
async function makeTwo(): Promise<Talk> {
  const talk = await makeTalk(() => ({ parts: ['ok'] }))
  await talk.send(['-s', 'me', TITLE])
  await talk.send(['-s', 'you', 'second'])
  return talk
}

async function listed(talk: Talk, ...args: readonly string[]): Promise<Record<string, unknown>[]> {
  return JSON.parse((await talk.run(['conversation', 'list', '--json', ...args])).stdout)
}
