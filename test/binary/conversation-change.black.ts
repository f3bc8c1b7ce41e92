import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Reply } from '../support/model-server.ts'
import { assertFailed, makeTalk, type Talk } from '../support/talk.ts'
import { toSentLines } from '../support/test-node.ts'

const SUMMARY = 'They count crabs. More follows.'

test('conversation rename and fork name and copy a conversation', async () => {
  await using talk = await makeTalk([{ parts: ['yes'] }, { parts: ['no'] }])
  for (const text of ['one', 'two']) assert.equal((await talk.send(['-s', 'me', text])).code, 0)
  const renamed = await talk.run(['conversation', 'rename', 'crab/me', 'Crabs', 'and', 'owls'])
  assert.match(renamed.stdout, /^renamed [0-9A-Z]{8} to "Crabs and owls"\n$/)
  const points = await talk.run(['conversation', 'rewind', '--json'])
  const [{ seq }] = JSON.parse(points.stdout)
  const forked = await talk.run(['conversation', 'fork', '--at', String(seq), '--title', 'Copy', '--json'])
  const copy = JSON.parse(forked.stdout)
  assert.deepEqual([copy.agent, copy.messages], ['crab', 2])
  const { stdout } = await talk.run(['conversation', 'show', copy.id])
  assert.match(stdout, /^# Copy\n[\s\S]*## You\n\none\n[\s\S]*yes\n$/)
  const first = JSON.parse(points.stdout).at(-1).seq
  const empty = await talk.run(['conversation', 'fork', 'crab/me', '--at', String(first), '--json'])
  assert.equal(JSON.parse(empty.stdout).messages, 0)
  assertFailed(await talk.run(['conversation', 'fork', '--at', 'x']), 'usage', { message: /--at x/ })
})

test('conversation compact replaces the history, and --undo brings it back', async () => {
  await using talk = await makeTalk([{ parts: ['yes'] }, { parts: [SUMMARY] }, { parts: ['ok'] }])
  await talk.send(['-s', 'me', 'count crabs'])
  const { stdout, code } = await talk.run(['conversation', 'compact'])
  assert.match(stdout, /^compacted [0-9A-Z]{8} from about \d+ to \d+ tokens\n$/)
  assert.equal(code, 0)
  const undone = await talk.run(['conversation', 'compact', '--undo'])
  assert.match(undone.stdout, /^undid the compaction of [0-9A-Z]{8}\n$/)
  await talk.send(['-s', 'me', 'go on'])
  assert.deepEqual(toSentLines(talk.server.requests.at(-1)), [
    'user: count crabs',
    'assistant: yes',
    'user: go on',
  ])
  assertFailed(await talk.run(['conversation', 'compact', '--undo']), 'invalid', {
    message: /is not compacted/,
  })
})

test('conversation rewind lists messages, previews and goes back with the files', async () => {
  await using talk = await makeChanged()
  const listed = await talk.run(['conversation', 'rewind'])
  assert.match(listed.stdout, /^TO +SENT +FILES +MESSAGE\n\d+ +\S.* 1 +write it\n1 +\S.* 1 +first\n$/)
  const to = /\n(\d+) /.exec(listed.stdout)![1]!
  const path = join(talk.cwd, 'a')
  const dry = await talk.run(['conversation', 'rewind', '--to', to, '--files', '--dry-run'])
  assert.match(dry.stdout, /^would drop 3 messages of \w+\nremoved {3}\/.*a\n$/)
  assert.equal(await readFile(path, 'utf8'), 'one\n')
  const done = await talk.run(['conversation', 'rewind', '--to', to, '--files'])
  assert.match(done.stdout, /^dropped 3 messages of \w+\nremoved/)
  await assert.rejects(readFile(path), { code: 'ENOENT' })
  const { stdout } = await talk.run(['conversation', 'show'])
  assert.match(stdout, /Went back: the agent no longer sees the messages from here on[\s\S]*write it/)
  assert.equal((await talk.run(['conversation', 'search', 'write'])).code, 0)
  assertFailed(await talk.run(['conversation', 'rewind', '--files']), 'usage', { message: /without --to/ })
  assertFailed(await talk.run(['conversation', 'rewind', '--to', to]), 'invalid', {
    message: /not a message/,
  })
})

test('conversation diff and context print what changed and what fills the window', async () => {
  await using talk = await makeChanged()
  const diff = await talk.run(['conversation', 'diff'])
  assert.match(diff.stdout, /^--- .*\/a\n\+\+\+ .*\/a\n@@ -0,0 \+1,1 @@\n\+one\n$/)
  const stat = await talk.run(['conversation', 'diff', '--stat'])
  assert.match(stat.stdout, /^CHANGE +ADDED +REMOVED +FILE\ncreated +\+1 +-0 +\/.*\/a\n$/)
  const { stdout, stderr } = await talk.run(['conversation', 'context'])
  assert.match(stdout, /^TOKENS +PART +CONTENT\n\d+ +system prompt\n\d+ +built-in tools +\d+\n/)
  assert.match(stderr, /^scripted: \d+ \((estimated|counted by the provider)\)\n$/)
  const view = JSON.parse((await talk.run(['conversation', 'context', '--json'])).stdout)
  assert.equal(view.window, null)
  assert.deepEqual(view.parts.at(-1).part, 'results')
})

test('send --compact-at compacts a conversation that fills the window', async () => {
  const usage = { input: 900, output: 0 }
  const replies: Reply[] = [{ parts: ['yes'], usage }, { parts: [SUMMARY] }, { parts: ['done'], usage }]
  const models = 'models = [{ name = "scripted", context = 1000 }]'
  await using talk = await makeTalk(
    replies,
    (url) =>
      `model = "scripted"\n[[providers]]\nname = "p"\nkind = "openai-compatible"\nbase_url = "${url}"\n${models}\n`,
  )
  await talk.send(['-s', 'me', 'count crabs'])
  const { stdout, stderr } = await talk.send(['-s', 'me', '--compact-at', '85%', 'go on'])
  assert.equal(stdout, 'done\n')
  assert.match(
    stderr,
    /crabtalk: compacting the conversation: about 90\d tokens\ncrabtalk: compacted from about/,
  )
  assertFailed(await talk.send(['--compact-at', '120%', 'x']), 'usage', { message: /--compact-at 120%/ })
})

/** A conversation whose second turn wrote a file. */
async function makeChanged(): Promise<Talk> {
  const args = JSON.stringify({ path: 'a', content: 'one\n' })
  const talk = await makeTalk([
    { parts: ['yes'] },
    { parts: [{ call: 'c', name: 'write', args }] },
    { parts: ['written'] },
  ])
  await talk.send(['-s', 'me', 'first'])
  await talk.send(['-s', 'me', '--yolo', 'write it'])
  return talk
}
