import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat } from '../support/chat-session.ts'
import { chooseDigit } from '../support/choose-digit.ts'
import { makeTalk } from '../support/talk.ts'

const PLAN = '# Write a.txt\n\n1. Write it.'
const PRESENT = { call: 'p', name: 'present_plan', args: JSON.stringify({ plan: PLAN }) }
const WRITE = { call: 'w', name: 'write', args: JSON.stringify({ path: 'a.txt', content: 'a\n' }) }

test('send --mode plan in a pipe changes nothing, and prints the plan as the answer', async () => {
  await using talk = await makeTalk([{ parts: [WRITE] }, { parts: [PLAN] }])
  const { code, stdout, stderr } = await talk.send(['--mode', 'plan', 'write a.txt'])
  assert.equal(code, 0, stderr)
  assert.equal(stdout, `${PLAN}\n`)
  assert.match(talk.server.requests[1]!.text, /plan mode: this turn may only read until its plan is accepted/)
  assert.match(talk.server.requests[0]!.text, /then answer with your plan in Markdown/)
  assert.deepEqual((await readdir(talk.cwd)).includes('a.txt'), false)
})

test('a plan that is accepted with edits on its card is carried out in the same turn', async () => {
  await using talk = await makeTalk([{ parts: [PRESENT] }, { parts: [WRITE] }, { parts: ['Done.'] }])
  await using chat = openChat(talk, ['chat', '--mode', 'plan', 'write a.txt'])
  await chat.shows('2  Yes, and allow edits')
  await chooseDigit(chat, '2')
  await chat.shows('Done.')
  await chat.shows('edits allowed')
  assert.equal(await readFile(join(talk.cwd, 'a.txt'), 'utf8'), 'a\n')
  assert.equal(talk.server.requests.length, 3)
})

test('edits allowed on the card of a change are not asked about again, and the status line says so', async () => {
  const writes = ['a', 'b', 'c'].map((name) => ({
    call: name,
    name: 'write',
    args: JSON.stringify({ path: `${name}.txt`, content: 'new\n' }),
  }))
  await using talk = await makeTalk([...writes.map((write) => ({ parts: [write] })), { parts: ['Done.'] }])
  await using chat = openChat(talk, ['chat', 'write them'])
  await chat.shows('2  Yes, and allow edits in this directory')
  await chooseDigit(chat, '2')
  await chat.shows('Done.')
  await chat.shows('edits allowed')
  assert.deepEqual((await readdir(talk.cwd)).filter((name) => name.endsWith('.txt')).sort(), [
    'a.txt',
    'b.txt',
    'c.txt',
  ])
})

test('a mode chosen while a turn asks is announced for the next message', async () => {
  await using talk = await makeTalk([{ parts: [WRITE] }, { parts: ['Done.'] }])
  await using chat = openChat(talk, ['chat', 'write a.txt'])
  await chat.shows('1  Yes')
  chat.type('\x1b[Z')
  await chat.shows('edits allowed from the next message on ·')
  await chat.shows(/^ {3}A digit or arrows/m)
  chat.type('1')
  await chat.shows('❯ 1  Yes')
  chat.press('enter') // at typing speed
  await chat.shows('Done.')
  await chat.shows(/─ edits allowed ─$/m)
})

test('Tab on a card changes the command before it runs', async () => {
  const bash = { call: 'b', name: 'bash', args: '{"command":"touch wrong"}' }
  await using talk = await makeTalk([{ parts: [bash] }, { parts: ['Done.'] }])
  await using chat = openChat(talk, ['chat', 'go'])
  await chat.shows('Tab edit')
  await chat.shows(/^ {3}A digit or arrows/m)
  chat.press('tab')
  await chat.shows('> touch wrong')
  for (let at = 0; at < 'wrong'.length; at++) chat.press('backspace')
  await chat.shows(/^> touch *$/m)
  chat.type('fine')
  await chat.shows('> touch fine')
  await chat.shows('Edit the command below')
  while (!(await readdir(talk.cwd)).includes('fine')) {
    chat.press('enter')
    await chat.shows(/Press Enter again to run it|Done\./)
    await new Promise((resolve) => setTimeout(resolve, 700)) // the pause that a person makes
  }
  await chat.shows('Done.')
  assert.deepEqual((await readdir(talk.cwd)).includes('wrong'), false)
})

test('policy add, list and remove change the rules of an agent and of config.toml', async () => {
  await using talk = await makeTalk([])
  const added = await talk.run(['policy', 'add', 'bash(npm test *)'])
  assert.match(added.stdout, /^added allow bash\(npm test \*\) \(agents\/crab\.toml:\d+\)\n$/)
  const denied = await talk.run(['policy', 'add', 'read(.env)', '--effect', 'deny', '--all-agents'])
  assert.match(denied.stdout, /^added deny read\(\.env\) \(config\.toml:\d+\)\n$/)
  const listed = await talk.run(['policy', 'list'])
  assert.match(
    listed.stdout,
    /^allow {2}bash\(npm test \*\) {2}\(agents\/crab\.toml:\d+\)\ndeny {3}read\(\.env\)/,
  )
  const json = JSON.parse((await talk.run(['policy', 'list', '--json'])).stdout) as { scope: string }[]
  assert.deepEqual(
    json.map(({ scope }) => scope),
    ['agent', 'config'],
  )
  const missing = await talk.run(['policy', 'remove', 'read(.env)'])
  assert.match(missing.stderr, /it is not in that list[\s\S]*it is in config\.toml/)
  assert.notEqual(missing.code, 0)
  for (const args of [['read(.env)', '--all-agents'], ['bash(npm test *)']]) {
    const removed = await talk.run(['policy', 'remove', ...args])
    assert.equal(removed.code, 0, removed.stderr)
  }
  assert.equal((await talk.run(['policy', 'list'])).stdout, '')
})
