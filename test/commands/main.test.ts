import assert from 'node:assert/strict'
import { openSync } from 'node:fs'
import { test } from 'node:test'
import { formatError } from '../../src/cli/error-text.ts'
import { GLOBAL_OPTIONS } from '../../src/cli/sections.ts'
import { main } from '../../src/commands/main.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CrabError } from '../../src/core/base/errors.ts'
import { makeTestHost, type TestHostOptions } from '../support/test-host.ts'

test('main() lists the commands without arguments, and for every form of help', async () => {
  const plain = await run([])
  assert.match(plain.stdout, /^Usage: crabtalk <command> \[options\]\n\nTalk:\n/)
  const joined = plain.stdout.replaceAll(/\n {10,}/g, ' ')
  for (const { path, hidden } of CRABTALK) {
    const [word = '', verb = ''] = path
    const line = new RegExp(`^  ${word} .*\\b${verb}\\b`, 'm')
    if (hidden) assert.doesNotMatch(joined, line)
    else assert.match(joined, line)
  }
  for (const argv of [['help'], ['--help'], ['-h']]) assert.deepEqual(await run(argv), plain)
  assert.deepEqual([plain.code, plain.stderr], [0, ''])
})

test('vault env and vault header give no credentials of providers and logins', async () => {
  for (const argv of [
    ['env', 'KEY=provider:anthropic'],
    ['header', 'oauth:https://far.example/mcp'],
  ]) {
    const { code, stdout, stderr } = await run(['vault', ...argv])
    assert.deepEqual([code, stdout], [4, ''], argv.join(' '))
    assert.match(stderr, /it is not a credential of a server/)
  }
})

test('vault env and vault header print texts with credentials, and defaults for those that are missing', async () => {
  const env = { DB_USER: 'me', DB_PASS: 'p' }
  const words = [
    `URL=p://\${DB_USER}:\${DB_PASS}@h`,
    `TOKEN=\${NONE:-\${DB_PASS}}`,
    `A=\${NONE:-}`,
    'B=DB_USER',
  ]
  const variables = await run(['vault', 'env', ...words], { env })
  assert.deepEqual(JSON.parse(variables.stdout), { URL: 'p://me:p@h', TOKEN: 'p', A: '', B: 'me' })
  const header = await run(['vault', 'header', `X=a \${DB_USER}/\${NONE:-none}`], { env })
  assert.deepEqual(JSON.parse(header.stdout), { headers: { X: 'a me/none' } })
  const missing = await run(['vault', 'env', `URL=p://\${DB_USER}:\${NO_PASS}@h`], { env })
  assert.match(missing.stderr, /Cannot find NO_PASS: .*\n.*vault set NO_PASS/)
  assert.equal((await run(['vault', 'env', `\${DB_USER}/x`], { env })).code, 2)
})

test('main() prints the help of a command or a group, wherever the help option is', async () => {
  for (const argv of [
    ['send', '--help'],
    ['send', '-h'],
    ['help', 'send'],
    ['send', 'a prompt', '-v', '--help'],
    ['--help', 'send'],
  ]) {
    const { code, stdout } = await run(argv)
    assert.match(stdout, /Usage: crabtalk send \[prompt…\] \[options\]/, argv.join(' '))
    assert.equal(code, 0)
  }
  for (const argv of [
    ['agent', '--help'],
    ['help', 'agent'],
    ['--help', 'agent'],
    ['agent', 'help'],
  ]) {
    const { stdout } = await run(argv)
    assert.match(stdout, /Usage: crabtalk agent <command>/, argv.join(' '))
    assert.doesNotMatch(stdout, /^ {2}send/m)
  }
  assert.deepEqual(await run(['mcp', 'help', 'install']), await run(['mcp', 'install', '--help']))
  assert.match((await run(['mcp', 'help', 'instal'])).stderr, /mcp install/)
})

test('every page of help fits a terminal of 80 columns, except for examples', async () => {
  const groups = new Set(CRABTALK.filter(({ hidden }) => !hidden).map(({ path }) => path.slice(0, 1)))
  for (const path of [[], ...groups, ...CRABTALK.filter(({ hidden }) => !hidden).map((one) => one.path)]) {
    const { stdout } = await run([...path, '--help'])
    const [text = ''] = stdout.split('\nExamples:\n')
    const long = text
      .split('\n')
      .filter((line) => line.length > 80 && !/^ {2}(bash|zsh|fish|powershell) /.test(line))
    assert.deepEqual(long, [])
  }
})

test('every command has its place on the first page of help, and no page lacks a word', async () => {
  const visible = CRABTALK.filter(({ hidden }) => !hidden).map(({ path }) => path)
  const first = await run(['--help'])
  assert.doesNotMatch(first.stdout, /^Others:/m)
  assert.doesNotMatch((await run(['--help'], {}, 'crabup')).stdout, /^Others:|undefined/m)
  for (const path of [[], ...visible.map((words) => words.slice(0, 1)), ...visible])
    assert.doesNotMatch((await run([...path, '--help'])).stdout, /undefined/)
})

