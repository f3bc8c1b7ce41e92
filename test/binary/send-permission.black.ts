import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import { makeTalk } from '../support/talk.ts'
import type { Terminal } from '../support/terminal.ts'
import { until } from '../support/until.ts'

const DONE: Reply = { parts: ['Done.'] }

test('a call that is allowed once is asked about again the next time', async () => {
  await using talk = await makeTalk([run('touch a'), run('touch a'), DONE])
  const terminal = talk.terminal(['send', 'go on'])
  await prompts(terminal, 1)
  assert.deepEqual(card(terminal).slice(0, 2), ['crabtalk: crab wants to run', '  │ touch a'])
  assert.ok(card(terminal).includes('  2     Yes, and allow bash(touch a) in this conversation'))
  assert.deepEqual(await readdir(talk.cwd), [])
  terminal.type('1\r')
  await prompts(terminal, 2)
  assert.deepEqual(await readdir(talk.cwd), ['a'])
  terminal.type('4\r')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.ok(terminal.output().endsWith('> 4\r\nDone.\r\n'))
})

test('a call that is allowed for the conversation is asked about once, also by a later send', async () => {
  const script = [run('touch a'), run('touch a'), DONE, run('touch a'), DONE, run('touch a'), DONE]
  await using talk = await makeTalk(script)
  const first = talk.terminal(['send', '-s', 'me', 'go on'])
  await prompts(first, 1)
  first.type('2\r')
  assert.deepEqual(await first.finished, { code: 0, signal: 0 })
  const second = talk.terminal(['send', '-s', 'me', 'go on'])
  assert.deepEqual(await second.finished, { code: 0, signal: 0 })
  assert.deepEqual([prompted(first), prompted(second)], [1, 0])
  const other = talk.terminal(['send', '-s', 'other', 'go on'])
  await prompts(other, 1)
  other.type('4\r')
  await other.finished
})

test("a call that is always allowed adds a rule to the agent's file and keeps its comments", async () => {
  await using talk = await makeTalk([run('touch a'), DONE, run('touch a'), DONE])
  await mkdir(join(talk.home, 'agents'), { recursive: true })
  const path = join(talk.home, 'agents/crab.toml')
  const text =
    '# Mine.\ndescription = "A crab"   # of the sea\n\n[permissions]\ndeny = ["bash(rm *)"]   # never\n'
  await writeFile(path, text)
  const first = talk.terminal(['send', 'go on'])
  await prompts(first, 1)
  first.type('3\r')
  assert.deepEqual(await first.finished, { code: 0, signal: 0 })
  const changed = await readFile(path, 'utf8')
  assert.match(changed, /^allow = \[\s*"bash\(touch a\)",?\s*\]$/m)
  for (const line of text.split('\n').filter((line) => line.includes('#'))) {
    assert.ok(changed.includes(line), `${line} is gone: ${changed}`)
  }
  const second = await talk.send(['-s', 'other', 'go on'])
  assert.deepEqual([second.code, second.stderr], [0, ''])
})

test('a refused call tells the model so, with the reason if the user gives one', async () => {
  await using talk = await makeTalk([run('touch a'), run('touch b'), run('touch c'), DONE])
  const terminal = talk.terminal(['send', 'go on'])
  await prompts(terminal, 1)
  terminal.type('4\r')
  await prompts(terminal, 2)
  terminal.type('5\r')
  await terminal.shows(/why: $/)
  terminal.type('use mkdir\r')
  await prompts(terminal, 3)
  terminal.type('5\r')
  await terminal.shows(/why: [\s\S]*why: $/)
  terminal.type('or nothing at all\r')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  const [, first, second, third] = talk.server.requests.map(lastResult)
  assert.match(first!, /^Not permitted: bash: touch a: the user said no$/)
  assert.match(second!, /the user said no: use mkdir$/)
  assert.match(third!, /the user said no: or nothing at all$/)
  assert.deepEqual(await readdir(talk.cwd), [])
})

test('Ctrl-D refuses; an unknown key asks again; ? shows everything', async () => {
  const script = Array.from({ length: 60 }, (_, at) => `touch ${at}`).join('\n')
  await using talk = await makeTalk([run(script), DONE])
  const terminal = talk.terminal(['send', 'go on'])
  await prompts(terminal, 1)
  assert.ok(card(terminal).includes('  … 20 more lines; ? shows all'))
  terminal.type('\r')
  await prompts(terminal, 2)
  terminal.type('?\r')
  await prompts(terminal, 3)
  assert.match(terminal.output(), /│ touch 59\r\n/)
  terminal.type('\x04')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.ok(terminal.output().endsWith('> \r\nDone.\r\n'))
})

