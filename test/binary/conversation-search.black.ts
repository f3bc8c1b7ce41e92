import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { writeStoredTalks } from '../support/stored-talk.ts'
import { assertFailed, makeTalk, modesUnder } from '../support/talk.ts'

const DAY = 86_400_000
const FERRY = [
  'Hello',
  'Hello, what can I do for you?',
  'Which ferry did we want to take from Stralsund to Hiddensee in June?',
  'The one at 9:30, because it takes bicycles along.',
  'Good, then book it.',
]

test('finds a conversation of a year ago by two of its words, in process and through a daemon', async () => {
  await using box = await makeSandbox()
  const ids = await writeHistory(box)
  const expected = [
    `${short(ids[0])}  1y ago · crab/me · Holidays`,
    '  crab: Hello, what can I do for you?',
    `> you: ${FERRY[2]}`,
    `  crab: ${FERRY[3]}`,
    '',
  ].join('\n')
  const alone = await box.run(['conversation', 'search', 'hiddensee', 'ferry'])
  assert.deepEqual([alone.stdout, alone.stderr, alone.code], [expected, '', 0])
  await using _daemon = await startSandboxDaemon(box)
  const through = await box.run(['conversation', 'search', 'Hiddensee ferry'], { env: WITH_DAEMON })
  assert.deepEqual([through.stdout, through.stderr, through.code], [expected, '', 0])
})

test('conversation search highlights matches on a terminal, truncates to its width, and prints how to continue', async () => {
  await using box = await makeSandbox()
  const [id] = await writeHistory(box)
  const terminal = box.terminal(['conversation', 'search', 'hiddensee', 'ferry'], { columns: 40 })
  assert.equal((await terminal.finished).code, 0)
  const output = terminal.output()
  const red = (text: string) => `\u001b[31m\u001b[1m${text}\u001b[22m\u001b[39m`
  assert.ok(output.includes(`Which ${red('ferry')} did we want`), output)
  assert.ok(output.includes(`${red('Hiddensee')} in June?`), output)
  assert.match(output, /The one at 9:30, because it tak…/)
  assert.match(
    output,
    /^Continue one: crabtalk chat --resume ID\r?\nRead one: crabtalk conversation show ID\r?$/m,
  )
  const plain = box.terminal(['conversation', 'search', 'ferry'], { columns: 60, env: { NO_COLOR: '1' } })
  await plain.finished
  assert.ok(!plain.output().includes('\u001b'), plain.output())
  const show = await box.run(['conversation', 'show', short(id)])
  assert.match(show.stdout, /bicycles/)
})

test('conversation search --json prints ids, times, windows and the bytes that match', async () => {
  await using box = await makeSandbox()
  const [id] = await writeHistory(box)
  const { partial, hits } = await searchJson(box, '-C', '2', 'Hiddensee', 'ferry')
  assert.deepEqual([partial, hits.length], [false, 1])
  const [hit] = hits
  assert.deepEqual(
    [hit.id, hit.agent, hit.sender, hit.title, hit.messages],
    [id, 'crab', 'me', 'Holidays', 5],
  )
  assert.deepEqual(
    hit.window.map(({ seq, role }: { seq: number; role: string }) => `${seq} ${role}`),
    ['1 user', '2 assistant', '3 user', '4 assistant', '5 user'],
  )
  const match = hit.window.find(({ seq }: { seq: number }) => seq === hit.seq)
  const bytes = Buffer.from(match.text)
  assert.deepEqual(
    match.matches.map(([begin, end]: [number, number]) => bytes.subarray(begin, end).toString()),
    ['ferry', 'Hiddensee'],
  )
  assert.ok(Date.now() - Date.parse(match.ts) > 365 * DAY)
  assert.deepEqual((await searchJson(box, '-C0', 'hiddensee')).hits[0].window.length, 1)
})

test('conversation search filters by sender, agent, directory and time, and limits the number of results', async () => {
  await using box = await makeSandbox()
  await writeHistory(box)
  const titles = async (...args: string[]) =>
    (await searchJson(box, ...args)).hits.map(({ title }: { title: string }) => title).toSorted()
  assert.deepEqual(await titles('coffee'), ['Beans', 'Kitchen', 'Offices'])
  assert.deepEqual(await titles('-s', 'ann', 'coffee'), ['Beans'])
  assert.deepEqual(await titles('--here', 'coffee'), ['Kitchen'])
  assert.deepEqual(await titles('--cwd', '/srv', 'coffee'), ['Offices'])
  assert.deepEqual(await titles('--since', '7d', 'coffee'), ['Beans'])
  assert.deepEqual(await titles('--until', '7d', 'coffee'), ['Kitchen', 'Offices'])
  assert.deepEqual(await titles('--since', '2mo', '--until', '7d', 'coffee'), ['Kitchen'])
  assert.equal((await titles('-n', '2', 'coffee')).length, 2)
  assertFailed(await box.run(['conversation', 'search', '-a', 'nobody', 'coffee']), 'missing', {
    message: /"nobody"/,
  })
})

