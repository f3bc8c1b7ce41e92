import assert from 'node:assert/strict'
import { test } from 'node:test'
import { main } from '../../../src/commands/main.ts'
import { OnAsk } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import type { Reply, Script } from '../../support/model-server.ts'
import { type ServedCommands, serveCommands } from '../../support/served-commands.ts'
import { makeTestHost } from '../../support/test-host.ts'
import { until } from '../../support/until.ts'

const RUN: Reply = {
  parts: [{ call: 'c1', name: 'bash', args: JSON.stringify({ command: 'touch \u001b[31mx\u202e' }) }],
}
const COLOURS = {
  question: 'Which colour?',
  header: 'Colour',
  options: [{ label: 'red', description: 'as a crab' }, { label: 'blue' }],
}
const SIZES = {
  question: 'Which sizes?',
  header: 'Size',
  options: [{ label: 'S' }, { label: 'L' }],
  multi: true,
}
const DONE: Reply = { parts: ['Done.'] }

function asking(...questions: object[]): Reply {
  return { parts: [{ call: 'c1', name: 'ask_user', args: JSON.stringify({ questions }) }] }
}

/** Starts turns of (crab, ann), (crab, ann2)… that park their questions, one for each reply. */
async function parked(script: Script, count = 1) {
  const served = await serveCommands(script)
  const turns = Array.from({ length: count }, (_, at) => {
    const sender = at === 0 ? 'ann' : `ann${at + 1}`
    return served.daemon.ask('go', { sender, options: { onAsk: OnAsk.PARK } })
  })
  const ids = () => served.daemon.services.asks.list('').map(({ ask }) => ask.id)
  await until('all questions wait', () => ids().length === count)
  return { served, turns, ids: ids(), [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() }
}

test('asks shows the exact command, with control characters escaped, and how to answer', async () => {
  await using at = await parked([RUN, DONE])
  const { code, stdout, stderr } = await at.served.run(['asks'])
  const id = at.ids[0]!.slice(-8)
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, new RegExp(`^${id} {2}crab/ann · go {2}now {2}permission\\n`))
  assert.match(stdout, /│ touch \\x1b\[31mx\\u202e\n/)
  assert.match(
    stdout,
    new RegExp(`  1     Yes\\n[\\s\\S]*  4     No\\n.*\\ncrabtalk answer ${id} NUMBER\\n$`),
  )
  const [row, ...more] = JSON.parse((await at.served.run(['asks', '--json'])).stdout)
  assert.deepEqual(
    [more, row.id, row.agent, row.sender, row.title, row.kind, row.permission.action],
    [[], at.ids[0], 'crab', 'ann', 'go', 'permission', 'bash: touch \u001b[31mx\u202e'],
  )
  assert.equal(JSON.parse((await at.served.run(['asks', '-a', 'other', '--json'])).stdout).length, 0)
  const refused = await at.served.run(['answer', id, '5'])
  assert.deepEqual([refused.code, refused.stdout], [0, `answered ${id}: Deny\n`])
  assert.match(refused.stderr, /^crabtalk: no reason was given: crabtalk answer \S+ 5 REASON gives one\n$/)
  await at.turns[0]
  const empty = await at.served.run(['asks'])
  assert.deepEqual([empty.code, empty.stdout, empty.stderr], [0, '', 'No pending questions\n'])
})

test('asks shows the text of a model after a bar, without control characters', async () => {
  const label = '\u001b[8mhidden'
  const question = {
    question: 'One\u001b[2J?\ncrabtalk answer X y',
    options: [{ label, description: '\rover' }],
  }
  await using at = await parked([asking(question), DONE])
  const { stdout } = await at.served.run(['asks'])
  assert.match(stdout, /│ One\\x1b\[2J\?\n {2}│ crabtalk answer X y\n {2}1 {5}\\x1b\[8mhidden · \\rover\n/)
  assert.doesNotMatch(stdout.replaceAll('\n', ''), /\p{Cc}/u)
  const answered = await at.served.run(['answer', at.ids[0]!, '1'])
  assert.match(answered.stdout, /: \\x1b\[8mhidden\n$/)
  await at.turns[0]
})

test('answer accepts the digits of a permission card, once', async () => {
  await using at = await parked([RUN, DONE])
  const [id = ''] = at.ids
  const wrong = await at.served.run(['answer', id, 'perhaps'])
  assert.match(wrong.stderr, /error\[usage\]: Cannot answer "perhaps".*\nhint: answer with 1 \(Yes\)/)
  assert.equal(wrong.code, 2)
  const first = await at.served.run(['answer', id.slice(0, 20).toLowerCase(), '5', 'use', 'a', 'file'])
  assert.deepEqual([first.code, first.stdout], [0, `answered ${id.slice(-8)}: use a file\n`])
  const second = await at.served.run(['answer', id, '1'])
  assert.match(
    second.stderr,
    /error\[missing\]: Cannot answer ".*": no pending question has that id\nhint: it was answered elsewhere/,
  )
  assert.deepEqual([second.code, second.stdout], [1, ''])
  const results = (await at.turns[0])!.flatMap((event) => (event.$case === 'toolResult' ? [event.value] : []))
  assert.match(results[0]!.denial!.reason, /the user said no: use a file/)
})

test('of two simultaneous answers, one is accepted and the other is reported as too late', async () => {
  await using at = await parked([asking(COLOURS), DONE])
  const answers = ['red', 'blue'].map((colour) => at.served.run(['answer', at.ids[0]!, colour]))
  const codes = (await Promise.all(answers)).map(({ code }) => code)
  assert.deepEqual(codes.toSorted(), [0, 1])
  assert.equal((await at.turns[0])!.filter(({ $case }) => $case === 'askClosed').length, 1)
})

for (const [words, answers] of [
  [['1', '1,2'], { 'Which colour?': 'red', 'Which sizes?': 'S, L' }],
  [['Blue', 'l'], { 'Which colour?': 'blue', 'Which sizes?': 'L' }],
  [['as the sea', ''], { 'Which colour?': 'as the sea', 'Which sizes?': '' }],
  [['--content', '{"Which colour?":"x","Which sizes?":"y"}'], { 'Which colour?': 'x', 'Which sizes?': 'y' }],
] as const) {
  test(`answer ${words.join(' ')} answers several questions in order`, async () => {
    await using at = await parked([asking(COLOURS, SIZES), DONE])
    const { code, stderr } = await at.served.run(['answer', at.ids[0]!, ...words])
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(closedWith(await at.turns[0]!), answers)
  })
}

for (const [words, problem] of [
  [['1'], /error\[usage\]: Cannot answer: there are 2 questions, and 1 answer\n/],
  [['9', '1'], /error\[usage\]: Cannot answer "9"/],
  [['--content', '{"Which colour?":"x"}'], /error\[invalid\]: .*it does not answer "Which sizes\?"/],
  [['--content', 'red'], /error\[usage\]: Cannot use --content: it is not a JSON object/],
  [['--content', '{}', 'x'], /error\[usage\]: Cannot combine --content and ANSWER/],
  [[], /error\[usage\]: Cannot answer: no answer is given/],
] as const) {
  test(`answer ID ${words.join(' ')} is rejected, and the question stays open`, async () => {
    await using at = await parked([asking(COLOURS, SIZES), DONE])
    const { stderr, stdout } = await at.served.run(['answer', at.ids[0]!, ...words])
    assert.match(stderr, problem)
    assert.equal(stdout, '')
    assert.equal((await at.served.run(['answer', at.ids[0]!, '1', '1'])).code, 0)
    await at.turns[0]
  })
}

test('answer reads several answers from standard input, and accepts or rejects each', async () => {
  await using at = await parked(
    ({ json }) => ((json['messages'] as { role: string }[]).at(-1)?.role === 'tool' ? DONE : asking(COLOURS)),
    3,
  )
  const [first, second, third] = at.ids as [string, string, string]
  const lines = [
    { id: first, answer: '1' },
    { id: first, answer: 'blue' },
    { id: second.slice(-8), answer: ['mauve'] },
    { id: 'nonsense', answer: 'x' },
    { id: third, answer: { 'Which colour?': 'green' } },
    { id: third },
  ]
  const stdin = `${lines.map((line) => JSON.stringify(line)).join('\n')}\nnot JSON\n`
  const { code, stdout } = await at.served.run(['answer'], { stdin })
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    records.map(({ id, ok, error }) => [id, ok, error?.code ?? null]),
    [
      [first, true, null],
      [first, false, 'missing'],
      [second, true, null],
      ['nonsense', false, 'missing'],
      [third, true, null],
      [null, false, 'invalid'],
      [null, false, 'invalid'],
    ],
  )
  assert.equal(code, 1)
  const ended = await Promise.all(at.turns)
  assert.deepEqual(ended.map((events) => closedWith(events)['Which colour?']).toSorted(), [
    'green',
    'mauve',
    'red',
  ])
})

test('answer reports an ambiguous id, and requires an id on a terminal', async () => {
  await using at = await parked(
    ({ json }) => ((json['messages'] as { role: string }[]).at(-1)?.role === 'tool' ? DONE : asking(COLOURS)),
    2,
  )
  const common = await at.served.run(['answer', at.ids[0]!.slice(0, 6), 'red'])
  assert.match(common.stderr, /error\[conflict\]: Cannot choose: the ids of 2 questions match/)
  const none = await at.served.run(['answer'])
  assert.match(none.stderr, /error\[usage\]: Cannot answer: no question is given/)
  for (const id of at.ids) await at.served.run(['answer', id, 'red'])
  await Promise.all(at.turns)
})

test('asks --follow shows pending and new questions, and how each ended', async () => {
  await using at = await parked([asking(COLOURS), DONE, RUN, DONE])
  const [first = ''] = at.ids
  await using text = await at.served.start(['asks', '--follow'])
  await using json = await at.served.start(['asks', '--follow', '--json'])
  await text.prints(/│ Which colour\?\n {2}1 {5}red · as a crab\n {2}2 {5}blue\n/)
  await json.prints(/"ask\.opened"/)
  await at.served.run(['answer', first, '2'])
  await at.turns[0]
  await text.prints(new RegExp(`${first.slice(-8)} {2}closed: bob\\n`))
  const turn = at.served.daemon.ask('again', { options: { onAsk: OnAsk.PARK } })
  await text.prints(/│ touch/)
  await answerAll(at.served, '4')
  await turn
  await json.prints(/("ask\.closed"[\s\S]*){2}/)
  const lines = json.at
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    lines.map(({ type }) => type),
    ['ask.opened', 'ask.closed', 'ask.opened', 'ask.closed'],
  )
  assert.deepEqual([lines[0].id, lines[1].ask, lines[1].content], [first, first, { 'Which colour?': 'blue' }])
  assert.equal(await text.end('SIGINT'), 130)
})

test('completions list pending questions, active runs, and conversations by their address', async () => {
  await using at = await parked([asking(COLOURS), DONE])
  const complete = async (...words: string[]) => {
    const { stdout } = await at.served.run(['__complete', String(words.length), ...words])
    return stdout.trimEnd().split('\n').slice(1)
  }
  /** Tries again, because a listing that takes too long on a busy machine is empty. */
  const completeInTime = async (...words: string[]) => {
    let lines: string[] = []
    await until('a listing is in time', async () => {
      lines = await complete(...words)
      return lines.length > 0
    })
    return lines
  }
  const { conversations } = await request(at.served.daemon.dispatch, 'listActiveConversations', {}, NEVER)
  const id = at.ids[0]!.slice(-8)
  assert.match(
    (await completeInTime('answer', '')).join('\n'),
    new RegExp(`^${id}\\t(now|\\d+s ago), crab: Which colour\\? \\(1 red, 2 blue\\)$`),
  )
  assert.deepEqual(await completeInTime('wait', ''), [`${conversations[0]!.runId}\tcrab/ann`])
  assert.deepEqual(
    (await completeInTime('tail', 'crab/')).map((line) => line.split('\t')[0]),
    ['crab/ann'],
  )
  await answerAll(at.served, '1')
  await at.turns[0]
  assert.deepEqual(await complete('answer', ''), [])
})

const NEVER = new AbortController().signal

async function answerAll(served: ServedCommands, answer: string): Promise<void> {
  for (const { ask } of served.daemon.services.asks.list('')) await served.run(['answer', ask.id, answer])
}

function closedWith(events: Awaited<ReturnType<ServedCommands['daemon']['ask']>>): Record<string, string> {
  const closed = events.find((event) => event.$case === 'askClosed')
  return closed?.$case === 'askClosed' ? JSON.parse(closed.value.content) : {}
}

test('answer reports missing arguments before it looks for a daemon', async () => {
  await using one = await makeTestHost()
  assert.equal(await main('crabtalk', ['answer'], one.host), 2)
  assert.match(one.stderr(), /error\[usage\]: Cannot answer: no question is given\nhint: crabtalk answer ID/)
})
