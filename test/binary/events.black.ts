import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseOptions } from '../../src/cli/parse.ts'
import { EVENTS_COMMANDS } from '../../src/commands/events/table.ts'
import { makeExampleSandbox } from '../docs/example-sandbox.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import type { Finished, RunOptions } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { systemPrompt } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const ANSWERS: Readonly<Record<string, string>> = { scout: 'one \u001b[31mmatters\u0007', clerk: 'filed' }
const script = ({ json }: RecordedRequest): Reply => ({
  parts: [ANSWERS[/You are (\w+)/.exec(systemPrompt(json))?.[1] ?? ''] ?? '?'],
  usage: { input: 12_345, output: 67 },
})

test('a published event starts an agent, whose end starts the next; trace shows them as a tree', async () => {
  await using talk = await makeTalk(script)
  await makeAgents(talk)
  await using _daemon = await startSandboxDaemon(talk)
  const made = await crab(talk, ['events', 'subscribe', 'rss:fetch', 'scout', '--once'])
  assert.deepEqual(
    [made.stdout, made.stderr, made.code],
    ['subscription 1: rss:fetch starts scout once\n', '', 0],
  )
  const json = await crab(talk, ['events', 'subscribe', 'agent:scout:done', 'clerk', '--json'])
  assert.deepEqual(JSON.parse(json.stdout), {
    id: 2,
    source: 'agent:scout:done',
    agent: 'clerk',
    once: false,
  })
  const published = await crab(talk, ['events', 'publish', 'rss:fetch'], { stdin: 'three headlines\n' })
  assert.match(published.stdout, /^[0-9A-Z]{26}\n$/, published.stderr)
  const id = published.stdout.trim()
  const tree = async () => (await crab(talk, ['events', 'trace', id])).stdout
  await until('the chain is over', async () => /agent:clerk:done/.test(await tree()))
  assert.match(
    await tree(),
    new RegExp(
      [
        `^rss:fetch  ${id}  \\S.*  three headlines`,
        '└─ scout  done  \\w{26}',
        '   └─ agent:scout:done  \\w{26}  \\S.*  one matters',
        '      └─ clerk  done  \\w{26}',
        '         └─ agent:clerk:done  \\w{26}  \\S.*  filed\n$',
      ].join('\n'),
    ),
  )
  const { stdout } = await crab(talk, ['events', 'trace', '--json'])
  const sources = (JSON.parse(stdout) as { source: string; depth: number }[]).map(({ source, depth }) => [
    source,
    depth,
  ])
  assert.deepEqual(sources, [
    ['rss:fetch', 0],
    ['agent:scout:done', 1],
    ['agent:clerk:done', 2],
  ])
  const left = await crab(talk, ['events', 'list'])
  assert.equal(left.stdout, 'ID  SOURCE            AGENT  FIRES\n2   agent:scout:done  clerk  always\n')
  assert.equal((await crab(talk, ['events', 'unsubscribe', '2'])).stdout, 'ended subscription 2\n')
  const again = await crab(talk, ['events', 'unsubscribe', '2'])
  assert.deepEqual([again.code, /error\[missing\]/.test(again.stderr)], [1, true])
})

test('events follows every agent, one line each, until Ctrl-C, and escapes control characters of models', async () => {
  await using talk = await makeTalk(script)
  await makeAgents(talk)
  await using _daemon = await startSandboxDaemon(talk)
  const [lines, json, deltas] = [
    [],
    ['--json'],
    ['--kind', 'text-delta', '--kind', 'done', '-a', 'scout'],
  ].map((more) => talk.start(['events', ...more], { env: WITH_DAEMON })) as [Follower, Follower, Follower]
  await until('all follow', async () => {
    await crab(talk, ['events', 'publish', 'hello:there', 'x'])
    return [lines, json].every((one) => one.printed().includes('hello:there'))
  })
  await talk.send(['-a', 'scout', '-s', 'ann', 'go'], { env: WITH_DAEMON })
  await lines.prints(/ event {2}\w{26} agent:scout:done one matters$/m)
  await json.prints(/"agent:scout:done /)
  await until('the third follows', async () => {
    await talk.send(['-a', 'scout', 'go'], { env: WITH_DAEMON })
    return /done: scripted/.test(deltas.printed())
  })
  assert.match(lines.printed(), /^\d\d:\d\d:\d\d {2}scout\/ann {2}starts with scripted$/m)
  assert.match(
    lines.printed(),
    /^\d\d:\d\d:\d\d {2}scout\/ann {2}done: scripted 12\.3k in \(0 cached\) \/ 67 out$/m,
  )
  assert.match(deltas.printed(), /scout\/\S+ {2}text-delta "one/)
  assert.doesNotMatch(deltas.printed(), / event |begins/)
  for (const one of [lines, deltas]) assert.ok(!one.printed().includes('\u001b'))
  const records = json
    .printed()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const done = records.find(({ kind }) => kind === 'done')
  assert.deepEqual([done.agent, done.sender, typeof done.run], ['scout', 'ann', 'string'])
  assert.ok(records.some(({ kind, event }) => kind === 'published' && /^\w{26}$/.test(event)))
  for (const one of [lines, json, deltas]) {
    process.kill(one.child.pid!, 'SIGINT')
    const { code, stderr } = await one.finished
    assert.deepEqual([code, stderr], [130, ''])
  }
})

test('events ends quietly when its reader goes away, and reports when the daemon goes away', async () => {
  await using talk = await makeTalk(script)
  const daemon = await startSandboxDaemon(talk)
  const piped = talk.shell('(crabtalk events; echo "$?" >code) | head -n 1', { env: WITH_DAEMON })
  const left = talk.start(['events'], { env: WITH_DAEMON })
  await until('both saw one', async () => {
    await crab(talk, ['events', 'publish', 'hello:there', 'x'])
    return left.printed() !== '' && (await talk.shell('cat code 2>/dev/null || true')).stdout !== ''
  })
  assert.equal((await piped).stdout.split('\n').length, 2)
  assert.equal((await talk.shell('cat code')).stdout, '141\n')
  await daemon[Symbol.asyncDispose]()
  const { code, stderr } = await left.finished
  assert.equal(code, 69)
  assert.match(stderr, /error\[unavailable\]/)
})

test('events --mcp follows the servers of agents', async () => {
  await using talk = await makeTalk(script)
  await makeAgents(talk)
  await using _daemon = await startSandboxDaemon(talk)
  const [lines, json] = [['--mcp'], ['--mcp', '--json', '-a', 'scout']].map((more) =>
    talk.start(['events', ...more], { env: WITH_DAEMON }),
  ) as [Follower, Follower]
  const add = (name: string) =>
    crab(talk, ['mcp', 'add', '-a', 'scout', '--no-verify', name, '--', '/nonexistent/server'])
  let count = 0
  await until('both see a server fail', async () => {
    await add(`s${count++}`)
    await talk.send(['-a', 'scout', 'go'], { env: WITH_DAEMON })
    return [lines, json].every((one) => one.printed().includes('failed'))
  })
  assert.match(lines.printed(), /^\d\d:\d\d:\d\d {2}scout\/s\d+ {2}failed: .*nonexistent/m)
  const record = json
    .printed()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ kind }) => kind === 'failed')
  assert.deepEqual([record.agent, record.tools], ['scout', []])
  for (const one of [lines, json]) {
    process.kill(one.child.pid!, 'SIGINT')
    assert.equal((await one.finished).code, 130)
  }
})

