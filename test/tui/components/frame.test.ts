import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { renderStatus, renderWorking } from '../../../src/tui/components/frame.ts'
import { newPage } from '../../../src/tui/overlays/page.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import type { ChatState, UsageTotals } from '../../../src/tui/state/types.ts'
import { propertyRuns } from '../../support/property-runs.ts'
import { HOSTILE_TEXTS } from '../view/hostile-texts.ts'
import { assertPrintable, makeView } from '../view/support.ts'

const BEGINNING: ChatState = {
  ...initialState({
    agent: 'crab',
    sender: 'me',
    model: 'big-model',
    mode: 'ask',
    fresh: false,
    rules: { allow: [], ask: [], deny: [] },
    color: false,
    version: '1.0.0',
  }),
  place: 'process',
}
const OPENED = { type: 'conversation', agent: 'crab', sender: 'me', session: 's1', title: '' } as const
const place = { shownCwd: '~/src/app' }
const makeUsage = (promptTokens: number, context?: number): UsageTotals => ({
  ...BEGINNING.usage,
  last: { promptTokens, completionTokens: 300, totalTokens: promptTokens + 300 },
  context,
  usd: 0.1234,
  turns: 1,
})
const FULL: ChatState = {
  ...BEGINNING,
  title: 'Fix the build',
  mode: 'edits',
  branch: 'main',
  usage: makeUsage(12_000, 200_000),
  servers: new Map([
    ['a', 'connected'],
    ['b', 'connecting'],
  ]),
}
const renderStatusLines = (state: ChatState, columns: number) =>
  renderStatus(state, place, makeView({ columns })).lines
const renderWorkingLines = (state: ChatState, now: number, columns = 60) =>
  renderWorking(state, now, makeView({ columns })).lines
const turn = {
  runId: 'r1',
  startedAt: 1_000,
  doing: 'running bash',
  outputTokens: 1230,
  hasAnswered: false,
  isCancelling: false,
}

test('renderStatus() shows everything it knows where there is room', () => {
  assert.deepEqual(renderStatusLines(FULL, 200), [
    'crab · edits allowed · big-model · Fix the build · ╌╌╌╌╌ 12.3k/200k 6% · $0.12 · mcp 1/2 · ~/src/app (main) · in process',
  ])
  assert.deepEqual(renderStatusLines(BEGINNING, 80), ['crab · big-model · ~/src/app · in process'])
})

test('renderStatus() omits what matters least as the terminal gets narrower', () => {
  assert.deepEqual(renderStatusLines(FULL, 100), [
    'crab · edits allowed · big-model · ╌╌╌╌╌ 12.3k/200k 6% · $0.12 · mcp 1/2 · ~/src/app (main)',
  ])
  const long = { ...FULL, title: 'Fix the build of the second package' }
  assert.deepEqual(renderStatusLines(long, 115), [
    'crab · edits allowed · big-model · Fix the build of the… · ╌╌╌╌╌ 12.3k/200k 6% · $0.12 · mcp 1/2 · ~/src/app (main)',
  ])
  assert.deepEqual(renderStatusLines(FULL, 60), ['crab · edits allowed · big-model · ╌╌╌╌╌ 12.3k/200k 6%'])
  assert.deepEqual(renderStatusLines(FULL, 20), ['crab · edits allowed'])
  assert.deepEqual(renderStatusLines(FULL, 10), ['edits all…'])
})

test('renderStatus() shows how full the context is, as far as it is known', () => {
  assert.match(
    renderStatusLines({ ...FULL, usage: makeUsage(160_000, 200_000) }, 200)[0]!,
    /━━━━╌ 160k\/200k 80%/,
  )
  assert.match(
    renderStatusLines({ ...FULL, usage: makeUsage(260_000, 200_000) }, 200)[0]!,
    /━━━━━ 260k\/200k 130%/,
  )
  assert.match(renderStatusLines({ ...FULL, usage: makeUsage(5_000) }, 200)[0]!, / · 5\.3k tokens · /)
  const models = [{ name: 'big-model', active: true, context: 10_000, efforts: [] }]
  const opened = reduce({ ...FULL, models }, { ...OPENED, tokens: 9_000 })
  assert.match(renderStatusLines(opened, 200)[0]!, / 9k\/10k 90% /)
  assert.doesNotMatch(renderStatusLines(reduce(opened, OPENED), 200)[0]!, /9k/)
})

