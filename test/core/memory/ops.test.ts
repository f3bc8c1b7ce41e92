import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MAX_ALIASES, MAX_CONTENT_BYTES } from '../../../src/core/memory/check-entry.ts'
import { findMemoryEntry } from '../../../src/core/memory/entries.ts'
import { applyOp, type Op } from '../../../src/core/memory/ops.ts'
import { rememberOp } from '../../../src/core/memory/remember.ts'
import { EMPTY_MEMORY, type Memory, type MemoryKind } from '../../../src/core/memory/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const add = (name: string, aliases: string[] = [], kind: MemoryKind = 'note'): Op => {
  return { op: 'add', name, content: `of ${name}`, aliases, kind, createdAt: 7n }
}
const update = (name: string, content: string, aliases: string[] = []): Op => {
  return { op: 'update', name, content, aliases }
}
const alias = (name: string, more: string[], remove: string[] = []): Op => {
  return { op: 'alias', name, add: more, remove }
}

test('add normalizes names and trims blanks around them, each once', () => {
  const { entry } = applyOp(EMPTY_MEMORY, add(' Cafe\u0301 ', ['Café', ' x', 'x ', 'y']))
  assert.deepEqual([entry.name, entry.aliases], ['Café', ['x', 'y']])
  assert.deepEqual([entry.id, entry.kind, entry.createdAt], [1n, 'note', 7n])
})

test('add rejects names and contents that cannot be stored', () => {
  const long = 'x'.repeat(MAX_CONTENT_BYTES + 1)
  const names = ['', ' ', 'a\nb', 'a\u0000', 'a\u2028b', 'x'.repeat(201), '\ud800']
  const ops = [...names.map((name) => add(name)), ...names.map((name) => add('a', [name]))]
  for (const op of [...ops, { ...add('a'), content: long } as Op]) {
    assert.throws(() => applyOp(EMPTY_MEMORY, op), { kind: 'invalid', message: /^Cannot add / })
  }
  const many = Array.from({ length: MAX_ALIASES + 1 }, (_, n) => `a${n}`)
  assert.throws(() => applyOp(EMPTY_MEMORY, add('a', many)), { kind: 'invalid', message: /100 aliases/ })
})

test('update replaces the content and merges the aliases, also through an alias', () => {
  const { memory, entry } = apply(
    add('deploy', ['ship']),
    update('ship', 'new', ['release', 'deploy', 'ship']),
  )
  assert.deepEqual(entry, {
    ...findMemoryEntry(memory, 'deploy'),
    content: 'new',
    aliases: ['ship', 'release'],
  })
  assert.equal(memory.entries.length, 1)
})

test('alias adds and removes names of one entry', () => {
  const before = apply(add('deploy', ['ship', 'go']), add('other')).memory
  const { entry } = applyOp(before, alias('go', ['release', 'deploy'], ['ship']))
  assert.deepEqual(entry.aliases, ['go', 'release'])
  assert.throws(() => applyOp(before, alias('deploy', ['other'])), {
    kind: 'conflict',
    message: /: "other" is the name of another entry$/,
  })
  const missing = { kind: 'missing', hint: 'it has ship, go' }
  assert.throws(() => applyOp(before, alias('deploy', [], ['deploy'])), missing)
})

test('rename keeps the old name as an alias, and can turn an alias into the name', () => {
  const before = apply(add('deploy', ['ship']), add('other', ['o'])).memory
  assert.deepEqual(namesAfter(before, { op: 'rename', name: 'deploy', to: 'release' }), [
    'release',
    'deploy',
    'ship',
  ])
  assert.deepEqual(namesAfter(before, { op: 'rename', name: 'ship', to: 'release' }), [
    'release',
    'deploy',
    'ship',
  ])
  assert.deepEqual(namesAfter(before, { op: 'rename', name: 'deploy', to: 'ship' }), ['ship', 'deploy'])
  for (const to of ['other', 'o']) {
    assert.throws(() => applyOp(before, { op: 'rename', name: 'deploy', to }), { kind: 'conflict' })
  }
  assert.throws(() => applyOp(before, { op: 'rename', name: 'deploy', to: ' ' }), { kind: 'invalid' })
})

