import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildReviewTask } from '../../../src/core/base/task-texts.ts'
import { wrapShellLine } from '../../../src/core/base/typed-message.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import type { Block } from '../../../src/tui/view/blocks.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { toSentLines } from '../../support/test-node.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const ALLOWED = { options: { allow: ['edit(~/**)', 'edit(/**)'] } }
const WRITE = { call: 'c', name: 'write', args: JSON.stringify({ path: 'a', content: 'one\n' }) }

test('/rewind lists your messages, newest first, with the files changed since', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/rewind', chat.context, NEVER)
  assert.deepEqual(pickerRows(chat), [
    ['second: change a', 'now · 1 file changed since'],
    ['first', 'now · 1 file changed since'],
  ])
})

test('/rewind goes back with the files, and puts the message into the composer', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/rewind', chat.context, NEVER)
  await choose(chat, 0)
  assert.deepEqual(
    pickerRows(chat).map(([label]) => label),
    ['Conversation and files', 'Conversation only', 'Files only', 'Fork here'],
  )
  await choose(chat, 0)
  const block = chat.blocks().at(-1)
  assert.ok(block?.kind === 'output')
  assert.equal(block.title, 'Went back · 1 file')
  assert.deepEqual(block.rows?.[0]?.[0], 'removed')
  assert.equal(chat.state().prompt.text, 'second: change a')
  await assert.rejects(readFile(join(node.home.paths.home, 'a')), { code: 'ENOENT' })
  await node.ask('again')
  assert.equal(toSentLines(node.server.requests.at(-1)).at(-1), 'user: again')
})

test('/rewind restores only the files, and says so', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/rewind', chat.context, NEVER)
  await choose(chat, 1)
  await choose(chat, 2)
  const block = chat.blocks().at(-1)
  assert.ok(block?.kind === 'output')
  assert.equal(block.title, 'Files restored · 1 file')
  assert.equal(chat.state().prompt.text, '')
})

test('/rewind forks where you choose, and leaves the conversation as it is', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/rewind', chat.context, NEVER)
  await choose(chat, 0)
  await choose(chat, 3)
  const [opened = ''] = chat.done
  const copy = opened.replace('open ', '')
  const { messageCount } = await request(node.dispatch, 'getSession', { session: copy }, NEVER)
  assert.equal(messageCount, 2)
  assert.equal(chat.state().prompt.text, 'second: change a')
})

test('/rewind forks at the first message: the copy is empty, and has the model that was chosen', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  const { session = '' } = chat.state()
  await request(node.dispatch, 'setSessionModel', { session, model: 'scripted' }, NEVER)
  await runSlash('/rewind', chat.context, NEVER)
  await choose(chat, 1)
  await choose(chat, 3)
  const copy = chat.done[0]!.replace('open ', '')
  const { messageCount, forkedFrom } = await request(node.dispatch, 'getSession', { session: copy }, NEVER)
  assert.deepEqual([messageCount, forkedFrom], [0, session])
  assert.equal(chat.state().prompt.text, 'first')
  const { messageCount: kept } = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.ok(kept > 2)
})

test('/rewind lists and puts back what was typed; the output of shell lines is sent again', async () => {
  await using node = await startTestDispatch([])
  const shell = wrapShellLine({ line: 'ls', exitCode: 0, output: 'CLAUDE.md' })
  await node.ask(`${shell}\n\nwith shell @a.txt\n\n<file path="a.txt">\nA\n</file>`)
  await node.ask(buildReviewTask({ kind: 'words', words: 'the parser' }))
  const chat = await openOn(node)
  await runSlash('/rewind', chat.context, NEVER)
  assert.deepEqual(
    pickerRows(chat).map(([label]) => label),
    ['/review the parser', 'with shell @a.txt'],
  )
  await choose(chat, 0)
  assert.ok(chat.state().overlay?.kind === 'picker')
  assert.match(JSON.stringify(chat.state().overlay), /Go back to \\"\/review the parser\\"/)
  await runSlash('/rewind', chat.context, NEVER)
  await choose(chat, 1)
  await choose(chat, 0)
  assert.equal(chat.state().prompt.text, 'with shell @a.txt')
  assert.deepEqual(chat.done, [`context ${shell}`])
})

test('/rewind and /fork have nothing to do in an empty conversation', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  for (const line of ['/rewind', '/fork', '/diff', '/context']) await runSlash(line, chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map(({ kind }) => kind),
    ['notice', 'notice', 'notice', 'notice'],
  )
})

test('/fork continues in a copy with a title', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/fork other way', chat.context, NEVER)
  const [opened = ''] = chat.done
  const session = opened.replace('open ', '')
  const { title, forkedFrom } = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.deepEqual([title, forkedFrom], ['other way', chat.state().session])
})

test('/diff shows the files of the conversation in the viewer', async () => {
  await using node = await startChanged()
  const chat = await openOn(node)
  await runSlash('/diff', chat.context, NEVER)
  assert.deepEqual(chat.done, ['show Changes of this conversation'])
})

test('/context breaks the next request down, and says what would make room', async () => {
  const read = { call: 'c', name: 'read', args: '{"path":"big.txt"}' }
  await using node = await startTestDispatch([
    { parts: [read] },
    { parts: ['yes'.repeat(2000)], usage: { input: 30_000, output: 0 } },
  ])
  await node.home.write('big.txt', 'many words\n'.repeat(1500))
  const provider = `name = "p"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"`
  const models = 'models = [{ name = "scripted", context = 100000 }]'
  await node.home.write('config.toml', `model = "scripted"\n[[providers]]\n${provider}\n${models}\n`)
  await node.home.write('Crab.md', 'Always count twice. '.repeat(500))
  await node.ask('hello', { cwd: node.home.paths.home })
  const chat = await openOn(node)
  await runSlash('/context', chat.context, NEVER)
  const block = chat.blocks().find(({ kind }) => kind === 'output') as Extract<Block, { kind: 'output' }>
  assert.equal(block.title, 'Context of scripted · 30k of 100k · 30 %')
  const rows = block.rows!.map(([, , what]) => what ?? '')
  assert.ok(rows.some((row) => row.startsWith('instructions') && row.endsWith('Crab.md')))
  assert.ok(rows.some((row) => /^built-in tools · \d+$/.test(row)))
  assert.ok(rows.includes('memory · its tools'))
  assert.deepEqual(rows.slice(-4), ['you · 1 message', 'agent · 2 messages', 'tool results · 1', 'free'])
  const sizes = block.rows!.map(([, size = '']) =>
    Math.round(Number(size.replace(/^<0.1k/, '0').replace('k', '')) * 10),
  )
  assert.deepEqual([sizes.slice(0, -1).reduce((sum, size) => sum + size, 0), sizes.at(-1)], [300, 700])
  const bars = block.rows!.map(([bar = '']) => bar)
  assert.deepEqual([new Set(bars.map(({ length }) => length)), bars.at(-1)], [new Set([10]), '━━━━━━━╌╌╌'])
  const advice = JSON.stringify(chat.blocks().filter(({ kind }) => kind === 'notice'))
  assert.match(advice, /1 tool result holds [\d.]+k tokens: \/compact summarizes them/)
  assert.match(advice, /Crab\.md takes [\d.]+k tokens of every request/)
})

test('/context counts what the memory returned as memory', async () => {
  const recall = { call: 'c', name: 'recall', args: '{"query":"port"}' }
  await using node = await startTestDispatch([{ parts: [recall] }, { parts: ['5433'] }])
  await node.ask('which port?')
  const chat = await openOn(node)
  await runSlash('/context', chat.context, NEVER)
  const block = chat.blocks().find(({ kind }) => kind === 'output') as Extract<Block, { kind: 'output' }>
  const rows = block.rows!.map(([, , what]) => what ?? '')
  assert.ok(rows.includes('memory · its tools, 1 result'), rows.join())
  assert.ok(!rows.some((row) => row.startsWith('tool results')))
})

/** A conversation of two turns, the second of which wrote a file. */
async function startChanged(): Promise<TestDispatch> {
  const replies = [{ parts: ['yes'] }, { parts: [WRITE] }, { parts: ['done'] }, { parts: ['ok'] }]
  const node = await startTestDispatch(replies)
  await node.ask('first', ALLOWED)
  await node.ask('second: change a', ALLOWED)
  return node
}

async function openOn(node: TestDispatch): Promise<SlashChat> {
  const chat = createSlashChat(node.dispatch)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  chat.openSession(conversations[0]!.filePath)
  return chat
}

function pickerRows(chat: SlashChat): string[][] {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  return overlay.items.map(({ label, detail }) => [label, detail])
}

async function choose(chat: SlashChat, at: number): Promise<void> {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'picker')
  const { picker, items } = overlay
  await onChosen({ type: 'chosen', picker, value: items[at]!.value }, chat.context, NEVER)
}