test('a payload comes from an argument, or from standard input where that is given or piped', async () => {
  await using talk = await makeTalk(script)
  await using _daemon = await startSandboxDaemon(talk)
  const commands: readonly (readonly [readonly string[], RunOptions])[] = [
    [['an argument'], { stdin: 'open' }],
    [['-'], { stdin: 'two\nlines\n\n' }],
    [[], { stdin: 'piped' }],
    [[], {}],
    [['--', '-x'], {}],
  ]
  for (const [args, options] of commands) {
    const running = talk.start(['events', 'publish', 'src', ...args], { ...options, env: WITH_DAEMON })
    const { code, stderr } = await running.finished
    assert.deepEqual([code, stderr], [0, ''])
  }
  const { stdout } = await crab(talk, ['events', 'trace', '--json'])
  const payloads = (JSON.parse(stdout) as { payload: string }[]).map(({ payload }) => payload)
  assert.deepEqual(payloads, ['an argument', 'two\nlines\n', 'piped', '', '-x'])
  const binary = await crab(talk, ['events', 'publish', 'src'], { stdin: Buffer.from([0xff, 0xfe]) })
  assert.deepEqual([binary.code, /error\[invalid\]/.test(binary.stderr)], [65, true])
})

test('every example in the help that ends works', async () => {
  await using sandbox = await makeExampleSandbox()
  for (const name of ['scout', 'reviewer']) await sandbox.run(['agent', 'create', name])
  await using _daemon = await startSandboxDaemon(sandbox)
  const shell = (line: string) => sandbox.shell(`set -e; ${line}`, { env: WITH_DAEMON })
  const id = (await shell('crabtalk events publish rss:fetch x')).stdout.trim()
  for (const make of ['a', 'b', 'c']) await shell(`crabtalk events subscribe ${make} crab`)
  for (const { path, examples } of EVENTS_COMMANDS) {
    for (const line of path.length > 1 ? examples : []) {
      const { code, stderr } = await shell(line.replace(/ \| jq .*/, '').replace(/01M7\w+/, id))
      assert.deepEqual([code, stderr], [0, ''], line)
    }
  }
  const follow = EVENTS_COMMANDS.find(({ path }) => path.length === 1)!
  for (const line of follow.examples) {
    const [words = ''] = line.split(' | ')
    parseOptions({ program: 'crabtalk', command: follow }, words.split(' ').slice(2))
  }
})