test('Ctrl-C at a question cancels the run, and the conversation continues later', async () => {
  await using talk = await makeTalk([run('touch a'), DONE])
  const terminal = talk.terminal(['send', '-s', 'me', 'go on'])
  await prompts(terminal, 1)
  terminal.type('\x03')
  assert.deepEqual(await terminal.finished, { code: 0, signal: constants.signals.SIGINT })
  assert.ok(terminal.output().endsWith('> ^C\r\n'), JSON.stringify(terminal.output().slice(-30)))
  assert.deepEqual(await readdir(talk.cwd), [])
  assert.equal((await talk.send(['-s', 'me', 'again'])).code, 0)
  assert.deepEqual((await talk.sessions())[0]?.said, [
    'user: go on',
    'assistant: ',
    'tool: Not run: the turn was cancelled first.',
    'user: again',
    'assistant: Done.',
  ])
})

test('the terminal is restored after a question', async () => {
  await using talk = await makeTalk([run('touch a'), DONE])
  const terminal = talk.terminalShell(
    'stty -a >before; crabtalk send go on; stty -a >after; cmp before after && echo same',
  )
  await prompts(terminal, 1)
  terminal.type('1\r')
  await terminal.shows(/same\r\n$/)
  await terminal.finished
})

test('text typed before a question answers nothing', async () => {
  const gate = Promise.withResolvers<void>()
  await using talk = await makeTalk([{ parts: ['Wait.', gate.promise, ...run('touch a').parts!] }, DONE])
  const terminal = talk.terminal(['send', 'go on'])
  await terminal.shows(/Wait\./)
  terminal.type('1\r1\r')
  await terminal.shows(/1\r\n1\r\n/)
  gate.resolve()
  await prompts(terminal, 1)
  terminal.type('4\r')
  await terminal.finished
  assert.deepEqual([prompted(terminal), await readdir(talk.cwd)], [1, []])
})

test('a question reaches the terminal from the middle of a pipeline', async () => {
  await using talk = await makeTalk([run('touch a'), DONE])
  const terminal = talk.terminalShell('echo go on | crabtalk send | cat >answer; cat answer')
  await prompts(terminal, 1)
  terminal.type('1\r')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.equal(await readFile(join(talk.cwd, 'answer'), 'utf8'), 'Done.\n')
  assert.match(terminal.output(), /> 1\r\n[^\n]*Done\.\r\n$/) // a status line precedes it when the call takes long
})

test('two processes on one terminal ask one after the other', async () => {
  await using talk = await makeTalk((request) =>
    hasResult(request) ? DONE : run(`touch ${lastWord(request)}`),
  )
  const terminal = talk.terminalShell('crabtalk send one >1 & crabtalk send two >2 & wait; ls -1')
  await prompts(terminal, 1)
  await until('both wait', () => talk.server.requests.length === 2)
  terminal.type('1\r')
  await prompts(terminal, 2)
  terminal.type('1\r')
  await terminal.finished
  assert.match(terminal.output(), /[\nK]1\r\n2\r\none\r\ntwo\r\n$/)
  const cards = terminal.output().match(/wants to run[^>]*> 1\r\n/g) ?? []
  assert.equal(cards.length, 2)
})

test('the status line, a streamed answer and a question each have their own lines', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await using talk = await makeTalk([
    { parts: [gates[0]!.promise, 'Let me look', ...run('touch a').parts!] },
    { parts: [gates[1]!.promise, ...DONE.parts!] },
  ])
  const terminal = talk.terminal(['send', '--color', 'never', 'go on'])
  await terminal.shows(/scripted …$/)
  gates[0]!.resolve()
  await prompts(terminal, 1)
  terminal.type('1\r')
  await terminal.shows(/> 1\r\n.*scripted …$/s)
  gates[1]!.resolve()
  await terminal.finished
  const erase = '\r\u001b[2K'
  const status = `${erase}crab · scripted …`
  const [before, after = ''] = terminal.output().split('crabtalk: crab wants to run')
  assert.equal(before, `${status}${erase}Let me look\r\n`)
  const behind = after
    .slice(after.indexOf('> 1\r\n') + 5)
    .replace(`${erase}running bash touch a …${erase}`, '')
  assert.equal(behind, `${status}${erase}\r\nDone.\r\n`)
})

