import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, realpath, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ApprovalMode, PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, route } from '../../src/core/protocol/dispatch.ts'
import { runSlash } from '../../src/tui/slash/run.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'
import { createSlashChat } from '../tui/slash/slash-chat.ts'

const NEVER = new AbortController().signal

test('files in an added directory count as files in the working directory, for the turn that adds it', async () => {
  await using other = await mkdtempDisposable(join(tmpdir(), 'crab-root-'))
  const write = (name: string) => {
    const args = JSON.stringify({ path: join(other.path, name), content: 'hi' })
    return { parts: [{ call: name, name: 'write', args }] }
  }
  const protectedFile = write('.envrc')
  await using node = await startTestDispatch([
    write('a.txt'),
    protectedFile,
    { parts: ['Done.'] },
    write('b.txt'),
    { parts: ['Done.'] },
  ])
  const options = { mode: ApprovalMode.EDITS }
  await node.ask('write', { options: { ...options, roots: [other.path] } })
  assert.equal(await readFile(join(other.path, 'a.txt'), 'utf8'), 'hi')
  assert.match(node.server.requests[0]!.text, /additional directories: /)
  await assert.rejects(readFile(join(other.path, '.envrc')), { code: 'ENOENT' })
  await node.ask('write', { options })
  await assert.rejects(readFile(join(other.path, 'b.txt')), { code: 'ENOENT' })
  await assert.rejects(node.ask('hi', { options: { roots: [join(other.path, 'none')] } }), {
    kind: 'invalid',
  })
  await assert.rejects(node.ask('hi', { options: { roots: ['relative'] } }), { kind: 'invalid' })
  await assert.rejects(node.ask('hi', { sender: 'telegram:7', options: { roots: [other.path] } }), {
    kind: 'denied',
  })
})

test('commands that only read run in an added directory, and the policy is explained with it', async () => {
  await using other = await mkdtempDisposable(join(tmpdir(), 'crab-root-'))
  const root = await realpath(other.path)
  await writeFile(join(root, 'a.txt'), 'the text of a')
  const command = `cd ${root} && cat a.txt`
  const call = (id: string) => ({ parts: [{ call: id, name: 'bash', args: JSON.stringify({ command }) }] })
  await using node = await startTestDispatch([
    call('a'),
    { parts: ['Done.'] },
    call('b'),
    { parts: ['Done.'] },
  ])
  await node.ask('read', { options: { roots: [root] } })
  assert.match(node.server.requests[1]!.text, /the text of a/)
  await node.ask('read')
  assert.match(node.server.requests[3]!.text, /outside the working directory/)
  const explain = (roots: string[]) => {
    const message = {
      agent: 'crab',
      sender: 'ann',
      tool: 'bash',
      arguments: JSON.stringify({ command }),
      roots,
    }
    return request(node.dispatch, 'policyExplain', message, NEVER)
  }
  assert.equal((await explain([root])).effect, PolicyEffect.ALLOW)
  assert.equal((await explain([])).effect, PolicyEffect.ASK)
  await assert.rejects(explain(['relative']), { kind: 'invalid' })
  const chat = createSlashChat(node.dispatch)
  chat.context.act({ type: 'set', change: { roots: [root] } })
  await runSlash(`/permissions bash(${command})`, chat.context, NEVER)
  assert.match(JSON.stringify([chat.blocks(), chat.state().overlay]), /cd only reads in/)
})

test('/add-dir adds what the shell finds from the working directory, and lists what was added', async () => {
  const chat = createSlashChat(route({}))
  const seen: string[] = []
  const runShell = async (line: string) => {
    seen.push(line)
    return line.includes('nowhere') ? { output: '', exitCode: 1 } : { output: '/real/lib\n', exitCode: 0 }
  }
  const context = { ...chat.context, ports: { ...chat.context.ports, runShell } }
  for (const line of ['/add-dir', '/add-dir ../my lib', '/add-dir ~/lib', '/add-dir nowhere', '/add-dir'])
    await runSlash(line, context, NEVER)
  assert.deepEqual(chat.state().roots, ['/real/lib'])
  assert.deepEqual(seen, ["cd -- '../my lib' && pwd -P", 'cd -- ~/lib && pwd -P', 'cd -- nowhere && pwd -P'])
  const texts = chat.blocks().map((block) => (block.kind === 'notice' ? block.text : ''))
  assert.deepEqual(texts, [
    'No added directories',
    'Added /real/lib',
    'Added /real/lib',
    'Cannot add nowhere: it is not a directory',
    'Added: /real/lib',
  ])
})

test('/status names the instruction files of the conversation', async () => {
  await using other = await mkdtempDisposable(join(tmpdir(), 'crab-status-'))
  await writeFile(join(other.path, 'CLAUDE.md'), 'Use tabs.')
  await using node = await startTestDispatch(() => ({ parts: ['Hi.'] }))
  await node.ask('hello', { cwd: other.path })
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const chat = createSlashChat(node.dispatch)
  chat.openSession(conversations[0]!.filePath)
  const context = { ...chat.context, ports: { ...chat.context.ports, cwd: other.path } }
  await runSlash('/status', context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /"instructions","[^"]*CLAUDE\.md"/)
})

test('set_session_cwd changes where later turns work, and refuses senders that are not local', async () => {
  await using other = await mkdtempDisposable(join(tmpdir(), 'crab-cd-'))
  await using node = await startTestDispatch(() => ({ parts: ['Hi.'] }))
  await node.ask('hello')
  await node.ask('hello', { sender: 'telegram:7' })
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const find = (sender: string) => conversations.find((one) => one.sender === sender)!.filePath
  const set = (sender: string, cwd: string) =>
    request(node.dispatch, 'setSessionCwd', { session: find(sender), cwd }, NEVER)
  assert.equal((await set('ann', other.path)).cwd, other.path)
  await node.ask('and here?')
  assert.ok(node.server.requests.at(-1)!.text.includes(`cwd: ${other.path}`))
  const listed = await request(node.dispatch, 'listConversations', { sender: 'ann' }, NEVER)
  assert.equal(listed.conversations[0]!.cwd, other.path)
  await assert.rejects(set('telegram:7', other.path), { kind: 'denied' })
  await assert.rejects(set('ann', join(other.path, 'none')), { kind: 'missing' })
  await assert.rejects(set('ann', 'relative'), { kind: 'invalid' })
})
