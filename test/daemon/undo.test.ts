import assert from 'node:assert/strict'
import { access, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { TCP_CLIENT } from '../../src/core/policy/trust.ts'
import type { UndoResult } from '../../src/core/protocol/crabtalk.generated.ts'
import { UndoOutcome } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { compose } from '../../src/daemon/compose.ts'
import { handlers } from '../../src/daemon/handlers/handlers.ts'
import type { Reply } from '../support/model-server.ts'
import { findEvent, nodeOptions, startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { requestMessages, toSentLines } from '../support/test-node.ts'

const NEVER = new AbortController().signal
const PAIR = { agent: 'crab', sender: 'ann' }
const ALLOWED = { options: { allow: ['edit(~/**)', 'edit(/**)'] } }
const OUTCOMES = new Map<UndoOutcome, string>([
  [UndoOutcome.RESTORED, 'restored'],
  [UndoOutcome.REMOVED, 'removed'],
  [UndoOutcome.KEPT, 'kept'],
])

test('undo restores the files of one turn after the other, whichever process ran it', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'work/a', content: '1' }]),
    ...steps(['read', { path: 'work/a' }], ['write', { path: 'work/a', content: '2' }]),
    ...steps(),
  ])
  const first = await act(node)
  const second = await act(node)
  await act(node) // changes nothing
  await using other = compose(nodeOptions(node.home))
  const dispatch = route(handlers(other, 'process'))
  assert.deepEqual(await undo(dispatch, { dryRun: true }), { run: second, files: ['restored a'] })
  assert.equal(await text(node, 'a'), '2')
  assert.deepEqual(await undo(dispatch), { run: second, files: ['restored a'] })
  assert.equal(await text(node, 'a'), '1')
  assert.deepEqual(await undo(node.dispatch), { run: first, files: ['removed a'] })
  await assert.rejects(access(join(node.home.paths.home, 'work')), { code: 'ENOENT' })
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
})

test('the model is told with its next message, and must read files again before it edits them', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: 'one' }], ['write', { path: 'new', content: 'x' }]),
    ...steps(['edit', { path: 'a', edits: [{ old: 'two', new: 'three' }] }]),
    ...steps(),
  ])
  const path = join(node.home.paths.home, 'a')
  await writeFile(path, '')
  await act(node)
  await undo(node.dispatch)
  await act(node, 'go on')
  const [home, requests] = [node.home.paths.home, node.server.requests]
  const note = `[The user has taken back changes that you made to files. As they were before: "${home}/a". Deleted again: "${home}/new". Read a file before you change it.]`
  assert.equal(toSentLines(requests[3]).at(-1), `user: ${note}\n\ngo on`)
  const refused = String(requestMessages(requests[4]).at(-1)?.['content'])
  assert.match(refused, /^Cannot edit a: it has changed since you last saw it \(read it again\)$/)
  await using other = compose(nodeOptions(node.home)) // it reads the session again
  await Array.fromAsync(streamTurn(route(handlers(other, 'process')), { ...PAIR, content: 'and' }, NEVER))
  assert.deepEqual(
    toSentLines(requests[5]).filter((said) => said.includes('taken back')),
    [`user: ${note}\n\ngo on`],
  )
})

test('the model is not told when nothing was changed', async () => {
  await using node = await startTestDispatch([...steps(['write', { path: 'a', content: 'one' }]), ...steps()])
  await act(node)
  await writeFile(join(node.home.paths.home, 'a'), 'mine')
  const { files } = await request(node.dispatch, 'undo', PAIR, NEVER)
  assert.deepEqual(
    files.map(({ outcome, reason }) => [outcome, reason]),
    [[UndoOutcome.KEPT, 'it changed after the turn']],
  )
  const { storage } = node.services.stores
  const [session] = await storage.listSessions({})
  const { lines } = await storage.read(session!.id)
  assert.deepEqual(
    lines.flatMap((line) => (line.kind === 'event' ? [line.event] : [])),
    ['permission', 'tool_result', 'done'],
  )
  await act(node, 'go on')
  assert.equal(toSentLines(node.server.requests[2]).at(-1), 'user: go on')
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
})

test('undo is refused while a turn runs, here or in another process, and works once it is cancelled', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: 'one' }]).slice(0, 1),
    { parts: ['thinking'], end: 'hang' },
  ])
  await using other = compose(nodeOptions(node.home))
  const dispatch = route(handlers(other, 'process'))
  const what = /^Cannot undo the conversation's changes to files: a turn is running$/
  for await (const { event } of streamTurn(node.dispatch, { ...PAIR, content: 'go', ...ALLOWED }, NEVER)) {
    if (event?.$case !== 'chunk') continue
    await assert.rejects(undo(node.dispatch), { kind: 'conflict', message: what })
    await assert.rejects(undo(node.dispatch, { dryRun: true }), { kind: 'conflict', message: what })
    await assert.rejects(undo(dispatch), { kind: 'conflict', message: /is running a turn in it$/ })
    break
  }
  assert.equal(await text(node, 'a'), 'one')
  assert.deepEqual((await undo(dispatch)).files, ['removed a'])
})

