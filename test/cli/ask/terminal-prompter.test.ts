import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TerminalPrompterOptions } from '../../../src/cli/ask/terminal-prompter.ts'
import { TerminalPrompter } from '../../../src/cli/ask/terminal-prompter.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import { MemoryLeases } from '../../../src/core/lease/memory-leases.ts'
import { AskUserEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { makeTestHost, type TestHost } from '../../support/test-host.ts'
import { makeTestTerminal, type TestTerminal } from '../../support/test-terminal.ts'
import { until } from '../../support/until.ts'

test('TerminalPrompter asks one question at a time and returns each answer', async () => {
  await using desk = await openDesk()
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  desk.asker.enqueue(question('2', 'Second?'), 'crab')
  await desk.terminal.shows(/First\?.*> $/s)
  assert.doesNotMatch(desk.terminal.screen(), /Second/)
  desk.terminal.type('one')
  await desk.terminal.shows(/Second\?.*> $/s)
  desk.terminal.type('two')
  await until('both are answered', () => desk.replies.length === 2)
  assert.deepEqual(desk.replies, [
    ['1', { 'First?': 'one' }],
    ['2', { 'Second?': 'two' }],
  ])
  assert.equal(desk.terminal.opened(), 0)
})

test('TerminalPrompter ignores lines that were typed before it asked', async () => {
  await using desk = await openDesk()
  desk.terminal.type('too early')
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  await desk.terminal.shows(/> $/)
  desk.terminal.type('now')
  await until('it is answered', () => desk.replies.length === 1)
  assert.deepEqual(desk.replies, [['1', { 'First?': 'now' }]])
})

test('TerminalPrompter closes an unanswered question after its time limit, says so, and continues with the next', async () => {
  await using desk = await openDesk()
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  desk.asker.enqueue(question('2', 'Second?'), 'crab')
  await desk.terminal.shows(/First\?.*> $/s)
  desk.asker.close({ askId: '1', by: 'timeout' })
  await desk.terminal.shows(
    /> \ncrabtalk: the question is closed: no answer came in time\ncrabtalk: crab asks\n.*Second\?.*> $/s,
  )
  desk.asker.close({ askId: '2', by: 'bob' })
  await desk.terminal.shows(/> \ncrabtalk: the question is closed: it was answered elsewhere\n$/)
  assert.deepEqual([desk.replies, desk.failures], [[], []])
})

test('TerminalPrompter never shows a question that was closed while it waited', async () => {
  await using desk = await openDesk()
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  desk.asker.enqueue(question('2', 'Second?'), 'crab')
  await desk.terminal.shows(/First\?.*> $/s)
  desk.asker.close({ askId: '2', by: 'cancelled' })
  desk.terminal.type('one')
  await desk.asker[Symbol.asyncDispose]()
  assert.doesNotMatch(desk.terminal.screen(), /Second/)
})

test('TerminalPrompter prints nothing about an answered question, or after the run ended', async () => {
  await using desk = await openDesk()
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  desk.asker.enqueue(question('2', 'Second?'), 'crab')
  await desk.terminal.shows(/First\?.*> $/s)
  desk.terminal.type('one')
  await desk.terminal.shows(/Second\?.*> $/s)
  desk.asker.close({ askId: '1', by: 'ann' })
  await desk.asker[Symbol.asyncDispose]()
  assert.ok(desk.terminal.screen().endsWith('> \n'))
  assert.doesNotMatch(desk.terminal.screen(), /closed/)
  assert.deepEqual([desk.failures, desk.terminal.opened()], [[], 0])
})

test('TerminalPrompter holds back output until the question is answered', async () => {
  await using desk = await openDesk({ terminals: ['stdout', 'stderr'] })
  const { stdout, stderr } = desk.at.host
  stdout.write('before')
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  await desk.terminal.shows(/> $/)
  assert.equal(desk.at.stdout(), 'before')
  assert.equal(stdout.write('x'.repeat(100_000)), undefined)
  stderr.write('a word')
  await Promise.all([stdout.flush(), stderr.flush()])
  assert.deepEqual([desk.at.stdout(), desk.at.stderr()], ['before', ''])
  desk.terminal.type('one')
  await until('it is printed', () => desk.at.stdout().length === 100_006 && desk.at.stderr() === 'a word')
})

test('TerminalPrompter does not hold back output to pipes', async () => {
  await using desk = await openDesk()
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  await desk.terminal.shows(/> $/)
  desk.at.host.stdout.write('meanwhile')
  await desk.at.host.stdout.flush()
  assert.equal(desk.at.stdout(), 'meanwhile')
})

test('TerminalPrompter waits for the terminal, and a waiting question can be closed', async () => {
  await using leases = new MemoryLeases()
  const options = { lease: (name: string, signal: AbortSignal) => leases.take(name, signal) }
  await using first = await openDesk({}, options)
  await using second = await openDesk({}, options)
  first.asker.enqueue(question('1', 'First?'), 'crab')
  await first.terminal.shows(/> $/)
  second.asker.enqueue(question('2', 'Second?'), 'crab')
  second.asker.enqueue(question('3', 'Third?'), 'crab')
  await until('it waits', () => second.terminal.opened() === 1)
  second.asker.close({ askId: '2', by: 'timeout' })
  first.terminal.type('one')
  await second.terminal.shows(/Third\?.*> $/s)
  assert.doesNotMatch(second.terminal.screen(), /Second/)
})

test('TerminalPrompter says after a while that another process is asking on this terminal', async (context) => {
  await using leases = new MemoryLeases()
  const held = await leases.take('tty:test', new AbortController().signal)
  await using desk = await openDesk({}, { lease: (name, signal) => leases.take(name, signal) })
  context.mock.timers.enable({ apis: ['setTimeout'] })
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  while (desk.terminal.opened() === 0) await new Promise(setImmediate)
  context.mock.timers.tick(1_999)
  assert.equal(desk.terminal.screen(), '')
  context.mock.timers.tick(1)
  context.mock.timers.reset()
  const notice = '\ncrabtalk: waiting for another crabtalk to be answered on this terminal\n'
  await until('it is said', () => desk.terminal.screen() === notice)
  await held[Symbol.asyncDispose]()
  await desk.terminal.shows(/First\?.*> $/s)
})

test('TerminalPrompter asks even where it cannot get a lease', async () => {
  const lease = () => Promise.reject(new CrabError('storage', 'read only'))
  await using desk = await openDesk({}, { lease })
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  await desk.terminal.shows(/> $/)
})

test('TerminalPrompter reports when questions can no longer be answered', async () => {
  await using gone = await openDesk()
  gone.asker.enqueue(question('1', 'First?'), 'crab')
  await gone.terminal.shows(/> $/)
  gone.terminal.hangUp()
  await until('it fails', () => gone.failures.length === 1)
  assert.deepEqual([gone.failures[0]!.kind, gone.terminal.opened()], ['denied', 0])
  const none = await makeTestHost()
  await using _none = none
  const failures: CrabError[] = []
  await using asker = new TerminalPrompter(optionsOf(none, { fail: (error) => failures.push(error) }))
  asker.enqueue(question('1', 'First?'), 'crab')
  await until('it fails', () => failures.length === 1)
  assert.equal(failures[0]!.kind, 'denied')
})

test('TerminalPrompter says that an answer came too late, and continues', async () => {
  const reply = () => Promise.reject(new CrabError('missing', 'no such question'))
  await using desk = await openDesk({}, { reply })
  desk.asker.enqueue(question('1', 'First?'), 'crab')
  await desk.terminal.shows(/> $/)
  desk.terminal.type('one')
  await until('it is said', () => /the answer came too late/.test(desk.at.stderr()))
  assert.deepEqual([desk.failures, desk.terminal.opened()], [[], 0])
})

interface Desk extends AsyncDisposable {
  at: TestHost
  terminal: TestTerminal
  asker: TerminalPrompter
  replies: [string, object][]
  failures: CrabError[]
}

async function openDesk(
  host: { terminals?: ('stdout' | 'stderr')[] } = {},
  more: Partial<TerminalPrompterOptions> = {},
): Promise<Desk> {
  let terminal: TestTerminal | undefined
  const at = await makeTestHost({ ...host, terminal: () => terminal!.open() })
  terminal = makeTestTerminal(at.folder)
  const replies: [string, object][] = []
  const failures: CrabError[] = []
  const asker = new TerminalPrompter(
    optionsOf(at, {
      reply: async (id, { answers }) => void replies.push([id, answers]),
      fail: (error) => failures.push(error),
      ...more,
    }),
  )
  return {
    at,
    terminal,
    asker,
    replies,
    failures,
    async [Symbol.asyncDispose]() {
      await asker[Symbol.asyncDispose]()
      terminal[Symbol.dispose]()
      await at[Symbol.asyncDispose]()
    },
  }
}

function optionsOf({ host }: TestHost, more: Partial<TerminalPrompterOptions>): TerminalPrompterOptions {
  const lease = async () => new AsyncDisposableStack()
  const unused = () => assert.fail()
  return { host, color: 'never', lease, reply: async () => unused(), fail: unused, ...more }
}

function question(askId: string, text: string): AskUserEvent {
  return AskUserEvent.fromPartial({ askId, questions: [{ question: text }] })
}
