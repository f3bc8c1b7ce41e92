import assert from 'node:assert/strict'
import { access, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FileChange, type RewindResult } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { outcomeWord } from '../../src/core/protocol/undo-words.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { Reply } from '../support/model-server.ts'
import { findEvent, nodeOptions, startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { toSentLines } from '../support/test-node.ts'

const NEVER = new AbortController().signal
const ALLOWED = { options: { allow: ['edit(~/**)', 'edit(/**)', 'bash(touch *)'] } }

test('rewind drops the messages from one of yours on, for the model only', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  for (const text of ['one', 'two', 'three']) await node.ask(text)
  const session = await onlySession(node)
  const [three, two] = (await rewind(node, { to: 0 })).points
  assert.deepEqual([three?.content, two?.content], ['three', 'two'])
  const result = await rewind(node, { to: two!.seq })
  assert.deepEqual([result.messages, result.content, result.files], [4, 'two', []])
  await node.ask('other')
  assert.deepEqual(toSentLines(node.server.requests.at(-1)), ['user: one', 'assistant: yes', 'user: other'])
  const { messages, total } = await request(node.dispatch, 'listMessages', { session }, NEVER)
  assert.equal(total, 8)
  assert.deepEqual(
    messages.map(({ content, dropped }) => `${content}${dropped ? ' -' : ''}`),
    ['one', 'yes', 'two -', 'yes -', 'three -', 'yes -', 'other', 'yes'],
  )
  const { messageCount } = await request(node.dispatch, 'getSession', { session }, NEVER)
  assert.equal(messageCount, 4)
  await using later = compose(nodeOptions(node.home)) // it reads the whole file
  const message = { agent: 'crab', sender: 'ann', content: 'more' }
  await request(route(handlers(later, 'process')), 'send', message, NEVER)
  assert.deepEqual(toSentLines(node.server.requests.at(-1)).slice(0, 3), [
    'user: one',
    'assistant: yes',
    'user: other',
  ])
})

test('rewind with files restores them to before that message, and the model learns nothing of it', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1\n' }]),
    ...steps(['read', { path: 'a' }], ['write', { path: 'a', content: '2\n' }]),
    ...steps(
      ['write', { path: 'b', content: 'new\n' }],
      ['read', { path: 'a' }],
      ['write', { path: 'a', content: '3\n' }],
    ),
    ...steps(),
  ])
  for (const text of ['one', 'two', 'three']) await act(node, text)
  const { points } = await rewind(node, { to: 0 })
  assert.deepEqual(
    points.map(({ content, files }) => `${content} ${files}`),
    ['three 2', 'two 2', 'one 2'],
  )
  const to = points[1]!.seq
  const planned = await rewind(node, { to, files: true, dryRun: true })
  assert.deepEqual(words(planned), ['restored a', 'removed b'])
  assert.equal(await text(node, 'a'), '3\n')
  assert.deepEqual(words(await rewind(node, { to, files: true })), ['restored a', 'removed b'])
  assert.equal(await text(node, 'a'), '1\n')
  await assert.rejects(access(join(node.home.paths.home, 'b')), { code: 'ENOENT' })
  await act(node, 'two again')
  const sent = toSentLines(node.server.requests.at(-1))
  assert.equal(
    sent.some((line) => line.includes('taken back')),
    false,
  )
  assert.equal(sent.at(-1), 'user: two again')
})

test('rewind of the files alone keeps the messages and tells the model', async () => {
  await using node = await startTestDispatch([...steps(['write', { path: 'a', content: '1' }]), ...steps()])
  await act(node, 'one')
  const { points } = await rewind(node, { to: 0 })
  const { messages, files } = await rewind(node, { to: points[0]!.seq, files: true, keepMessages: true })
  assert.deepEqual([messages, files.length], [0, 1])
  await act(node, 'two')
  assert.match(toSentLines(node.server.requests.at(-1)).at(-1)!, /taken back.*Deleted again/s)
})

