import assert from 'node:assert/strict'
import { test } from 'node:test'
import { droppedMessages, effectiveLines } from '../../../src/core/storage/effective-lines.ts'
import type { NewLine, SessionLine } from '../../../src/core/storage/types.ts'

const say = (role: 'user' | 'assistant', content: string): NewLine => ({ kind: 'entry', role, content })
const rewind = (to: number): NewLine => ({ kind: 'event', event: 'rewound', to, messages: 0 })
const compact = (name: string, from?: number): NewLine => {
  const marker = { archive_name: name, archived_at: '', title: '' }
  return { kind: 'compact', ...marker, ...(from !== undefined && { from }) }
}

function number(lines: readonly NewLine[]): SessionLine[] {
  return lines.map((line, at) => ({ ...line, seq: at + 1, ts: '' }))
}

function keptOf(lines: readonly NewLine[]): number[] {
  return effectiveLines(number(lines)).map(({ seq }) => seq)
}

test('effectiveLines() drops the messages from where the conversation went back to, again and again', () => {
  const talk = [say('user', '1'), say('assistant', '2'), say('user', '3'), say('assistant', '4'), rewind(3)]
  assert.deepEqual(keptOf(talk), [1, 2])
  assert.deepEqual(keptOf([...talk, say('user', '6'), say('assistant', '7')]), [1, 2, 6, 7])
  assert.deepEqual(keptOf([...talk, say('user', '6'), rewind(1), say('user', '8')]), [8])
})

test('effectiveLines() keeps titles, permissions and selected tools of what was dropped', () => {
  const lines: NewLine[] = [
    say('user', '1'),
    { kind: 'meta', title: 'T' },
    { kind: 'event', event: 'tools_used', tools: ['a'] },
    {
      ...{ kind: 'event', event: 'permission', call_id: 'c', name: 'bash', effect: 'allow', by: 'person' },
      ...{ reason: '', grant: 'session', rules: ['bash(ls)'] },
    } as NewLine,
    { kind: 'event', event: 'user_steered', content: 'x' },
    rewind(1),
  ]
  assert.deepEqual(keptOf(lines), [2, 3, 4])
})

test('effectiveLines() restores what a compaction had replaced when the rewind goes behind it', () => {
  const early = [say('user', '1'), say('user', '2'), compact('a'), say('user', '4')]
  assert.deepEqual(keptOf([...early, rewind(4)]), [1, 2, 3])
  assert.deepEqual(keptOf([...early, rewind(2)]), [1])
  const replaced = [say('user', '1'), say('user', '2'), compact('a', 2), say('user', '4')]
  assert.deepEqual(keptOf([...replaced, rewind(2)]), [1, 3], 'the summary has nothing of message 2')
})

test('effectiveLines() leaves out the last compaction of that name when it was undone', () => {
  const undone: NewLine = { kind: 'event', event: 'compaction_undone', archive_name: 'a' }
  assert.deepEqual(keptOf([say('user', '1'), compact('a'), undone, say('user', '4')]), [1, 4])
  assert.deepEqual(keptOf([compact('a'), compact('b'), undone]), [2])
})

test('droppedMessages() names messages only', () => {
  const lines = number([say('user', '1'), compact('a'), say('user', '3'), say('assistant', '4'), rewind(3)])
  assert.deepEqual([...droppedMessages(lines)], [3, 4])
  assert.equal(droppedMessages(lines.slice(0, 4)).size, 0)
})
