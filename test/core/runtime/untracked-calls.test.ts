import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untrackedCalls } from '../../../src/core/runtime/untracked-calls.ts'
import type { PermissionDecision, SessionLine } from '../../../src/core/storage/types.ts'

/** Returns the lines of permitted calls of bash, each as a rule or the user permitted it. */
function permitted(
  commands: readonly string[],
  more: Partial<PermissionDecision> = { by: 'rule', reason: 'allow bash' },
): SessionLine[] {
  return commands.flatMap((command, at): SessionLine[] => {
    const call = { id: `c${at}`, name: 'bash', arguments: JSON.stringify({ command }) }
    const decision = {
      call_id: call.id,
      name: 'bash',
      effect: 'allow',
      by: 'rule',
      reason: '',
      ...more,
    } as const
    return [
      { seq: 2 * at + 1, ts: '', kind: 'event', event: 'permission', ...decision },
      { seq: 2 * at + 2, ts: '', kind: 'entry', role: 'assistant', content: '', tool_calls: [call] },
    ]
  })
}

test('untrackedCalls() leaves out commands that only read, whatever permitted them', () => {
  const reading = ['ls -la', 'git status', 'cd src && cat a.ts | grep -n x', 'rg --files', 'cat /etc/hosts']
  const changing = [
    'npm test',
    'ls > list',
    'git status && make',
    'sed -i s/a/b/ x',
    'find . -delete',
    'sort -o a b',
  ]
  assert.deepEqual(untrackedCalls(permitted([...reading, ...changing, 'npm test']), 50), [
    ...changing.map((command) => `bash: ${command}`),
  ])
  assert.equal(untrackedCalls(permitted(changing), 2).length, 2)
  assert.deepEqual(untrackedCalls(permitted(changing, { effect: 'deny' }), 50), [])
})

test('untrackedCalls() judges a command as the user changed it', () => {
  const changed = { by: 'person', arguments: '{"command":"rm a"}' } as const
  assert.deepEqual(untrackedCalls(permitted(['ls'], changed), 50), ['bash: rm a'])
})