test('subscribing works without a daemon and says so; other commands name the one that starts it', async () => {
  await using talk = await makeTalk(script)
  const made = await crab(talk, ['events', 'subscribe', 'rss', 'crab'])
  assert.deepEqual([made.code, /no daemon is running.*crabtalk daemon run/.test(made.stderr)], [0, true])
  assert.match((await crab(talk, ['events', 'list'])).stdout, /^1 {3}rss {5}crab/m)
  for (const args of [['publish', 'rss'], ['trace'], []]) {
    const { code, stderr } = await crab(talk, ['events', ...args])
    assert.equal(code, 69, args.join(' '))
    assert.match(stderr, /error\[unavailable\].*daemon[\s\S]*hint: .*crabtalk daemon run/)
  }
  const wrong = await crab(talk, ['events', '--mcp', '--kind', 'done'])
  assert.deepEqual([wrong.code, /error\[usage\]/.test(wrong.stderr)], [2, true])
  const kind = await crab(talk, ['events', '--kind', 'dnoe'])
  assert.equal(kind.code, 2)
  const missing = await crab(talk, ['events', 'subscribe', 'rss', 'nobody'])
  assert.deepEqual([missing.code, /Cannot find the agent "nobody"/.test(missing.stderr)], [1, true])
  assert.equal((await crab(talk, ['events', 'unsubscribe', 'x'])).code, 2)
})

test('a broken subscriptions file leaves a running daemon unchanged, and list names its line', async () => {
  await using talk = await makeTalk(script)
  await makeAgents(talk)
  await using _daemon = await startSandboxDaemon(talk)
  await crab(talk, ['events', 'subscribe', 'rss', 'scout'])
  await crab(talk, ['events', 'list'])
  await writeFile(join(talk.home, 'events/subscriptions.toml'), '[[subscription]]\nid = "x"\n')
  const listed = await crab(talk, ['events', 'list'])
  assert.match(listed.stdout, /^1 {3}rss/m)
  assert.match(listed.stderr, /^crabtalk: events\/subscriptions\.toml:2: /m)
  const id = (await crab(talk, ['events', 'publish', 'rss', 'still'])).stdout.trim()
  await until('it fires', async () =>
    /scout {2}done/.test((await crab(talk, ['events', 'trace', id])).stdout),
  )
  const refused = await crab(talk, ['events', 'subscribe', 'rss', 'scout'])
  assert.deepEqual([refused.code, /subscriptions\.toml:2/.test(refused.stderr)], [78, true])
})

type Follower = ReturnType<Talk['start']>

function crab(talk: Talk, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return talk.run(args, { ...options, env: WITH_DAEMON })
}

async function makeAgents(talk: Talk): Promise<void> {
  for (const name of ['scout', 'clerk']) {
    const { code, stderr } = await talk.run(['agent', 'create', name, '--prompt', `You are ${name}.`])
    assert.equal(code, 0, stderr)
  }
}