test('renderStatus() keeps a failed server longer than a connected one', () => {
  const servers = new Map([['a', 'failed' as const]])
  assert.match(renderStatusLines({ ...FULL, servers }, 70)[0]!, /mcp 0\/1$/)
  assert.doesNotMatch(renderStatusLines(FULL, 70)[0]!, /mcp/)
})

test('renderStatus() is one line that fits, with any content', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(HOSTILE_TEXTS)),
      fc.integer({ min: 1, max: 200 }),
      fc.boolean(),
      (text, columns, color) => {
        const state = {
          ...FULL,
          agent: text,
          model: text,
          title: text,
          branch: text,
          steers: [{ text, content: text }],
          queue: [text],
        }
        const view = makeView({ columns, color })
        const working = { ...state, turn: { ...turn, doing: text } }
        const retry = { attempt: 2, maxAttempts: 10, message: text, until: 9_000, since: 0 }
        const waiting = { ...state, turn: { ...turn, retry } }
        const { lines } = renderStatus(state, { shownCwd: text }, view)
        assert.equal(lines.length, 1)
        assertPrintable(lines, columns)
        assertPrintable(renderWorking(working, 5_000, view).lines, columns)
        assertPrintable(renderWorking(waiting, 5_000, view).lines, columns)
      },
    ),
    { numRuns: propertyRuns(1_000) },
  )
})

test('renderWorking() shows what the turn does, for how long, and how to stop it', () => {
  const [gap, line] = renderWorkingLines({ ...BEGINNING, turn }, 13_999)
  assert.equal(gap, '')
  assert.match(line!, /^. running bash 12 s · 1\.23k tokens · esc to interrupt$/)
  const overlay = newPage('Help', 'text')
  assert.match(
    renderWorkingLines({ ...BEGINNING, turn, overlay }, 13_999)[1]!,
    / 1\.23k tokens$/,
    'Esc closes the page',
  )
  const cancelling = { ...turn, isCancelling: true, outputTokens: 0 }
  assert.match(renderWorkingLines({ ...BEGINNING, turn: cancelling }, 126_000)[1]!, /^. stopping 2 m 05 s$/)
  assert.deepEqual(renderWorkingLines(BEGINNING, 0), [])
})

test('renderWorking() counts down to the next attempt of a model call', () => {
  const message = 'Cannot call m (p): Overloaded (529)'
  const retry = { attempt: 4, maxAttempts: 10, message, until: 20_000, since: 0 }
  const show = (change: object, now = 12_001, columns = 80) =>
    renderWorkingLines({ ...BEGINNING, turn: { ...turn, retry: { ...retry, ...change } } }, now, columns)[1]!
  const facts = 'trying again in 8 s · attempt 4 of 10 · esc to interrupt'
  assert.equal(show({}).slice(2), `Overloaded (529) · ${facts}`)
  assert.match(show({ until: 200_000 }), /trying again in 3 m 08 s · attempt 4 of 10/)
  assert.match(show({}, 20_000), /Overloaded \(529\) · trying again · attempt 4 of 10 · esc to interrupt$/)
  assert.match(show({ maxAttempts: 0 }), / · attempt 4 · esc to interrupt$/)
  assert.match(show({ message: 'busy' }), /^. Busy · trying/)
  const long = show({ message: `Cannot call m (p): ${'too many requests '.repeat(9)}` })
  assert.match(long, /^. Too many requests[^·]*… · trying again in 8 s · attempt 4 of 10 · esc to interrupt$/)
  assert.equal(show({}, 12_001, 40).slice(2), 'Overloaded (529) · trying again in 8 s')
  assert.equal(show({}, 12_001, 60).slice(2), 'Overloaded (529) · trying again in 8 s · attempt 4 of 10')
  const cancelling = { ...turn, retry, isCancelling: true, outputTokens: 0 }
  assert.match(renderWorkingLines({ ...BEGINNING, turn: cancelling }, 13_000)[1]!, /^. stopping 12 s$/)
})

test('renderWorking() lists queued messages', () => {
  const lines = renderWorkingLines(
    { ...BEGINNING, steers: [{ text: 'also\nthat', content: '' }], queue: ['a', 'b', 'c', 'd', 'e'] },
    0,
  )
  assert.deepEqual(lines, ['', 'next: also that', 'then: a', 'then: b', 'then: c', '… and 2 more'])
})