test('rewind keeps a file that something else changed between the turns, and says so', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1' }]),
    ...steps(['read', { path: 'a' }], ['write', { path: 'a', content: '3' }]),
  ])
  await act(node, 'one')
  await writeFile(join(node.home.paths.home, 'a'), 'mine')
  await act(node, 'two')
  const { points } = await rewind(node, { to: 0 })
  const { files } = await rewind(node, { to: points[1]!.seq, files: true })
  assert.deepEqual(
    files.map(({ reason }) => reason),
    ['something else also changed it during the turn'],
  )
  assert.equal(await text(node, 'a'), '3')
})

test('rewind refuses a line that is not a message of the user, or is dropped already', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  for (const text of ['one', 'two']) await node.ask(text)
  const { points } = await rewind(node, { to: 0 })
  await rewind(node, { to: points[0]!.seq })
  for (const to of [points[0]!.seq, points[1]!.seq + 1, 99]) {
    await assert.rejects(rewind(node, { to }), { kind: 'invalid', message: /is not a message of yours/ })
  }
})

test('rewind before the first message leaves an empty conversation, named after the next one', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['yes'] }))
  await node.ask('one')
  const { points } = await rewind(node, { to: 0 })
  await rewind(node, { to: points[0]!.seq })
  await node.ask('better')
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  assert.deepEqual([conversations[0]?.preview, conversations[0]?.messageCount], ['better', 2])
})

test('rewind is refused while a turn runs', async () => {
  await using node = await startTestDispatch([{ parts: ['yes'] }, { parts: ['x'], end: 'hang' }])
  await node.ask('one')
  const { points } = await rewind(node, { to: 0 })
  const stop = new AbortController()
  const turn = node.ask('two', {}, stop.signal).catch(() => undefined)
  while (node.server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(rewind(node, { to: points[0]!.seq }), { kind: 'conflict' })
  stop.abort()
  await turn
})

test('session_diff compares with what each file was first, and names what it cannot know', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: 'one\ntwo\n' }], ['write', { path: 'gone', content: 'x\n' }]),
    ...steps(['read', { path: 'a' }], ['write', { path: 'a', content: 'one\n2\n' }]),
    ...steps(['bash', { command: 'touch made' }], ['bash', { command: 'ls' }]),
  ])
  await writeFile(join(node.home.paths.home, 'a'), '')
  for (const text of ['one', 'two', 'three']) await act(node, text)
  await writeFile(join(node.home.paths.home, 'gone'), 'x\ny\n')
  const session = await onlySession(node)
  const { files, untracked } = await request(node.dispatch, 'sessionDiff', { session }, NEVER)
  assert.deepEqual(
    files.map(({ path, change, added, removed }) => [path.split('/').at(-1), change, added, removed]),
    [
      ['a', FileChange.MODIFIED, 2, 0],
      ['gone', FileChange.CREATED, 2, 0],
    ],
  )
  assert.match(files[0]!.diff, /^\+one\n\+2$/m)
  assert.deepEqual(untracked, ['bash: touch made'])
  const stat = await request(node.dispatch, 'sessionDiff', { session, stat: true }, NEVER)
  assert.deepEqual([stat.files[0]?.diff, stat.files[0]?.added], ['', 2])
})

function steps(...calls: readonly (readonly [name: string, args: object])[]): Reply[] {
  const replies = calls.map(([name, args], at): Reply => {
    return { parts: [{ call: `c${at}${Math.random()}`, name, args: JSON.stringify(args) }] }
  })
  return [...replies, { parts: ['done'] }]
}

async function act(node: TestDispatch, content: string): Promise<void> {
  const events = await node.ask(content, ALLOWED)
  assert.equal(findEvent(events, 'end').value.error, '')
}

async function rewind(node: TestDispatch, more: object): Promise<RewindResult> {
  return await request(node.dispatch, 'rewind', { session: await onlySession(node), ...more }, NEVER)
}

function words({ files }: RewindResult): string[] {
  return files.map(({ path, outcome }) => `${outcomeWord(outcome)} ${path.split('/').at(-1)}`)
}

async function onlySession({ dispatch }: TestDispatch): Promise<string> {
  const { conversations } = await request(dispatch, 'listConversations', {}, NEVER)
  return conversations[0]!.filePath
}

async function text({ home }: TestDispatch, name: string): Promise<string> {
  return await readFile(join(home.paths.home, name), 'utf8')
}