/** Commands that disguise themselves, and how they are shown. */
const HOSTILE: [string, string][] = [
  ['touch x\u001b[2K\u001b[1A', String.raw`touch x\x1b[2K\x1b[1A`],
  ['touch x\rls', String.raw`touch x\rls`],
  ['touch \u202exyz', String.raw`touch \u202exyz`],
  ['touch x\u200b', String.raw`touch x\u200b`],
]

for (const [command, shown] of HOSTILE) {
  test(`a question shows what ${JSON.stringify(command)} is`, async () => {
    await using talk = await makeTalk([run(command), DONE])
    const terminal = talk.terminal(['send', '-q', '--color', 'never', 'go on'])
    await prompts(terminal, 1)
    assert.equal(card(terminal)[1], `  │ ${shown}`)
    terminal.type('4\r')
    await terminal.finished
    const output = terminal.output().replaceAll('\r\n', '')
    assert.ok(['\r', '\u001b', '\u202e', '\u200b'].every((char) => !output.includes(char)))
  })
}

test('without a terminal no question is asked: the answer comes, and the exit code is 4', async () => {
  await using talk = await makeTalk((request) => (hasResult(request) ? DONE : run('npm test')))
  const { stdout, stderr, code } = await talk.send(['go on'])
  assert.deepEqual([stdout, code], ['Done.\n', 4])
  const [denied, error, hint, ...rest] = stderr.split('\n')
  assert.match(
    denied!,
    /^crabtalk: denied bash: npm test \(.*no one can be asked\); allow it with --allow 'bash\(npm test \*\)'$/,
  )
  assert.match(error!, /^crabtalk: error\[denied\]: 1 tool call was denied$/)
  assert.match(hint!, /^hint: /)
  assert.deepEqual(rest, [''])
  assert.match(lastResult(talk.server.requests.at(-1)), /^Not permitted: bash: npm test: /)
  for (const form of [['--buffer'], ['--last']]) {
    const waiting = await talk.send([...form, 'go on'])
    assert.deepEqual([waiting.stdout, waiting.code], ['Done.\n', 4])
  }
  const json = await talk.send(['--output', 'json', 'go on'])
  const result = JSON.parse(json.stdout)
  assert.deepEqual(
    [result.ok, result.exit, result.status, result.text, result.error.code],
    [false, 4, 'denied', 'Done.', 'denied'],
  )
  const { reason, ...call } = result.denied[0]
  assert.deepEqual(call, {
    tool: 'bash',
    server: null,
    action: 'bash: npm test',
    rules: ['bash(npm test *)'],
    by: 'nobody',
  })
  assert.match(reason, /no one can be asked/)
})

test('a process without a controlling terminal asks nothing, whatever its streams are', async () => {
  await using talk = await makeTalk([run('touch a'), DONE])
  const terminal = talk.terminalShell('setsid -w crabtalk send go on; echo "code $?"')
  await terminal.finished
  assert.match(terminal.output(), /^Done\.\r\n.*denied bash: touch a .*\r\ncode 4\r\n$/s)
  assert.equal(prompted(terminal), 0)
  const answer = await talk.shell('crabtalk send --on-ask tty go on')
  assert.equal(answer.code, 2)
  assert.match(answer.stderr, /Cannot ask on the terminal: this process has none\nhint: /)
})

test('--on-ask fail ends the turn immediately with 4', async () => {
  await using talk = await makeTalk([run('npm test'), DONE])
  const { stdout, stderr, code } = await talk.send(['--on-ask', 'fail', 'go on'])
  assert.deepEqual([stdout, code, talk.server.requests.length], ['', 4, 1])
  assert.match(
    stderr,
    /^crabtalk: error\[denied\]: Cannot continue without permission for bash: npm test: .*\nhint: allow it with --allow 'bash\(npm test \*\)'\n$/,
  )
})

test('a call that a rule allows or denies is not asked about, and is not a failure', async () => {
  const runs: [string[], string[]][] = [
    [['--allow', 'bash(touch *)'], ['a']],
    [['--allow', 'bash', '--allow', 'bash(touch b)'], ['a']],
    [['--yolo'], ['a']],
    [['--yolo', '--deny', 'bash(touch *)'], []],
    [['--allow', 'bash(touch a)', '--deny', 'bash'], []],
  ]
  for (const [options, files] of runs) {
    await using talk = await makeTalk([run('touch a'), DONE])
    const { stdout, stderr, code } = await talk.send([...options, 'go on'])
    assert.deepEqual([stdout, stderr, code], ['Done.\n', '', 0], options.join(' '))
    assert.deepEqual(await readdir(talk.cwd), files)
  }
})