test('every command has help with an example and every option', async () => {
  for (const { path, examples, options } of CRABTALK.filter(({ hidden }) => !hidden)) {
    const { stdout, code } = await run([...path, '--help'])
    assert.equal(code, 0)
    for (const example of examples) assert.ok(stdout.includes(`  ${example}\n`))
    for (const { name } of [...options, ...GLOBAL_OPTIONS]) assert.match(stdout, new RegExp(`--${name}\\b`))
    assert.ok(examples.length > 0)
  }
})

/** Lines with unknown commands, and the expected message and hint. */
const UNKNOWN: [string[], string, string][] = [
  [['sned'], 'Unknown command "sned"', 'did you mean "crabtalk send"?'],
  [['sned', 'the', 'rest'], 'Unknown command "sned"', 'did you mean "crabtalk send"?'],
  [['frobnicate'], 'Unknown command "frobnicate"', 'see crabtalk --help'],
  [['help', 'sned'], 'Unknown command "sned"', 'did you mean "crabtalk send"?'],
  [['help', 'mcp', 'nope'], 'Unknown command "mcp nope"', 'see crabtalk mcp --help'],
  [['help', 'mcp', 'lst'], 'Unknown command "mcp lst"', 'did you mean "crabtalk mcp list"?'],
  [['mcp', 'nope', '--help'], 'Unknown command "mcp nope"', 'see crabtalk mcp --help'],
  [
    ['agent'],
    'Cannot run "crabtalk agent" alone: name one of list, show, create, edit, rename, delete',
    'see crabtalk agent --help',
  ],
  [['search', 'x'], 'Unknown command "search"', 'say which: conversation search or memory search'],
  [
    ['list'],
    'Unknown command "list"',
    'say which: events list, agent list, model list, conversation list, memory list, skill list, mcp list, cron list, token list, vault list, policy list or trust list',
  ],
  [['export'], 'Unknown command "export"', 'say which: conversation export or mcp export'],
  [['frob'], 'Unknown command "frob"', 'see crabtalk --help'],
  [['help', 'frob'], 'Unknown command "frob"', 'see crabtalk --help'],
  [
    ['events', '--no-daemon'],
    'Cannot run "crabtalk events" with --no-daemon: it needs a daemon',
    'run it without --no-daemon',
  ],
  [
    ['mcp', 'ps', '--no-daemon'],
    'Cannot run "crabtalk mcp ps" with --no-daemon: it needs a daemon',
    'run it without --no-daemon',
  ],
  [['memory', 'rm', 'x'], 'Unknown command "memory rm"', 'did you mean "crabtalk memory forget"?'],
  [['memory', 'add', 'x'], 'Unknown command "memory add"', 'did you mean "crabtalk memory remember"?'],
  [['memory', 'find', 'x'], 'Unknown command "memory find"', 'did you mean "crabtalk memory search"?'],
  [
    ['conversation', 'rm'],
    'Unknown command "conversation rm"',
    'did you mean "crabtalk conversation delete"?',
  ],
  [['memory', 'serach'], 'Unknown command "memory serach"', 'did you mean "crabtalk memory search"?'],
  [['agent', 'lst'], 'Unknown command "agent lst"', 'did you mean "crabtalk agent list"?'],
  [['sessions'], 'Unknown command "sessions"', 'did you mean "crabtalk conversation list"?'],
  [['login'], 'Unknown command "login"', 'did you mean "crabtalk connect"?'],
  [['resume'], 'Unknown command "resume"', 'did you mean "crabtalk --resume"?'],
  [['init'], 'Unknown command "init"', 'did you mean "crabtalk chat /init"?'],
  [
    ['--dangerously-skip-permissions'],
    'Unknown option --dangerously-skip-permissions',
    '--yolo allows everything that no rule denies',
  ],
  [['send', '--permission-mode', 'plan', 'hi'], 'Unknown option --permission-mode', 'use --mode'],
  [['update'], 'Unknown command "update"', 'did you mean "crabup self update"?'],
  [['--frob'], 'Unknown option --frob', 'see crabtalk chat --help'],
  [['--json', 'mcp', 'list'], 'Unknown option --json', 'did you mean "crabtalk mcp list --json"?'],
  [['--json', 'doctor'], 'Unknown option --json', 'did you mean "crabtalk doctor --json"?'],
  [['--hlep'], 'Unknown option --hlep', 'did you mean --help?'],
  [['--print', 'hello'], 'Unknown option --print', 'crabtalk send "…" prints the answer and exits'],
  [
    ['-c'],
    'Unknown option -c',
    'crabtalk continues the last conversation of this directory; --new starts another one',
  ],
  [
    ['Why is the sky blue?'],
    'Cannot open the chat: standard input and output are not a terminal',
    'crabtalk send runs one turn in a pipe',
  ],
  [
    ['--no-daemon', 'send', 'hello'],
    'Cannot open the chat: options come after the command',
    'crabtalk send --no-daemon',
  ],
  [
    ['--no-daemon', 'agent', 'list'],
    'Cannot open the chat: options come after the command',
    'crabtalk agent list --no-daemon',
  ],
  [['--no-daemon', 'events'], 'Cannot open the chat: options come after the command', 'crabtalk events'],
]

