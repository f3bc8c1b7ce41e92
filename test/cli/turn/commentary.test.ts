import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Commentary, type CommentaryOptions } from '../../../src/cli/turn/commentary.ts'
import { DeniedBy, McpEventKind, StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import type { WireTurnEvent } from '../../../src/core/protocol/turn-fold.ts'
import { makeTestHost, type TestHost } from '../../support/test-host.ts'

const START = event('start', { agent: 'crab', model: 'm' })
const TOOLS = event('toolStart', {
  calls: [
    { callId: 'a', name: 'read', arguments: '{"limit":3,"path":"a.txt"}' },
    { callId: 'b', name: 'grep', arguments: '{}' },
  ],
})
const RUN = [
  START,
  event('thinkingStart', {}),
  event('thinking', { content: 'Let me' }),
  event('thinking', { content: ' see' }),
  event('thinkingEnd', {}),
  event('textStart', {}),
  event('chunk', { content: 'Looking' }),
  event('textEnd', {}),
  TOOLS,
  event('toolResult', { callId: 'b', output: 'x', durationMs: 7 }),
  event('toolResult', { callId: 'a', output: '\nCannot read\nmore', durationMs: 12, isError: true }),
  event('toolsComplete', {}),
  event('retry', { attempt: 1, delayMs: 50, kind: 'throttled', message: 'busy' }),
  event('end', {}),
]
const NOTICE = event('notice', { message: 'a line was skipped' })

test('Commentary prints nothing of a run into a pipe by default', async () => {
  assert.equal(await said(RUN, {}), '')
  assert.equal(await said(RUN, { verbosity: -1, thinking: true }), '')
})

test('Commentary with -v prints a line for each tool call and retry', async () => {
  const lines = ['✓ grep · 7 ms', '✗ read a.txt · 12 ms: Cannot read', 'crabtalk: retry 1 in 50 ms: busy']
  assert.equal(await said(RUN, { verbosity: 1 }), `${lines.join('\n')}\n`)
})

test('Commentary with -vv prints every event except the answer’s own text', async () => {
  const lines = (await said(RUN, { verbosity: 2 })).split('\n')
  const names = lines.flatMap((line) => /^(\w+) \{/.exec(line)?.[1] ?? [])
  assert.deepEqual(
    names,
    RUN.map(({ $case }) => $case).filter((name) => name !== 'chunk'),
  )
})

test('Commentary prints thinking when it is requested', async () => {
  assert.equal(await said(RUN, { thinking: true }), 'Let me see\n')
})

test('Commentary reports messages that came too late for the turn, even when it is quiet', async () => {
  const late = event('steerReturned', { content: 'no,\u001b[31m the other\none' })
  const notice = 'crabtalk: not delivered, the turn ended first: no, the other\none\n'
  assert.equal(await said([late], {}), notice)
  assert.equal(await said([late], { verbosity: -1 }), notice)
})

test('Commentary prints notices, unless it is quiet', async () => {
  assert.equal(await said([NOTICE], {}), 'crabtalk: a line was skipped\n')
  assert.equal(await said([NOTICE], { verbosity: -1 }), '')
})

test('Commentary reports missing servers to a pipe, unless it is quiet', async () => {
  const notice = event('notice', { message: 'it is down', server: 'fs' })
  assert.equal(await said([notice], {}), 'crabtalk: it is down\n')
  assert.equal(await said([notice], { verbosity: -1 }), '')
})

test('Commentary reports progress to a pipe only with -v', async () => {
  const notice = event('notice', { message: 'it is down', server: 'fs', passing: true })
  assert.equal(await said([notice], {}), '')
  assert.equal(await said([notice], { verbosity: 1 }), 'crabtalk: it is down\n')
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, {})
  commentary.event(notice)
  await at.host.stderr.flush()
  assert.equal(at.stderr(), 'crabtalk: it is down\n')
})

test('Commentary removes control characters from all foreign text', async () => {
  const evil = '\u001b[31mred\u009b2J\u202e'
  const events = [
    event('notice', { message: evil }),
    event('thinking', { content: evil }),
    event('toolStart', { calls: [{ callId: 'a', name: evil, arguments: evil }] }),
    event('toolResult', { callId: 'a', output: evil, durationMs: 1 }),
    event('retry', { attempt: 1, delayMs: 1, kind: 'throttled', message: evil }),
  ]
  const text = await said(events, { verbosity: 2, thinking: true })
  assert.doesNotMatch(text, /[^\P{Cc}\n\t]|\u202e/u)
  assert.match(text, /^crabtalk: red\n/)
})

test('Commentary shows on a terminal what the run waits for, and erases it before other output', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, {})
  const notices: string[] = []
  const tell = async (one: WireTurnEvent, ms: number) => {
    const before = at.stderr().length
    commentary.event(one)
    context.mock.timers.tick(ms)
    await at.host.stderr.flush()
    notices.push(at.stderr().slice(before))
  }
  await tell(START, 299)
  await tell(START, 300)
  await tell(TOOLS, 300)
  await tell(NOTICE, 1_000)
  await tell(event('toolsComplete', {}), 300)
  commentary.clear()
  commentary.clear()
  await at.host.stderr.flush()
  const erased = '\r\u001b[2K'
  assert.deepEqual(notices, [
    '',
    `${erased}crab · m …`,
    `${erased}${erased}running read a.txt, grep …`,
    `${erased}crabtalk: a line was skipped\n`,
    `${erased}crab · m …`,
  ])
  assert.ok(at.stderr().endsWith(`…${erased}`))
})

