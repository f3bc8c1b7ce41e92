import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CrabError } from '../../../../src/core/base/errors.ts'
import type { Hook } from '../../../../src/core/runtime/hook.ts'
import type { FollowEvent } from '../../../../src/core/runtime/live/follow.ts'
import { collect, ends, startLive } from '../../../support/live-node.ts'
import { toolsHook } from '../../../support/tools.ts'
import { until } from '../../../support/until.ts'

const NEVER = new AbortController().signal
const QUESTION = { question: 'Which?', header: 'Pick', options: [], multiSelect: false }

for (const isFollowed of [true, false]) {
  const who = isFollowed ? 'followers and observers' : 'observers of a turn that is not stored'
  test(`LiveTurns reports the whole end of a turn to ${who} when its client leaves`, async () => {
    const asker = toolsHook({ ask: async (at) => JSON.stringify(await at.ask([QUESTION], 'question')) })
    const usage = { input: 5, output: 3 }
    const parts = [{ call: 'a', name: 'ask', args: '{}' }]
    await using at = await startLive([{ parts, usage }], { hooks: [asker] })
    const { observed } = at
    const seen: FollowEvent[] = []
    const stop = new AbortController()
    const following = isFollowed && collect(at.follow(0, stop.signal), seen).catch(() => undefined)
    const settings = { onAsk: 'client', ephemeral: !isFollowed } as const
    for await (const { event } of at.live.stream(at.request('go', { settings }), NEVER))
      if (event.type === 'ask') break
    const last = ['ask', 'ask-closed', 'tool-result', 'end']
    assert.deepEqual(
      observed.slice(-4),
      last.map((type) => `crab ${type}`),
    )
    if (isFollowed) await until('it has ended', () => ends(seen) === 1)
    stop.abort()
    await following
    const types = seen.flatMap((told) => (told.type === 'event' ? [told.event.type] : []))
    if (isFollowed) assert.deepEqual(types.slice(-4), last)
    const { run, end } = await at.live.wait('run-1', NEVER)
    assert.deepEqual(
      [end.stopReason, end.error?.message, end.turns],
      ['cancelled', 'Cancelled: the client disconnected', 1],
    )
    assert.deepEqual([end.usage?.input, end.usage?.output], [5, 3])
    assert.deepEqual(
      [...run.summary.tools.values()].map(({ name, errors }) => [name, errors]),
      [['ask', 1]],
    )
  })
}

test('LiveTurns closes a question that a turn leaves open, directly before its end', async () => {
  const question = Promise.withResolvers<void>()
  const hook: Hook = {
    async context(_cwd, turn) {
      const answers = turn.ask?.([QUESTION])
      question.resolve()
      await answers
      return undefined
    },
    async schema() {
      await question.promise
      throw new CrabError('config', 'Cannot offer tools: none are left')
    },
  }
  await using at = await startLive([{ parts: ['yes'] }], { hooks: [hook] })
  const settings = { onAsk: 'client', asksTrust: true } as const
  const events = await Array.fromAsync(at.live.stream(at.request('go', { settings }), NEVER))
  const shown = events.map(({ event }) => (event.type === 'ask-closed' ? `closed: ${event.by}` : event.type))
  assert.deepEqual(shown, ['start', 'ask', 'closed: config', 'end'])
  assert.deepEqual(
    events.map(({ seq }) => seq),
    [1, 2, 3, 4],
  )
  assert.deepEqual(at.node.asks.list(''), [])
})

test('LiveTurns ends a turn whose hook threw, with that error', async () => {
  const broken: Hook = {
    onEvent(_agent, _session, { type }) {
      if (type === 'text') throw new CrabError('failed', 'Cannot count: no fingers')
    },
  }
  await using at = await startLive([{ parts: ['One'] }], { hooks: [broken] })
  const { id } = await at.live.detach(at.request('go'))
  const { end } = await at.live.wait(id, NEVER)
  assert.deepEqual([end.stopReason, end.error?.message], ['failed', 'Cannot count: no fingers'])
})
