import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { UNANSWERED_RESULTS } from '../../../src/core/base/not-run.ts'
import { AskKind, StreamStart } from '../../../src/core/protocol/crabtalk.generated.ts'
import { initialState } from '../../../src/tui/state/initial.ts'
import { reduce } from '../../../src/tui/state/reduce.ts'
import { describeOutcome } from '../../../src/tui/view/tool/outcome.ts'
import {
  after,
  busyState,
  CHAT_OPTIONS,
  chunk,
  finishedBlocks,
  textEnd,
  textStart,
  toolResult,
  toolStart,
  turnEnd,
} from '../../support/chat-state.ts'
import { propertyRuns } from '../../support/property-runs.ts'

test('a running call fails when its turn is lost, and is not printed when the turn continues elsewhere', () => {
  const running = after(busyState(), [toolStart('a')])
  const left = { type: 'turn-detached', text: 'left', tone: 'info' } as const
  const countTools = (keepsRunning: boolean) =>
    finishedBlocks(reduce(running, { ...left, keepsRunning })).filter(({ kind }) => kind === 'tool').length
  assert.deepEqual([countTools(false), countTools(true)], [1, 0])
})

test('a message is printed when it is sent, and the turn runs', () => {
  const state = busyState()
  assert.deepEqual(finishedBlocks(state), [{ kind: 'user', text: 'hello', how: 'sent', files: [] }])
  assert.equal(state.turn?.doing, 'thinking')
})

test('an answer is printed in full, once, for any division into chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 30 }), { maxLength: 20 }),
      fc.array(fc.nat(19)),
      (chunks, flushes) => {
        let state = after(busyState(), [textStart])
        for (const [at, content] of chunks.entries()) {
          state = after(state, [chunk(content)])
          if (flushes.includes(at)) state = reduce(state, { type: 'flush' })
        }
        state = after(state, [textEnd])
        const words = finishedBlocks(state).flatMap((block) => (block.kind === 'answer' ? [block.text] : []))
        assert.equal(removeBlanks(words.join('\n')), removeBlanks(chunks.join('')))
        assert.equal(state.open, undefined)
      },
    ),
    { numRuns: propertyRuns(1_000) },
  )
})

test('an answer shows where it starts, only once', () => {
  const state = after(busyState(), [textStart, chunk('one\n\ntwo\n\nthree'), textEnd])
  const firsts = finishedBlocks(state).flatMap((block) => (block.kind === 'answer' ? [block.isFirst] : []))
  assert.deepEqual(firsts, [true, ...firsts.slice(1).map(() => false)])
})

test('calls of one step are printed in call order, each once it and those before it are over', () => {
  const running = after(busyState(), [toolStart('a', 'b', 'c'), toolResult('b')])
  assert.deepEqual(printedCalls(running), [])
  const two = after(running, [toolResult('a')])
  assert.deepEqual(printedCalls(two), ['a', 'b'])
  assert.deepEqual(printedCalls(after(two, [toolResult('c')])), ['a', 'b', 'c'])
})

test('reads and searches are printed together, once something else comes', () => {
  const reads = (...ids: readonly string[]): Parameters<typeof after>[1] => {
    const calls = ids.map((callId) => ({ name: 'read', arguments: '{"path":"a"}', callId, server: '' }))
    return [{ $case: 'toolStart', value: { calls } }, ...ids.map((id) => toolResult(id))]
  }
  const kinds = (state: ReturnType<typeof busyState>) =>
    finishedBlocks(state)
      .map(({ kind }) => kind)
      .slice(1)
  const looked = after(busyState(), [...reads('a', 'b'), ...reads('c')])
  assert.deepEqual([kinds(looked), looked.tools.length], [[], 3])
  const written = after(looked, [textStart, chunk('So.'), textEnd])
  assert.deepEqual([kinds(written), written.tools], [['look-ups', 'answer'], []])
  assert.deepEqual(kinds(after(looked, [toolStart('d')])), ['look-ups'])
  assert.deepEqual(kinds(after(looked, [turnEnd()])), ['look-ups', 'turn-end', 'notice'])
  assert.deepEqual(kinds(after(after(busyState(), reads('a')), [textStart, chunk('So.')])), ['tool'])
})

test('a call that follows another one has no gap before it', () => {
  const state = after(busyState(), [toolStart('a'), toolResult('a'), toolStart('b'), toolResult('b')])
  const text = after(state, [textStart, chunk('So.'), textEnd, toolStart('c'), toolResult('c')])
  const follows = finishedBlocks(text).flatMap((block) => (block.kind === 'tool' ? [block.follows] : []))
  assert.deepEqual(follows, [false, true, false])
})