test('remove deletes an entry with all its names, by any of them', () => {
  const { memory, entry } = apply(add('deploy', ['ship']), { op: 'remove', name: 'ship' })
  assert.deepEqual([memory.entries, entry.name, memory.nextId], [[], 'deploy', 2n])
})

test('an archive gets and loses aliases, and otherwise stays as it is', () => {
  const { memory } = apply(add('s-1', ['The plan'], 'archive'))
  assert.deepEqual(namesAfter(memory, alias('The plan', ['p'], ['The plan'])), ['s-1', 'p'])
  const ops: Op[] = [
    update('The plan', 'x'),
    { op: 'rename', name: 's-1', to: 'x' },
    { op: 'remove', name: 's-1' },
  ]
  for (const op of ops) {
    assert.throws(() => applyOp(memory, op), { kind: 'conflict', message: /"s-1" is an archive/ })
  }
})

test('an operation without effect returns the same memory', () => {
  const { memory } = apply(add('a', ['b']))
  for (const op of [
    update('b', 'of a', ['b']),
    alias('a', ['a', 'b']),
    { op: 'rename', name: 'b', to: 'a' } as Op,
  ]) {
    assert.equal(applyOp(memory, op).memory, memory)
  }
})

test('a missing entry is reported, with similar names', () => {
  const { memory } = apply(add('Prod Rollout', ['prod-roll']))
  const ops: Op[] = [
    update('prodrollout', ''),
    alias('prodrollout', []),
    { op: 'remove', name: 'prodrollout' },
  ]
  for (const op of ops) {
    assert.throws(() => applyOp(memory, op), { kind: 'missing', hint: 'it has "Prod Rollout"' })
  }
  assert.throws(() => applyOp(memory, { op: 'remove', name: 'x' }), {
    kind: 'missing',
    message: /^Cannot forget "x": /,
    hint: /crabtalk memory list/,
  })
})

test('rememberOp() adds a note, or updates the entry of that name or alias', () => {
  const say = (content: string, name = 'a') => rememberOp({ name, content, aliases: ['b'], now: 9_999 })
  const first = applyOp(EMPTY_MEMORY, say('one')(EMPTY_MEMORY))
  assert.deepEqual([first.entry.kind, first.entry.createdAt], ['note', 9n])
  const second = applyOp(first.memory, say('two', 'b')(first.memory))
  assert.deepEqual(second.entry, { ...first.entry, content: 'two' })
})

test('no changes ever give two entries one name, or one id twice', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
  const names = fc.array(name, { maxLength: 2 })
  const op: fc.Arbitrary<Op> = fc.oneof(
    fc.tuple(name, names).map(([one, others]) => add(one, others)),
    fc.tuple(name, names).map(([one, others]) => update(one, others.join(), others)),
    fc.tuple(name, names, names).map(([one, more, less]) => alias(one, more, less)),
    fc.tuple(name, name).map(([one, to]): Op => ({ op: 'rename', name: one, to })),
    name.map((one): Op => ({ op: 'remove', name: one })),
  )
  fc.assert(
    fc.property(fc.array(op, { maxLength: 30 }), (ops) => {
      let memory: Memory = EMPTY_MEMORY
      const ids = new Set<bigint>()
      for (const one of ops) {
        const before = memory
        memory = tried(memory, one)
        const all = memory.entries.flatMap((entry) => [entry.name, ...entry.aliases])
        assert.equal(new Set(all).size, all.length)
        for (const { id } of memory.entries.filter(
          (entry) => !before.entries.some((old) => old.id === entry.id),
        )) {
          assert.ok(!ids.has(id))
          ids.add(id)
        }
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

function apply(...ops: Op[]) {
  let last = {
    memory: EMPTY_MEMORY as Memory,
    entry: undefined as never as ReturnType<typeof applyOp>['entry'],
  }
  for (const op of ops) last = applyOp(last.memory, op)
  return last
}

function namesAfter(memory: Memory, op: Op): string[] {
  const { entry } = applyOp(memory, op)
  return [entry.name, ...entry.aliases]
}

function tried(memory: Memory, op: Op): Memory {
  try {
    return applyOp(memory, op).memory
  } catch (reason) {
    assert.ok(['conflict', 'missing'].includes((reason as { kind: string }).kind), String(reason))
    return memory
  }
}