test('two concurrent undos restore two turns, each once', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1' }]),
    ...steps(['read', { path: 'a' }], ['write', { path: 'a', content: '2' }]),
    ...steps(['read', { path: 'a' }], ['write', { path: 'a', content: '3' }]),
  ])
  const runs = [await act(node), await act(node), await act(node)]
  await using other = compose(nodeOptions(node.home))
  const both = await Promise.all([undo(node.dispatch), undo(route(handlers(other, 'process')))])
  assert.deepEqual(both.map(({ run }) => run).toSorted(), runs.slice(1).toSorted())
  assert.equal(await text(node, 'a'), '1')
})

test('nothing is backed up for a turn that is not stored, or kept for a conversation that is deleted', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1' }]),
    ...steps(['write', { path: 'b', content: '1' }]),
  ])
  const backups = join(node.home.paths.cache, 'undo')
  await act(node, 'go', { ephemeral: true })
  assert.equal(await text(node, 'a'), '1')
  assert.deepEqual(await readdir(backups).catch(() => []), [])
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
  await act(node)
  const [session = ''] = await readdir(backups)
  await request(node.dispatch, 'deleteConversation', { filePath: session }, NEVER)
  assert.deepEqual(await readdir(backups), [])
  assert.equal(await text(node, 'b'), '1')
})

test('file tools cannot open the backups', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1' }]),
    ...steps(['write', { path: 'cache/undo/forged', content: '{}' }], ['read', { path: 'cache/undo' }]),
  ])
  await act(node)
  await act(node)
  const answers = requestMessages(node.server.requests[4]).flatMap(({ role, content }) =>
    role === 'tool' ? [String(content)] : [],
  )
  assert.deepEqual(answers.slice(1), [
    "Cannot write cache/undo/forged: it is one of crabtalk's own files",
    "Cannot read cache/undo: it is one of crabtalk's own files",
  ])
})

test('a new conversation of the pair undoes nothing of the old one', async () => {
  await using node = await startTestDispatch([...steps(['write', { path: 'a', content: '1' }])])
  await act(node)
  await request(node.dispatch, 'newSession', PAIR, NEVER)
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
})

test('a lost cache and an unknown agent are reported, and an untrusted client is refused', async () => {
  await using node = await startTestDispatch([...steps(['write', { path: 'a', content: '1' }])])
  await act(node)
  await rm(node.home.paths.cache, { recursive: true })
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
  await assert.rejects(request(node.dispatch, 'undo', { agent: 'nobody' }, NEVER), { kind: 'missing' })
  const far = route(handlers(node.services, TCP_CLIENT))
  await assert.rejects(request(far, 'undo', PAIR, NEVER), { kind: 'denied' })
})

test('an undo that was interrupted before it forgot its turn is repeated without harm', async () => {
  await using node = await startTestDispatch([
    ...steps(['write', { path: 'a', content: '1' }], ['write', { path: 'b', content: '1' }]),
  ])
  const [backups, copy] = ['undo', 'copy'].map((name) => join(node.home.paths.cache, name)) as [
    string,
    string,
  ]
  const run = await act(node)
  await cp(backups, copy, { recursive: true })
  await undo(node.dispatch)
  await cp(copy, backups, { recursive: true })
  await writeFile(join(node.home.paths.home, 'b'), 'mine')
  assert.deepEqual(await undo(node.dispatch), { run, files: ['removed a', 'kept b'] })
  assert.deepEqual(await undo(node.dispatch), { run: '', files: [] })
  assert.equal(await text(node, 'b'), 'mine')
})

/** Runs a turn in which the model makes these calls, each in a step of its own, and then says `Done.` */
function steps(...calls: readonly (readonly [name: string, args: object])[]): Reply[] {
  const called = calls.map(([name, args], index): Reply => {
    return { parts: [{ call: `c${index}`, name, args: JSON.stringify(args) }] }
  })
  return [...called, { parts: ['Done.'] }]
}

/** Runs a turn that may change files without asking; returns its run id. */
async function act(node: TestDispatch, content = 'go', options: object = {}): Promise<string> {
  const events = await node.ask(content, { options: { ...ALLOWED.options, ...options } })
  assert.equal(findEvent(events, 'end').value.error, '')
  return findEvent(events, 'start').value.runId
}

async function undo(dispatch: Dispatch, more: { dryRun?: boolean } = {}) {
  const { runId, files }: UndoResult = await request(dispatch, 'undo', { ...PAIR, ...more }, NEVER)
  const words = files.map(({ path, outcome }) => `${OUTCOMES.get(outcome)} ${path.split('/').at(-1)}`)
  return { run: runId, files: words }
}

async function text({ home }: TestDispatch, name: string): Promise<string> {
  const path = [join(home.paths.home, name), join(home.paths.home, 'work', name)]
  return await readFile(path[0]!, 'utf8').catch(() => readFile(path[1]!, 'utf8'))
}
