import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { buildReviewTask } from '../../../src/core/base/task-texts.ts'
import { wrapShellLine } from '../../../src/core/base/typed-message.ts'
import { conversationHtml } from '../../../src/core/protocol/conversation-html.ts'
import { conversationMarkdown } from '../../../src/core/protocol/conversation-markdown.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/copy takes the last answer, or an earlier one, and skips steps without text', async () => {
  const call = { call: 'a', name: 'read', args: '{"path":"none"}' }
  await using node = await startTestDispatch([
    { parts: ['first *one*'] },
    { parts: [call] },
    { parts: ['second'] },
  ])
  const early = await openChatAfter(node, ['one'])
  await runSlash('/copy 2', early.context, NEVER)
  assert.match(JSON.stringify(early.blocks()), /There is only 1 answer"/)
  const chat = await openChatAfter(node, ['two'])
  await runSlash('/copy', chat.context, NEVER)
  await runSlash('/copy 2', chat.context, NEVER)
  assert.deepEqual(chat.done, ['copy second', 'copy first *one*'])
  assert.match(JSON.stringify(chat.blocks()), /"tone":"success","text":"copied"/)
  await runSlash('/copy 3', chat.context, NEVER)
  await runSlash('/copy x', chat.context, NEVER)
  assert.match(
    JSON.stringify(chat.blocks()),
    /There are only 2 answers.*Cannot copy x: it is not a whole number from 1/,
  )
})

test('/copy finds an answer behind more messages than one page holds', async () => {
  await using node = await startTestDispatch((_, index) => ({ parts: [index === 0 ? 'the first' : 'later'] }))
  const chat = await openChatAfter(
    node,
    Array.from({ length: 40 }, (_, at) => `message ${at}`),
  )
  await runSlash('/copy 40', chat.context, NEVER)
  assert.deepEqual(chat.done, ['copy the first'])
})

test('/export writes all messages as Markdown under a generated or given name', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['So it is.'] }))
  const chat = await openChatAfter(node, ['hello there'], 'Crabs & owls!')
  await runSlash('/export', chat.context, NEVER)
  await runSlash('/export', chat.context, NEVER)
  await runSlash('/export notes/a b.md', chat.context, NEVER)
  assert.deepEqual(
    [...chat.files.keys()],
    ['crabs-owls-2026-01-02.md', 'crabs-owls-2026-01-02-2.md', 'notes/a b.md'],
  )
  assert.match(chat.files.get('notes/a b.md')!, /\n## You\n\nhello there\n\n## crab\n\nSo it is\.\n$/)
  assert.match(JSON.stringify(chat.blocks().at(-1)), /Written to \/work\/notes\/a b\.md/)
  await assert.rejects(
    runSlash('/export notes/a b.md', chat.context, NEVER),
    (reason) => reason instanceof CrabError && reason.kind === 'conflict',
  )
})

test('/export and /copy say when there is nothing yet', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/export', chat.context, NEVER)
  await runSlash('/copy', chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map((block) => block.kind),
    ['notice', 'notice'],
  )
  assert.equal(chat.files.size, 0)
})

const NAMES: Readonly<Record<string, string>> = {
  '': 'conversation-2026-01-02',
  '../../etc/passwd': 'etc-passwd-2026-01-02',
  'Über 日本語': 'über-日本語-2026-01-02',
  '\u001b]0;x\u0007': '0-x-2026-01-02',
}

test('/export derives a name from the title, in any script, and drops everything else', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['So it is.'] }))
  await node.ask('hello')
  for (const [title, name] of Object.entries(NAMES)) {
    const chat = await openChatAfter(node, [], title)
    await runSlash('/export', chat.context, NEVER)
    assert.deepEqual([...chat.files.keys()], [`${name}.md`])
  }
})

async function openChatAfter(
  node: Awaited<ReturnType<typeof startTestDispatch>>,
  messages: readonly string[],
  title = '',
) {
  for (const message of messages) await node.ask(message)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const chat = createSlashChat(node.dispatch)
  chat.openSession(conversations[0]!.filePath, title)
  return chat
}

test('exports show what was typed, with the output of shell lines', async () => {
  await using node = await startTestDispatch([])
  const shell = wrapShellLine({ line: 'ls', exitCode: 0, output: 'CLAUDE.md' })
  await node.ask(`${shell}\n\nwith <shell>`)
  await node.ask(buildReviewTask('working-tree'))
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const { filePath, preview } = conversations[0]!
  assert.equal(preview, 'with <shell>')
  const markdown = (await Array.fromAsync(conversationMarkdown(node.dispatch, filePath, NEVER))).join('')
  assert.match(markdown, /## You\n\n```\n! ls\nCLAUDE\.md\n```\n\nwith <shell>\n/)
  assert.match(markdown, /## You\n\n\/review\n/)
  const html = (await Array.fromAsync(conversationHtml(node.dispatch, filePath, NEVER))).join('')
  assert.match(html, /<summary>! ls<\/summary><pre><code>CLAUDE\.md<\/code>/)
  assert.match(html, /<section class="user">with &lt;shell&gt;<\/section>/)
  assert.match(html, /<section class="user">\/review<\/section>/)
})
