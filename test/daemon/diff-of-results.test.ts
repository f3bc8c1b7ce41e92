import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ApprovalMode, OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { renderTool } from '../../src/tui/view/tool/render.ts'
import { after, busyState, finishedBlocks } from '../support/chat-state.ts'
import { startTestDispatch, type WireEvent } from '../support/test-dispatch.ts'
import { makeView } from '../tui/view/support.ts'

const NEVER = new AbortController().signal
const TEXT = Array.from({ length: 12 }, (_, i) => `line ${i + 1}\n`).join('')
const CHANGED = TEXT.replace('line 6', 'six')

test('the chat shows the same diff of a change that ran without a question as of one that was asked about', async () => {
  const changes = [
    { name: 'edit', args: { edits: [{ old: 'line 6', new: 'six' }] } },
    { name: 'edit', args: { old: 'line 6', new: 'six' } },
    { name: 'write', args: { content: CHANGED } },
  ]
  for (const change of changes) {
    const silent = await run(change, ApprovalMode.EDITS)
    const onCard = await run(change, ApprovalMode.ASK)
    assert.match(silent.results[0] ?? '', /^@@ -3,7 \+3,7 @@\n line 3\n/m)
    assert.deepEqual([silent.questions, silent.results], [[], onCard.questions])
    assert.deepEqual(onCard.results, [undefined])
    assert.deepEqual(silent.shown, onCard.shown)
    assert.deepEqual(silent.shown.slice(1, 6), [
      '  3   line 3',
      '  4   line 4',
      '  5   line 5',
      '  6 - line 6',
      '  6 + six',
    ])
  }
})

test('the diff of a call that was changed on its card is that of what ran', async () => {
  const args = { edits: [{ old: 'line 2', new: 'two' }] }
  const { results, shown } = await run({ name: 'edit', args }, ApprovalMode.ASK, {
    path: 'notes.txt',
    old: 'line 6',
    new: 'six',
  })
  assert.match(results[0] ?? '', /^-line 6\n\+six$/m)
  assert.match(shown.join('\n'), / 6 - line 6\n +6 \+ six\n/)
})

test('a change that fails, or changes nothing, has no diff', async () => {
  const lost = { name: 'edit', args: { edits: [{ old: 'none', new: 'x' }] } }
  const same = { name: 'write', args: { content: TEXT } }
  for (const change of [lost, same]) {
    assert.deepEqual((await run(change, ApprovalMode.EDITS)).results, [undefined])
  }
})

/** Has notes.txt read and then changed: returns the diffs of questions and results, and what the chat shows. */
async function run(change: { name: string; args: object }, mode: ApprovalMode, edited?: object) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-diff-'))
  await writeFile(join(folder.path, 'notes.txt'), TEXT)
  const args = JSON.stringify({ path: 'notes.txt', ...change.args })
  await using node = await startTestDispatch([
    { parts: [{ call: 'read', name: 'read', args: '{"path":"notes.txt"}' }] },
    { parts: [{ call: 'change', name: change.name, args }] },
    { parts: ['Done.'] },
  ])
  const target = { agent: 'crab', sender: 'ann' }
  const message = { ...target, content: 'go', cwd: folder.path, options: { mode, onAsk: OnAsk.CLIENT } }
  const events: WireEvent[] = []
  for await (const { event } of streamTurn(node.dispatch, message, NEVER)) {
    events.push(event!)
    if (event?.$case !== 'askUser') continue
    const { askId, questions } = event.value
    const content = JSON.stringify({ [questions[0]!.question]: 'Allow once' })
    const more = edited ? { arguments: JSON.stringify(edited) } : {}
    await request(node.dispatch, 'replyToAsk', { ...target, askId, content, ...more }, NEVER)
  }
  return {
    questions: events.flatMap((event) => (event.$case === 'askUser' ? [event.value.permission?.diff] : [])),
    results: events.flatMap((event) =>
      event.$case === 'toolResult' && event.value.callId === 'change' ? [event.value.diff] : [],
    ),
    shown: renderChange(events),
  }
}

/** Renders the change as the chat does once the turn is over. */
function renderChange(events: readonly WireEvent[]): string[] {
  const blocks = finishedBlocks(after(busyState(), events))
  const tools = blocks.flatMap((block) => (block.kind === 'tool' ? [block.tool] : []))
  const change = tools.find(({ callId }) => callId === 'change')!
  return renderTool({ ...change, durationMs: 0 }, makeView({ columns: 60 }))
}