test('the end of a turn says how long it took and what it cost', () => {
  const end = (costUsd: number, now: number) => {
    const event = turnEnd()
    if (event.$case === 'end') event.value.costUsd = costUsd
    const stream = { type: 'stream', event: { seq: 0, event }, now } as const
    return finishedBlocks(reduce(busyState(), stream)).find(({ kind }) => kind === 'turn-end')
  }
  assert.deepEqual(end(0.04, 12_000), { kind: 'turn-end', ms: 12_000, usd: 0.04 })
  assert.deepEqual(end(0.04, 100), { kind: 'turn-end', ms: undefined, usd: 0.04 })
  assert.equal(end(0, 1_999), undefined)
})

test('a call that has no result when the turn ends is printed as interrupted', () => {
  const state = after(busyState(), [toolStart('a'), turnEnd('Cancelled', 'cancelled')])
  const [tool] = finishedBlocks(state).flatMap((block) => (block.kind === 'tool' ? [block.tool] : []))
  assert.equal(tool?.state, 'failed')
  assert.equal(tool?.output, 'Interrupted')
  assert.deepEqual(finishedBlocks(state).at(-1), { kind: 'notice', tone: 'info', text: 'Interrupted' })
})

test('a failed turn says why and what to do', () => {
  const state = after(busyState(), [turnEnd('Cannot call m: no key')])
  const notice = { kind: 'notice', tone: 'error', text: 'Cannot call m: no key', hint: 'try again' }
  assert.deepEqual(finishedBlocks(state).at(-1), notice)
  assert.equal(state.turn, undefined)
})

test('a truncated answer is marked', () => {
  const state = after(busyState(), [textStart, chunk('So'), textEnd, turnEnd('', 'length')])
  const last = finishedBlocks(state).at(-1)
  assert.ok(last?.kind === 'notice' && last.tone === 'warning' && last.text.includes('output limit'))
})

test('a turn that ends without an answer says so', () => {
  const saysNoAnswer = (events: Parameters<typeof after>[1]) =>
    finishedBlocks(after(busyState(), events)).some(
      (block) => block.kind === 'notice' && block.text === 'The model returned an empty answer',
    )
  const thinking = { $case: 'thinking', value: { content: 'Let me see.' } } as const
  const step = [toolStart('a'), toolResult('a')]
  assert.ok(saysNoAnswer([turnEnd()]))
  assert.ok(saysNoAnswer([thinking, ...step, textStart, chunk('\n'), textEnd, turnEnd()]))
  assert.equal(saysNoAnswer([textStart, chunk('So'), textEnd, ...step, turnEnd()]), false)
  assert.equal(saysNoAnswer([turnEnd('Cancelled', 'cancelled')]), false)
  assert.equal(saysNoAnswer([turnEnd('Cannot call m: no key')]), false)
  assert.equal(saysNoAnswer([turnEnd('', 'length')]), false)
})

test('a turn that was joined midway does not say that it gave no answer', () => {
  const turn = { type: 'turn-started', runId: 'r', now: 0 } as const
  const countBlocks = (isUnderWay: boolean) =>
    finishedBlocks(after(reduce(initialState(CHAT_OPTIONS), { ...turn, isUnderWay }), [turnEnd()])).filter(
      ({ kind }) => kind === 'notice',
    ).length
  assert.deepEqual([countBlocks(false), countBlocks(true)], [1, 0])
})

test('the cost of a conversation adds up, and stays unknown once it is', () => {
  const two = after(after(busyState(), [turnEnd()]), [turnEnd()])
  assert.equal(two.usage.usd, 1)
  const unknown = turnEnd()
  if (unknown.$case === 'end') unknown.value.costUsd = undefined
  assert.equal(after(after(two, [unknown]), [turnEnd()]).usage.usd, undefined)
})

test('a question stays open until it is closed, even when another client answered it', () => {
  const value = { questions: [], askId: 'q1', kind: AskKind.QUESTION, permission: undefined }
  const waiting = after(busyState(), [{ $case: 'askUser', value }])
  assert.deepEqual(
    waiting.asks.map(({ askId }) => askId),
    ['q1'],
  )
  const closed = after(waiting, [{ $case: 'askClosed', value: { askId: 'q1', by: 'bob', content: '' } }])
  assert.deepEqual(closed.asks, [])
})

test('a steer waits until it is accepted; one that is returned goes back into the prompt', () => {
  const steered = ['one', 'two'].reduce(
    (state, text) => reduce(state, { type: 'steered', text, content: text }),
    busyState(),
  )
  const taken = after(steered, [{ $case: 'userSteered', value: { content: 'one' } }])
  assert.deepEqual(taken.steers, [{ text: 'two', content: 'two' }])
  assert.deepEqual(finishedBlocks(taken).at(-1), { kind: 'user', text: 'one', how: 'steered', files: [] })
  const back = after(taken, [
    { $case: 'steerReturned', value: { content: 'two' } },
    turnEnd('Cancelled', 'cancelled'),
  ])
  assert.deepEqual(back.steers, [])
  assert.equal(back.prompt.text, 'two')
})

