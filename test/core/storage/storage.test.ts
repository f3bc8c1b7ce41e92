import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { NewLine, Pair, ReadPosition } from '../../../src/core/storage/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { newLine } from './arbitraries.ts'
import { create, type Opened, openDisk, openMemory, openWatched, toIso } from './open-storage.ts'
import { makeHeader, toLine } from './samples.ts'

const unknown = '0123456789abcdef-01J00000000000000000000000'

for (const [name, open] of [
  ['DiskStorage', openDisk],
  ['DiskStorage over a watched folder', openWatched],
  ['MemoryStorage', openMemory],
] as const) {
  describe(name, () => {
    test('createSession() stores the header and the first lines, with times', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor } = await storage.createSession(makeHeader(), [toLine('one'), toLine('two')])
      const part = await storage.read(id)
      assert.deepEqual(part.header, makeHeader())
      assert.deepEqual(part.cursor, cursor)
      assert.deepEqual([part.whole, part.warnings], [true, []])
      assert.deepEqual(
        part.lines.map(({ seq, ts, ...line }) => ({ seq, ...line })),
        [
          { seq: 1, ...toLine('one') },
          { seq: 2, ...toLine('two') },
        ],
      )
      for (const { ts } of part.lines) assert.match(ts, /^2026-01-01T00:00:0\d\.000Z$/)
    })

    test('createSession() keeps unknown keys', async () => {
      await using opened = await open()
      const header = { ...makeHeader(), mood: 'good' }
      const line = { ...toLine('one'), mood: 'better' }
      const { id } = await opened.storage.createSession(header, [line])
      const part = await opened.storage.read(id)
      assert.equal(JSON.stringify(part.header).includes('"mood":"good"'), true)
      assert.equal(JSON.stringify(part.lines).includes('"mood":"better"'), true)
    })

    test('append() returns the new end, and read() what came since a cursor', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor: first } = await storage.createSession(makeHeader(), [toLine('one')])
      const second = await storage.append(id, first, [toLine('two'), toLine('three')])
      const third = await storage.append(id, second, [toLine('four')])
      const contents = async (since?: ReadPosition) => {
        const part = await storage.read(id, since)
        assert.deepEqual(part.cursor, third)
        assert.deepEqual(part.header, makeHeader())
        assert.equal(part.whole, since === undefined)
        return part.lines.map((line) => [line.seq, line.kind === 'entry' && line.content])
      }
      assert.deepEqual(await contents(third), [])
      assert.deepEqual(await contents(second), [[4, 'four']])
      assert.deepEqual(await contents(first), [
        [2, 'two'],
        [3, 'three'],
        [4, 'four'],
      ])
      assert.deepEqual((await contents()).length, 4)
    })

    test('read() reads everything again when the cursor does not match', async () => {
      await using opened = await open()
      const { id, cursor } = await opened.storage.createSession(makeHeader(), [toLine('one'), toLine('two')])
      for (const since of [
        { bytes: cursor.bytes + 1, seq: 3 },
        { bytes: cursor.bytes - 1, seq: 1 },
        { bytes: 0, seq: 0 },
      ]) {
        const part = await opened.storage.read(id, since)
        assert.deepEqual([part.whole, part.lines.length, part.cursor], [true, 2, cursor])
      }
    })

    test('append() elsewhere than at the end fails with conflict and changes nothing', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor } = await storage.createSession(makeHeader(), [toLine('one')])
      const end = await storage.append(id, cursor, [toLine('two')])
      for (const at of [cursor, { bytes: end.bytes + 1, seq: 2 }, { bytes: 0, seq: 0 }]) {
        await assert.rejects(storage.append(id, at, [toLine('no')]), { name: 'CrabError', kind: 'conflict' })
      }
      assert.deepEqual((await storage.read(id)).cursor, end)
    })

    test('append() of nothing changes nothing', async () => {
      await using opened = await open()
      const { id, cursor } = await opened.storage.createSession(makeHeader(), [])
      assert.deepEqual(await opened.storage.append(id, cursor, []), cursor)
    })

    test('stored lines do not change with the objects that were passed or returned', async () => {
      await using opened = await open()
      const line = toLine('one')
      const { id } = await opened.storage.createSession(makeHeader(), [line])
      Object.assign(line, { content: 'changed' })
      const part = await opened.storage.read(id)
      Object.assign(part.lines[0]!, { content: 'changed' })
      Object.assign(part.header, { agent: 'changed' })
      const [row] = await opened.storage.listSessions({})
      Object.assign(row!, { agent: 'changed' })
      assert.deepEqual((await opened.storage.listSessions({}))[0]?.agent, 'crab')
      const again = await opened.storage.read(id)
      assert.deepEqual(
        [again.header.agent, again.lines[0]?.kind === 'entry' && again.lines[0].content],
        ['crab', 'one'],
      )
    })

    test('read(), append() and deleteSession() of an unknown session fail with missing', async () => {
      await using opened = await open()
      await assert.rejects(opened.storage.read(unknown), { kind: 'missing', hint: /conversation list/ })
      await assert.rejects(opened.storage.append(unknown, { bytes: 1, seq: 0 }, []), { kind: 'missing' })
      await assert.rejects(opened.storage.deleteSession(unknown), { kind: 'missing' })
    })

    test('an invalid id is rejected before it becomes a path', async () => {
      await using opened = await open()
      const { id } = await opened.storage.createSession(makeHeader(), [])
      for (const odd of [
        '',
        '.',
        '..',
        '/etc/passwd',
        `../sessions/${id}`,
        `${id}.jsonl`,
        `${id}\0`,
        id.toLowerCase(),
        ` ${id}`,
      ]) {
        await assert.rejects(opened.storage.read(odd), { kind: 'invalid' }, odd)
        await assert.rejects(opened.storage.append(odd, { bytes: 1, seq: 0 }, []), { kind: 'invalid' }, odd)
        await assert.rejects(opened.storage.deleteSession(odd), { kind: 'invalid' }, odd)
      }
    })

    test('activeSession() is the one created last, until another is activated', async () => {
      await using opened = await open()
      const { storage, now } = opened
      const pair = { agentId: makeHeader().agent_id, sender: 'user' }
      assert.equal(await storage.activeSession(pair), undefined)
      const [a, b] = [await create(opened), await create(opened)]
      assert.equal(await storage.activeSession(pair), b.id)
      const end = await storage.append(a.id, a.cursor, [{ kind: 'meta', activated_at: toIso(now()) }])
      await storage.append(a.id, end, [toLine('more'), { kind: 'meta', title: 'a' }])
      assert.equal(await storage.activeSession(pair), a.id)
      const c = await create(opened)
      assert.equal(await storage.activeSession(pair), c.id)
      await storage.deleteSession(c.id)
      assert.equal(await storage.activeSession(pair), a.id)
    })

    test('activeSession() orders sessions of one millisecond by creation', async () => {
      await using opened = await open(() => 1_700_000_000_000)
      const pair = { agentId: makeHeader().agent_id, sender: 'user' }
      for (let count = 0; count < 20; count += 1) {
        const { id } = await opened.storage.createSession(makeHeader(), [])
        assert.equal(await opened.storage.activeSession(pair), id)
      }
    })

    test('activeSession() and listSessions() compare pairs byte for byte', async () => {
      await using opened = await open()
      const pairs: Pair[] = [
        ['a', 'b'],
        ['A', 'b'],
        ['a', 'b '],
        ['a', 'ü'],
        ['a', 'u\u0308'],
        ['a', ''],
        ['a', '../b'],
        ['a\0b', 'c'],
        ['a', 'b\0c'],
        ['a', '\ud800'],
        ['a', '\ufffd'],
      ].map(([agentId, sender]) => ({ agentId: agentId!, sender: sender! }))
      const ids: string[] = []
      for (const { agentId, sender } of pairs) {
        assert.equal(await opened.storage.activeSession({ agentId, sender }), undefined, sender)
        const header = makeHeader({ agent_id: agentId, created_by: sender })
        ids.push((await opened.storage.createSession(header, [])).id)
      }
      for (const [index, pair] of pairs.entries()) {
        assert.equal(await opened.storage.activeSession(pair), ids[index])
        assert.deepEqual(
          (await opened.storage.listSessions(pair)).map(({ id }) => id),
          [ids[index]],
        )
      }
    })

    test('copySession() keeps lines unchanged, including times, up to the requested one', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor } = await storage.createSession(makeHeader(), [toLine('one'), toLine('two')])
      await storage.append(id, cursor, [toLine('three')])
      const { lines } = await storage.read(id)
      const header = { ...makeHeader(), forked_from: id }
      for (const [upto, count] of [
        [Number.POSITIVE_INFINITY, 3],
        [0, 0],
        [2, 2],
        [9, 3],
      ] as const) {
        const copy = await storage.read(await storage.copySession(id, header, upto))
        assert.deepEqual(copy.header, header)
        assert.deepEqual(copy.lines, lines.slice(0, count))
      }
      await assert.rejects(storage.copySession(unknown, header, 0), { kind: 'missing' })
    })

    test('listSessions() derives its rows from the lines, newest first', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor } = await create(opened, { cwd: '/a' })
      const fork = await create(opened, { forked_from: id, created_by: 'other' })
      const end = await storage.append(id, cursor, [
        toLine(`question\n\tof ${'🦀'.repeat(100)}`),
        toLine('answer', 'assistant'),
        { kind: 'entry', role: 'tool', content: 'r', tool_call_id: 'c' },
        { kind: 'meta', title: 'first', summary: 'all of it' },
        { kind: 'meta', title: 'second' },
        { kind: 'compact', archive_name: 'a', archived_at: '', title: 'all' },
      ])
      const { lines } = await storage.read(id)
      const rows = await storage.listSessions({})
      assert.deepEqual(
        rows.map((row) => row.id),
        [id, fork.id],
      )
      assert.deepEqual(rows[0], {
        id,
        agent: 'crab',
        agentId: makeHeader().agent_id,
        sender: 'user',
        cwd: '/a',
        title: 'second',
        summary: 'all of it',
        model: '',
        effort: '',
        preview: `question of ${'🦀'.repeat(68)}`,
        createdAt: rows[0]?.createdAt,
        updatedAt: lines.at(-1)!.ts,
        messageCount: 2,
        archiveCount: 1,
        forkedFrom: undefined,
        activeSince: rows[0]?.createdAt,
      })
      assert.equal(rows[1]?.forkedFrom, id)
      assert.equal(rows[1]?.updatedAt, rows[1]?.createdAt)
      await storage.append(id, end, [toLine('another')])
      assert.equal((await storage.listSessions({}))[0]?.messageCount, 3)
    })

    test('listSessions() filters by agent, sender and folder', async () => {
      await using opened = await open()
      const one = await create(opened, { agent_id: 'x', created_by: 's', cwd: '/a' })
      const two = await create(opened, { agent_id: 'x', created_by: 't', cwd: '/b' })
      const three = await create(opened, { agent_id: 'y', created_by: 's', cwd: '/b' })
      for (const [filter, expected] of [
        [{}, [three, two, one]],
        [{ agentId: 'x' }, [two, one]],
        [{ sender: 's' }, [three, one]],
        [{ cwd: '/b' }, [three, two]],
        [{ agentId: 'x', sender: 's' }, [one]],
        [{ agentId: 'x', sender: 's', cwd: '/b' }, []],
        [{ sender: '' }, []],
      ] as const) {
        const rows = await opened.storage.listSessions(filter)
        assert.deepEqual(
          rows.map(({ id }) => id),
          expected.map(({ id }) => id),
        )
      }
    })

    test('summaries() returns rows in the order of the ids, marks the active one, and omits deleted ones', async () => {
      await using opened = await open()
      const { storage } = opened
      const first = await create(opened)
      const second = await create(opened)
      const other = await create(opened, { created_by: 'other' })
      const ids = [other.id, first.id, unknown, second.id]
      const seen = async () =>
        (await storage.summaries(ids)).map(({ summary: { id, title }, isActive }) => [id, title, isActive])
      assert.deepEqual(await seen(), [
        [other.id, '', true],
        [first.id, '', false],
        [second.id, '', true],
      ])
      await storage.append(first.id, first.cursor, [{ kind: 'meta', title: 'Titled' }])
      await storage.deleteSession(second.id)
      assert.deepEqual(await seen(), [
        [other.id, '', true],
        [first.id, 'Titled', true],
      ])
      const [row] = await storage.listSessions({ sender: 'other' })
      assert.deepEqual((await storage.summaries([other.id]))[0]?.summary, row)
      assert.deepEqual(await storage.summaries([]), [])
    })

    test('deleteSession() deletes permanently', async () => {
      await using opened = await open()
      const { storage } = opened
      const { id, cursor } = await create(opened)
      await storage.deleteSession(id)
      await assert.rejects(storage.append(id, cursor, [toLine('no')]), { kind: 'missing' })
      await assert.rejects(storage.read(id, cursor), { kind: 'missing' })
      assert.deepEqual(await storage.listSessions({}), [])
    })
  })
}