test('Commentary shows no status during a question, and the tools again after the last answer', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, {})
  const questions = ['p', 'q'].map((askId) => event('askUser', { askId }))
  const closed = (askId: string) => event('askClosed', { askId })
  for (const one of [TOOLS, ...questions, closed('p')]) {
    commentary.event(one)
    context.mock.timers.tick(questions.includes(one) ? 0 : 10_000)
  }
  await at.host.stderr.flush()
  const erased = '\r\u001b[2K'
  assert.equal(at.stderr(), `${erased}running read a.txt, grep …${erased}`)
  commentary.event(closed('q'))
  context.mock.timers.tick(10_000)
  await at.host.stderr.flush()
  assert.ok(at.stderr().endsWith(`${erased}running read a.txt, grep …`))
})

test('Commentary shows which servers start, and the earlier status when they have started', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, {})
  const { CONNECTING, CONNECTED, FAILED } = McpEventKind
  const states = [
    { name: 'fs', kind: CONNECTING },
    { name: 'web', kind: CONNECTING },
    { name: 'web', kind: CONNECTING },
    { name: 'fs', kind: CONNECTED },
    { name: 'web', kind: FAILED },
  ]
  for (const one of [START, ...states.map((state) => event('mcpState', state))]) {
    commentary.event(one)
    context.mock.timers.tick(300)
  }
  commentary.event(event('textStart', {}))
  commentary.clear()
  commentary.event(event('mcpState', states[0]!))
  context.mock.timers.tick(300)
  await at.host.stderr.flush()
  assert.deepEqual(
    at
      .stderr()
      .split('\r\u001b[2K')
      .filter((text) => text !== ''),
    [
      'crab · m …',
      'starting MCP servers: fs …',
      'starting MCP servers: fs, web …',
      'starting MCP servers: web …',
      'crab · m …',
    ],
  )
})

test('Commentary rewrites its status in place with the progress of a call', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, {})
  const progress = (message: string) => event('toolProgress', { callId: 'a', message })
  commentary.event(TOOLS)
  commentary.event(progress('1 of 3'))
  context.mock.timers.tick(300)
  commentary.event(progress('2 of 3'))
  commentary.event(event('toolsComplete', {}))
  await at.host.stderr.flush()
  const erased = '\r\u001b[2K'
  const lines = ['1 of 3', '2 of 3'].map((done) => `${erased}running read a.txt: ${done} …`)
  assert.equal(at.stderr(), `${lines.join('')}${erased}`)
})

test('Commentary with -v says only that a call was denied or did not run', async () => {
  const denial = { action: 'read', reason: 'no rule allows it', rules: [], by: DeniedBy.NOBODY }
  const denied = event('toolResult', { callId: 'a', isError: true, denial })
  assert.equal(await said([TOOLS, denied], { verbosity: 1 }), '⊘ read a.txt · denied\n')
  const output = 'Not run: the turn was cancelled first.'
  const skipped = event('toolResult', { callId: 'a', isError: true, output, durationMs: 9 })
  assert.equal(await said([TOOLS, skipped], { verbosity: 1 }), '⊘ read a.txt · not run\n')
})

test('Commentary with -v says why a call was not permitted', async () => {
  const denial = { action: 'bash: ls', reason: 'the user\u001b[2J said no', rules: [], by: 2 }
  const result = event('toolResult', { callId: 'a', isError: true, denial })
  assert.equal(await said([TOOLS, result], { verbosity: 1 }), '⊘ read a.txt · denied: the user said no\n')
})

for (const quiet of [{ verbosity: -1 }, { status: false }, { term: 'dumb' }]) {
  test(`Commentary has no status line with ${JSON.stringify(quiet)}`, async (context) => {
    context.mock.timers.enable({ apis: ['setTimeout'] })
    await using at = await makeTestHost({ terminals: ['stderr'] })
    using commentary = commentaryOf(at, quiet)
    for (const one of [START, TOOLS]) {
      commentary.event(one)
      context.mock.timers.tick(10_000)
    }
    await at.host.stderr.flush()
    assert.equal(at.stderr(), '')
  })
}

test('Commentary truncates its status to one line', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  using commentary = commentaryOf(at, { columns: () => 20 })
  const calls = Array.from({ length: 9 }, (_, index) => ({ callId: `${index}`, name: 'read' }))
  commentary.event(event('toolStart', { calls }))
  context.mock.timers.tick(300)
  await at.host.stderr.flush()
  assert.equal(at.stderr(), '\r\u001b[2Krunning read, rea …')
})

test('Commentary erases its status line when the run is over', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  await using at = await makeTestHost({ terminals: ['stderr'] })
  {
    using commentary = commentaryOf(at, {})
    commentary.event(START)
    context.mock.timers.tick(300)
  }
  context.mock.timers.tick(10_000)
  await at.host.stderr.flush()
  assert.equal(at.stderr(), '\r\u001b[2Kcrab · m …\r\u001b[2K')
})

async function said(events: readonly WireTurnEvent[], options: Partial<CommentaryOptions>): Promise<string> {
  await using at = await makeTestHost()
  using commentary = commentaryOf(at, options)
  for (const one of events) commentary.event(one)
  await at.host.stderr.flush()
  return at.stderr()
}

function commentaryOf(at: TestHost, more: Partial<CommentaryOptions>): Commentary {
  const usual = { verbosity: 0, thinking: false, status: true, term: 'xterm', columns: () => 80 }
  return new Commentary({ stderr: at.host.stderr, ...usual, ...more })
}

function event($case: WireTurnEvent['$case'], value: object): WireTurnEvent {
  return StreamEvent.fromPartial({ event: { $case, value } as WireTurnEvent }).event!
}