test('an invalid rule is rejected before any question, with a correct example', async () => {
  await using talk = await makeTalk([])
  const { stderr, code } = await talk.send(['--allow', 'bash(git', 'go on'])
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^crabtalk: error\[usage\]: Cannot use --allow "bash\(git": it .*\nhint: for example --allow '.*'\n$/,
  )
  assert.equal(talk.server.requests.length, 0)
})

test('a command runs in the environment of its caller, without the keys of models', async () => {
  await using talk = await makeTalk([run('echo "$MINE/$OPENAI_API_KEY/$AWS_SECRET_ACCESS_KEY"'), DONE])
  const env = { MINE: 'mine', OPENAI_API_KEY: 'sk-secret', AWS_SECRET_ACCESS_KEY: 'secret' }
  await talk.send(['--yolo', 'go on'], { env })
  assert.match(lastResult(talk.server.requests.at(-1)), /^mine\/\/\n?/)
})

test('an agent asks the user at the terminal', async () => {
  const questions = [
    { question: 'Which one?', header: 'Database', options: [{ label: 'SQLite' }, { label: 'Postgres' }] },
    {
      question: 'Which colours?',
      options: ['red', 'green', 'blue'].map((label) => ({ label })),
      multi: true,
    },
    { question: 'Why?' },
  ]
  await using talk = await makeTalk([{ parts: [call('ask_user', { questions })] }, DONE])
  const terminal = talk.terminal(['send', '--color', 'never', 'go on'])
  await prompts(terminal, 1)
  assert.match(
    terminal.output(),
    /crabtalk: crab asks \(Database\)\r\n {2}│ Which one\?\r\n {2}1 {5}SQLite\r\n/,
  )
  terminal.type('2\r')
  await prompts(terminal, 2)
  terminal.type('1,3\r')
  await prompts(terminal, 3)
  terminal.type('because\r')
  assert.deepEqual(await terminal.finished, { code: 0, signal: 0 })
  assert.deepEqual(JSON.parse(lastResult(talk.server.requests.at(-1))), {
    'Which one?': 'Postgres',
    'Which colours?': 'red, blue',
    'Why?': 'because',
  })
})

test('an agent that asks without a terminal continues, and that is not a failure', async () => {
  await using talk = await makeTalk([
    { parts: [call('ask_user', { questions: [{ question: 'Why?' }] })] },
    DONE,
  ])
  const { stdout, stderr, code } = await talk.send(['go on'])
  assert.deepEqual([stdout, stderr, code], ['Done.\n', '', 0])
  assert.match(lastResult(talk.server.requests.at(-1)), /^No one is there to answer/)
})

/** Creates a reply that runs a command. */
function run(command: string): Reply {
  return { parts: [call('bash', { command })] }
}

function call(name: string, args: object) {
  return { call: `c${Math.random()}`, name, args: JSON.stringify(args) }
}

/** Waits until `count` prompts have been shown, and the last one is pending. */
async function prompts(terminal: Terminal, count: number): Promise<void> {
  await until(
    `prompt ${count} is shown`,
    () => prompted(terminal) === count && terminal.output().endsWith('\r\n> '),
  )
}

function prompted(terminal: Terminal): number {
  return terminal.output().match(/\r\n> /g)?.length ?? 0
}

/** Returns the lines of the last card, without colors. */
function card(terminal: Terminal): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors are made of them
  const plain = terminal.output().replaceAll(/\u001b\[\d+m/g, '')
  return plain.slice(plain.lastIndexOf('crabtalk: ')).split('\r\n')
}

type Messages = { role: string; content: unknown }[]

/** Returns the last tool result of a request. */
function lastResult(request: RecordedRequest | undefined): string {
  const messages = (request?.json['messages'] ?? []) as Messages
  return String(messages.findLast(({ role }) => role === 'tool')?.content ?? '')
}

function hasResult(request: RecordedRequest): boolean {
  return (request.json['messages'] as Messages).some(({ role }) => role === 'tool')
}

function lastWord(request: RecordedRequest): string {
  const last = (request.json['messages'] as Messages).at(-1)
  return JSON.stringify(last?.content).match(/\w+(?=\W*$)/)?.[0] ?? ''
}