test('conversation search finds the newest messages, including tool calls', async () => {
  const call = { call: 'c1', name: 'read', args: '{"path":"zebra.txt"}' }
  await using talk = await makeTalk([{ parts: ['Let me look.', call] }, { parts: ['There is none.'] }])
  await talk.send(['-s', 'me', 'Look into that file'])
  const { stdout } = await talk.run(['conversation', 'search', 'zebra'])
  assert.match(
    stdout,
    /^\S{8} {2}\S.* · crab\/me · Look into that file\n {2}you: Look into that file\n> crab: Let me look\..*zebra\.txt.*\n {2}read: /,
  )
})

test('conversation search exits 1 when nothing is found, and 2 for invalid arguments', async () => {
  await using box = await makeSandbox()
  const nothing = await box.run(['conversation', 'search', 'quinoa', 'salad'])
  assert.deepEqual(
    [nothing.code, nothing.stdout, nothing.stderr],
    [1, '', 'Nothing found for quinoa salad\n'],
  )
  const signs = await box.run(['conversation', 'search', '++'])
  assert.match(signs.stderr, /^Nothing found for \+\+: only words are searched, not punctuation/)
  const json = await box.run(['conversation', 'search', '--json', 'quinoa'])
  assert.deepEqual([json.code, JSON.parse(json.stdout), json.stderr], [1, { partial: false, hits: [] }, ''])
  for (const [args, message] of [
    [[], /missing$/],
    [[' '], /^Cannot search: no words are given$/],
    [['-n', '21', 'x'], /^Cannot use --limit 21: a search returns at most 20$/],
    [[''], /: <words…> is empty$/],
    [['-n', '0', 'x'], /^Cannot use --limit 0/],
    [['-n', '-1', 'x'], /^Cannot use --limit -1: /],
    [['--since', '-1d', 'x'], /^Cannot use --since -1d: /],
    [['--since', '2026-03-01', '--until', '2026-01-01', 'x'], /^Cannot search: --until is not later/],
    [['--since', 'soon', 'x'], /^Cannot use --since soon: /],
    [['--until', '2026-02-30', 'x'], /^Cannot use --until 2026-02-30: /],
    [['--here', '--cwd', '/', 'x'], /^Cannot combine --cwd and --here$/],
    [['-C', 'x', 'x'], /^Cannot use --context x: /],
  ] as const) {
    assertFailed(await box.run(['conversation', 'search', ...args]), 'usage', { message })
  }
  assert.deepEqual(await modesUnder(box.home), [])
})

test('conversation search escapes control characters of messages on a terminal', async () => {
  await using box = await makeSandbox()
  const answers = ['before \u001b]0;title\u0007\u001b[2Jneedle\u009b31m after\u202e']
  await writeStoredTalks(box.home, [{ at: Date.now() - DAY, said: answers, title: '\u001b[31mred' }])
  const terminal = box.terminal(['conversation', 'search', 'needle'], { env: { NO_COLOR: '1' } })
  await terminal.finished
  assert.match(terminal.output(), /needle/)
  const dangerous = ['\u001b', '\u0007', '\u009b', '\u202e']
  assert.deepEqual(
    dangerous.filter((char) => terminal.output().includes(char)),
    [],
  )
})

test('conversation list prints pages, and the conversations of a directory', async () => {
  await using box = await makeSandbox()
  await writeHistory(box)
  const titles = async (...args: string[]) => {
    const { stdout, stderr } = await box.run(['conversation', 'list', '--json', ...args])
    assert.equal(stderr, '')
    return JSON.parse(stdout).map(({ title }: { title: string }) => title)
  }
  assert.deepEqual(await titles(), ['Beans', 'Kitchen', 'Offices', 'Holidays'])
  assert.deepEqual(await titles('-n', '2', '--offset', '1'), ['Kitchen', 'Offices'])
  assert.deepEqual(await titles('--offset', '9'), [])
  assert.deepEqual(await titles('--here'), ['Kitchen'])
  const beyond = await box.run(['conversation', 'list', '--offset', '9'])
  assert.deepEqual([beyond.stdout, beyond.stderr, beyond.code], ['', 'There are only 4\n', 0])
  const terminal = box.terminal(['conversation', 'list', '-n', '3'], { columns: 120 })
  await terminal.finished
  assert.match(terminal.output(), /4 in total: --offset 3 shows the next ones/)
})

/** Writes four conversations: one of a year ago, and three about coffee. */
async function writeHistory(box: Sandbox): Promise<string[]> {
  const now = Date.now()
  return await writeStoredTalks(box.home, [
    { at: now - 370 * DAY, said: FERRY, title: 'Holidays' },
    { at: now - 90 * DAY, said: ['Where do they have coffee?'], title: 'Offices', cwd: '/srv' },
    { at: now - 30 * DAY, said: ['The coffee machine leaks'], title: 'Kitchen', cwd: box.cwd },
    { at: now - 2 * DAY, said: ['Which coffee is the best?'], title: 'Beans', sender: 'ann' },
  ])
}

// biome-ignore lint/suspicious/noExplicitAny: what a program would read
async function searchJson(box: Sandbox, ...args: readonly string[]): Promise<any> {
  const { stdout, stderr, code } = await box.run(['conversation', 'search', '--json', ...args])
  assert.deepEqual([stderr, code], ['', 0], args.join(' '))
  return JSON.parse(stdout)
}

function short(id: string | undefined): string {
  return id?.slice(-8) ?? ''
}