test('DiskStorage and MemoryStorage answer any sequence of calls alike', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 25 }), async (calls) => {
      const clock = { ms: 0 }
      await using disk = await openDisk(() => clock.ms)
      await using memory = await openMemory(() => clock.ms)
      const [onDisk, inMemory] = [await replay(disk, calls, clock), await replay(memory, calls, clock)]
      assert.deepEqual(onDisk, inMemory)
    }),
    { numRuns: propertyRuns(400, 40) },
  )
})

type Call =
  | { act: 'create'; sender: string; lines: NewLine[] }
  | { act: 'append'; pick: number; lines: NewLine[] }
  | { act: 'activate' | 'delete' | 'read'; pick: number }

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({
    act: fc.constant('create' as const),
    sender: fc.constantFrom('a', 'b'),
    lines: fc.array(newLine, { maxLength: 2 }),
  }),
  fc.record({
    act: fc.constant('append' as const),
    pick: fc.nat(20),
    lines: fc.array(newLine, { maxLength: 3 }),
  }),
  fc.record({
    act: fc.constantFrom('activate' as const, 'delete' as const, 'read' as const),
    pick: fc.nat(20),
  }),
)

/** Returns the answers of a storage, with ids numbered by creation. */
async function replay(opened: Opened, calls: readonly Call[], clock: { ms: number }): Promise<unknown> {
  const sessions: { id: string; cursor: ReadPosition }[] = []
  const answers: unknown[] = []
  for (const [index, each] of calls.entries()) {
    clock.ms = index * 1000
    answers.push(await answer(opened, sessions, each))
    answers.push(await opened.storage.activeSession({ agentId: makeHeader().agent_id, sender: 'a' }))
    answers.push(await opened.storage.listSessions({}))
    answers.push(await opened.storage.listSessions({ agentId: makeHeader().agent_id, sender: 'b' }))
  }
  const text = JSON.stringify(answers)
  return JSON.parse(sessions.reduce((told, { id }, index) => told.replaceAll(id, `#${index}`), text))
}

async function answer(
  opened: Opened,
  sessions: { id: string; cursor: ReadPosition }[],
  each: Call,
): Promise<unknown> {
  const { storage, now } = opened
  if (each.act === 'create') {
    const header = makeHeader({ created_by: each.sender, created_at: toIso(now()) })
    sessions.push(await storage.createSession(header, each.lines))
    return sessions.at(-1)
  }
  const session = sessions[each.pick % sessions.length]
  if (!session) return 'none'
  try {
    if (each.act === 'delete') return await storage.deleteSession(session.id)
    if (each.act === 'read')
      return [await storage.read(session.id), await storage.read(session.id, session.cursor)]
    const lines: NewLine[] =
      each.act === 'append' ? each.lines : [{ kind: 'meta', activated_at: toIso(now()) }]
    session.cursor = await storage.append(session.id, session.cursor, lines)
    return session.cursor
  } catch (reason) {
    return (reason as { kind?: string }).kind
  }
}