test('printed blocks are dropped from the state, later ones stay', () => {
  const state = after(busyState(), [textStart, chunk('one\n\ntwo'), textEnd])
  const [first] = state.finished
  const rest = reduce(state, { type: 'printed', upto: first!.id })
  assert.deepEqual(rest.finished, state.finished.slice(1))
})

test('another conversation starts with nothing spent, and gets the queued messages', () => {
  const state = reduce(after(busyState(), [turnEnd()]), { type: 'queued', text: 'later' })
  const other = { agent: 'bob', sender: 'ann', session: 's2', title: 'Plans' }
  const opened = reduce(state, { type: 'conversation', ...other })
  assert.deepEqual(
    { usage: opened.usage, queue: opened.queue },
    { usage: initialState(CHAT_OPTIONS).usage, queue: ['later'] },
  )
  assert.equal(opened.session, 's2')
})

function printedCalls(state: Parameters<typeof finishedBlocks>[0]): string[] {
  return finishedBlocks(state).flatMap((block) => (block.kind === 'tool' ? [block.tool.callId] : []))
}

/** Blank lines between blocks belong to no block. */
function removeBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

test('a steer is listed while the files it names are read, and goes when it could not be one', () => {
  const texts = ['one', 'two'].reduce((state, text) => reduce(state, { type: 'steering', text }), busyState())
  const sent = reduce(texts, { type: 'steered', text: 'one', content: 'one and a file' })
  assert.deepEqual(sent.steers, [
    { text: 'one', content: 'one and a file' },
    { text: 'two', content: undefined },
  ])
  assert.deepEqual(reduce(sent, { type: 'steer-gone', text: 'two' }).steers, sent.steers.slice(0, 1))
})

test('a steer with files is shown as it was typed', () => {
  const content = 'look at @a.txt\n\n<file>much</file>'
  const steered = reduce(busyState(), { type: 'steered', text: 'look at @a.txt', content })
  const taken = after(steered, [{ $case: 'userSteered', value: { content } }])
  assert.deepEqual(finishedBlocks(taken).at(-1), {
    kind: 'user',
    text: 'look at @a.txt',
    how: 'steered',
    files: [],
  })
})

test('returned steers go before the draft in the order they were typed', () => {
  const steered = ['one', 'two'].reduce(
    (before, text) => reduce(before, { type: 'steered', text, content: text }),
    busyState(),
  )
  const state = after(steered, [
    { $case: 'steerReturned', value: { content: 'one' } },
    { $case: 'steerReturned', value: { content: 'two' } },
    turnEnd('Cancelled', 'cancelled'),
  ])
  assert.equal(state.prompt.text, 'one\ntwo')
})

test('a returned steer of another chat is reported, and stays out of the prompt', () => {
  const state = after(busyState(), [
    { $case: 'steerReturned', value: { content: 'from the other' } },
    turnEnd(),
  ])
  assert.equal(state.prompt.text, '')
  assert.match(JSON.stringify(finishedBlocks(state)), /before it read your message: from the other/)
})

test('the context meter stays that of the own agent while a guest answers', () => {
  const usage = (promptTokens: number, context: number) =>
    ({
      $case: 'contextUsage',
      value: { usage: { promptTokens, completionTokens: 10, totalTokens: promptTokens + 10 }, context },
    }) as const
  const start = (agent: string) =>
    ({ $case: 'start', value: StreamStart.create({ agent, sessionId: 's', model: 'm' }) }) as const
  const own = after(busyState(), [start('crab'), usage(2_000, 8_000), turnEnd()])
  const sent = reduce(own, { type: 'message-sent', text: '@critic why?', files: [], now: 0 })
  const guest = after(sent, [start('critic'), usage(400, 100_000), turnEnd()])
  const { last, context, input } = guest.usage
  assert.deepEqual([last?.promptTokens, context, input], [2_000, 8_000, 2_400])
  const next = reduce(guest, { type: 'message-sent', text: 'go on', files: [], now: 0 })
  assert.equal(after(next, [start('crab'), usage(2_500, 8_000)]).usage.last?.promptTokens, 2_500)
})

test('a question without an answer is not shown as a failure', () => {
  const calls = [
    { name: 'ask_user', arguments: '{"questions":[{"question":"Which?"}]}', callId: 'q', server: '' },
  ]
  const value = {
    callId: 'q',
    output: UNANSWERED_RESULTS.declined,
    durationMs: 5,
    isError: true,
    denial: undefined,
  }
  const state = after(busyState(), [
    { $case: 'toolStart', value: { calls } },
    { $case: 'toolResult', value },
    { $case: 'toolsComplete', value: {} },
  ])
  const [block] = finishedBlocks(state).filter(({ kind }) => kind === 'tool')
  assert.ok(block?.kind === 'tool' && block.tool.state === 'skipped')
  assert.deepEqual(describeOutcome(block.tool, []), ['no answer'])
})