for (const [argv, message, hint] of UNKNOWN) {
  test(`main() explains what is wrong with ${argv.join(' ')}`, async () => {
    const { code, stdout, stderr } = await run(argv)
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(stderr, `crabtalk: error[usage]: ${message}\nhint: ${hint}\n`)
  })
}

test('the help of a command that is also a group lists the commands of the group', async () => {
  const { stdout } = await run(['events', '--help'])
  assert.match(
    stdout,
    /\n\nCommands:\n {2}events publish <source> \[payload\] {2}Publish [\s\S]*\n {2}events trace \[id\]/,
  )
  assert.match(stdout, /\n\nOptions:\n/)
  assert.doesNotMatch((await run(['events', 'list', '--help'])).stdout, /Commands:/)
})

test('main() says which command reads a pipe when the chat gets one', async () => {
  const { code, stderr } = await run([], { stdin: 'hello', terminals: ['stdout', 'stderr'] })
  assert.equal(code, 2)
  assert.match(stderr, /Cannot open the chat: .*\n.*crabtalk send runs one turn in a pipe/)
  assert.equal((await run([], { stdin: 'hello' })).code, 0)
})

test('main() runs a command and returns its exit code', async () => {
  const { code, stdout } = await run(['version'])
  assert.equal(code, 0)
  assert.match(stdout, /^crabtalk \d+\.\d+\.\d+\n$/)
})

test('main() has other commands for crabup', async () => {
  const { stdout } = await run([], {}, 'crabup')
  assert.match(stdout, /^Usage: crabup <command>/)
  assert.doesNotMatch(stdout, /send/)
})

test('main() prints the name crabup when it was started as that', async () => {
  assert.match((await run(['version', '--debug'], {}, 'crabup')).stdout, /^crabup \d/)
  const { stderr } = await run(['version', '--frob'], {}, 'crabup')
  assert.equal(stderr, 'crabup: error[usage]: Unknown option --frob\nhint: see crabup version --help\n')
  assert.match(
    (await run(['send'], {}, 'crabup')).stderr,
    /^crabup: error\[usage\]: Unknown command "send"\n/,
  )
})

test('main() accepts --debug with any command, and then prints where an error came from', async () => {
  const { code, stderr } = await run(['agent', 'show', 'nobody', '--debug'])
  assert.equal(code, 1)
  assert.match(stderr, /^crabtalk: error\[missing\]: .*\nhint: .*\nCrabError: .*\n {4}at /)
  assert.doesNotMatch((await run(['agent', 'show', 'nobody'])).stderr, / at /)
})

test('main() does not read arguments after -- as options', async () => {
  const { code, stderr, stdout } = await run(['agent', 'show', '--', '--help'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /Cannot find the agent "--help"/)
})

test('main() prints errors in colors on a terminal', async () => {
  const { stderr } = await run(['sned'], { terminals: ['stderr'], env: { TERM: 'xterm' } })
  assert.ok(stderr.startsWith('crabtalk: \u001b[31merror[usage]\u001b[39m: '))
})

test('main() fails when standard output cannot be written', async () => {
  const { code, stderr } = await run(['version'], { stdout: openSync('/dev/full', 'w') })
  assert.equal(code, 1)
  assert.match(stderr, /^crabtalk: error\[storage\]: Cannot write the output: /)
})

test('formatError() prints colors, hints and causes as requested', () => {
  const cause = new Error('below')
  const error = new CrabError('config', 'Cannot read it', { hint: 'look there', cause })
  const plain = { program: 'crabtalk', debug: false, color: false }
  assert.equal(formatError(error, plain), 'crabtalk: error[config]: Cannot read it\nhint: look there\n')
  assert.equal(formatError(new CrabError('failed', 'No'), plain), 'crabtalk: error[failed]: No\n')
  const colored = formatError(error, { ...plain, color: true })
  assert.ok(colored.startsWith('crabtalk: \u001b[31merror[config]\u001b[39m: Cannot read it\n'))
  const debug = formatError(error, { ...plain, debug: true })
  assert.match(debug, /CrabError: Cannot read it\n {4}at .*\ncaused by: Error: below\n {4}at /s)
  const bug = new CrabError('internal', 'Unexpected failure: x')
  assert.match(formatError(bug, plain), /hint: this is a bug; run it again with --debug/)
})

async function run(argv: readonly string[], options: TestHostOptions = {}, name = 'crabtalk') {
  await using test = await makeTestHost(options)
  const host = { ...test.host, env: { CRABTALK_HOME: test.folder, ...options.env } }
  const code = await main(name, argv, host)
  return { code, stdout: test.stdout(), stderr: test.stderr() }
}

test('main() suggests the nearest verb of a command that is also a group', async () => {
  const { code, stderr } = await run(['events', 'subscibe', 'a', 'b'])
  assert.equal(code, 2)
  assert.match(stderr, /Unknown command "events subscibe"/)
  assert.match(stderr, /did you mean "crabtalk events subscribe"\?/)
})
