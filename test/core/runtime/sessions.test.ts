import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { turnLeaseName } from '../../../src/core/runtime/leased-conversation.ts'
import { Journals } from '../../../src/core/runtime/live/journals.ts'
import { RunningTurns } from '../../../src/core/runtime/running-turns.ts'
import {
  activateSession,
  appendMessage,
  forkSession,
  newSession,
} from '../../../src/core/runtime/sessions.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { newStores } from '../../support/test-node.ts'
import { makeHeader, toLine } from '../storage/samples.ts'

const NEVER = new AbortController().signal
const PAIR = { agentId: makeHeader().agent_id, sender: 'user' }

test('the session that was created, copied or activated last is the active one, whatever the clock says', async () => {
  const act = fc.tuple(fc.constantFrom('new', 'fork', 'activate'), fc.nat(9), fc.integer({ min: -2, max: 2 }))
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
      let clock = Date.UTC(2026, 0, 1)
      const storage = new MemoryStorage({ now: () => clock })
      const sessions = { stores: newStores(storage), running: new RunningTurns(), journals: new Journals() }
      await storage.createSession(makeHeader(), [toLine('one')])
      for (const [what, which, step] of acts) {
        clock += step
        const now = new Date(clock)
        const ids = (await storage.listSessions({})).map(({ id }) => id).sort()
        let id = ids[which % ids.length]!
        const header = makeHeader({ created_at: now.toISOString(), cwd: `/${which}` })
        if (what === 'new') id = await newSession(sessions, header, NEVER)
        if (what === 'fork')
          id = await forkSession(sessions, { id, upto: Number.POSITIVE_INFINITY, now }, NEVER)
        if (what === 'activate') await activateSession(sessions, { id, now }, NEVER)
        assert.equal(await storage.activeSession(PAIR), id)
      }
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('appendMessage() waits for the running turn, and returns the line it wrote', async () => {
  const storage = new MemoryStorage()
  const stores = newStores(storage)
  const sessions = { stores, running: new RunningTurns(), journals: new Journals() }
  const { id } = await storage.createSession(makeHeader(), [toLine('one')])
  const turn = await stores.leases.take(turnLeaseName(id), NEVER)
  const message = { role: 'assistant', content: 'two' } as const
  const appended = appendMessage(sessions, { id, message }, NEVER)
  await storage.append(id, (await storage.read(id)).cursor, [toLine('of the turn')])
  await turn[Symbol.asyncDispose]()
  assert.equal(await appended, 3)
  const { lines } = await storage.read(id)
  assert.deepEqual(
    lines.map((line) => line.kind === 'entry' && `${line.role} ${line.content}`),
    ['user one', 'user of the turn', 'assistant two'],
  )
})

test('appendMessage() rejects tool calls and missing sessions, and stops waiting when it is aborted', async () => {
  const storage = new MemoryStorage()
  const stores = newStores(storage)
  const sessions = { stores, running: new RunningTurns(), journals: new Journals() }
  const { id } = await storage.createSession(makeHeader(), [toLine('one')])
  const result = { role: 'tool', content: 'done', tool_call_id: 'a', name: 'bash' } as const
  await assert.rejects(appendMessage(sessions, { id, message: result }, NEVER), { kind: 'invalid' })
  const call = { id: 'a', name: 'bash', arguments: '{}' }
  const calling = { role: 'assistant', content: '', tool_calls: [call] } as const
  await assert.rejects(appendMessage(sessions, { id, message: { ...calling, tool_calls: [call] } }, NEVER), {
    kind: 'invalid',
  })
  await using _turn = await stores.leases.take(turnLeaseName(id), NEVER)
  const message = { role: 'user', content: 'two' } as const
  const leaves = AbortSignal.abort()
  await assert.rejects(appendMessage(sessions, { id, message }, leaves), { name: /AbortError|CrabError/ })
  assert.equal((await storage.read(id)).lines.length, 1)
  const gone = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`
  await assert.rejects(appendMessage(sessions, { id: gone, message }, NEVER), { kind: 'missing' })
})
