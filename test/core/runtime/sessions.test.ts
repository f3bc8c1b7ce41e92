import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Journals } from '../../../src/core/runtime/live/journals.ts'
import { RunningTurns } from '../../../src/core/runtime/running-turns.ts'
import { activateSession, forkSession, newSession } from '../../../src/core/runtime/sessions.ts'
import { MemoryStorage } from '../../../src/core/storage/memory-storage.ts'
import { newPlace } from '../../support/test-node.ts'
import { headerOf, said } from '../storage/samples.ts'

const NEVER = new AbortController().signal
const PAIR = { agentId: headerOf().agent_id, sender: 'user' }

test('the session that was made, copied or chosen last is the active one, whatever the clock says', async () => {
  const act = fc.tuple(fc.constantFrom('new', 'fork', 'activate'), fc.nat(9), fc.integer({ min: -2, max: 2 }))
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 12 }), async (acts) => {
      let clock = Date.UTC(2026, 0, 1)
      const storage = new MemoryStorage({ now: () => clock })
      const sessions = { place: newPlace(storage), running: new RunningTurns(), journals: new Journals() }
      await storage.createSession(headerOf(), [said('one')])
      for (const [what, which, step] of acts) {
        clock += step
        const now = new Date(clock)
        const ids = (await storage.listSessions({})).map(({ id }) => id).sort()
        let id = ids[which % ids.length]!
        const header = headerOf({ created_at: now.toISOString(), cwd: `/${which}` })
        if (what === 'new') id = await newSession(sessions, header, NEVER)
        if (what === 'fork') id = await forkSession(sessions, { id, upto: 0, now }, NEVER)
        if (what === 'activate') await activateSession(sessions, { id, now }, NEVER)
        assert.equal(await storage.activeSession(PAIR), id)
      }
    }),
  )
})
