import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

/** Invalid command lines, with the expected message and hint. */
const MISTAKES: [string[], RegExp, RegExp][] = [
  [['mcp'], /^Cannot run "crabtalk mcp" alone: name one of catalog, info, install, list/, /mcp --help$/],
  [['mcp', 'lst'], /^Unknown command "mcp lst"$/, /crabtalk mcp list/],
  [['mcp', 'rm', 'x'], /^Unknown command "mcp rm"$/, /"crabtalk mcp remove"/],
  [['mcp', 'ls'], /^Unknown command "mcp ls"$/, /"crabtalk mcp list"/],
  [['mcp', 'list', '--all', '-a', 'crab'], /^Cannot combine --all with a name or --agent$/, /give only one/],
  [['mcp', 'add', '--no-verify', 'far', 'ftp://h'], /ftp:\/\/: it is not an HTTP address$/, /https:/],
  [['mcp', 'list', 'x'], /it takes no/, /crabtalk mcp list$/],
  [['mcp', 'list', '--jsn'], /^Unknown option --jsn$/, /--json\?$/],
  [['mcp', 'get'], /(is|are) missing$/, /<name>$/],
  [['mcp', 'add', 'fs'], /(is|are) missing$/, /<name> <command>/],
  [['mcp', 'add', '--evn', 'A=1', 'fs', 'x'], /^Unknown option --evn$/, /--env\?$/],
  [['mcp', 'add', '-e', 'NOWHERE', 'fs', 'x'], /^Cannot use --env: NOWHERE is not set here$/, /--env LOG=1/],
  [['mcp', 'add', '--set', 'x', 'fs', 'x'], /^Cannot use --set: it is not key=value$/, /timeout_ms/],
  [['mcp', 'add', '--cwd'], /needs a value$/, /--cwd DIR/],
  [['mcp', 'set', 'fs', '--no-verfy'], /^Unknown option --no-verfy$/, /--no-verify\?$/],
  [['mcp', 'remove'], /(is|are) missing$/, /<name>$/],
  [['mcp', 'enable', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'call', 'fs'], /(is|are) missing$/, /<tool>/],
  [['mcp', 'ping', '--all', 'fs'], /^Cannot combine --all with a name, --agent or --scope$/, /give only one/],
  [
    ['mcp', 'add', '--header', 'x', 'far', 'https://h'],
    /^Cannot use --header: it is not Name: value$/,
    /X-Team/,
  ],
  [['mcp', 'add', '--transport', 'ws', 'far', 'https://h'], /--transport ws/, /http, sse/],
  [['mcp', 'add', '--auth', 'x', 'fs', 'server'], /^Cannot use --auth: it is for an address/, /--env/],
  [
    ['mcp', 'add', 'far', 'https://h', '--auth', 'x'],
    /an address takes no arguments$/,
    /put options before it/,
  ],
  [['mcp', 'ps', 'fs'], /it takes no/, /crabtalk mcp ps$/],
  [['mcp', 'ps', '--jsn'], /^Unknown option --jsn$/, /--json\?$/],
  [['mcp', 'logs'], /(is|are) missing$/, /<name>$/],
  [['mcp', 'logs', '-n', '1.5', 'fs'], /^Cannot use --lines 1\.5: /, /--lines 3/],
  [['mcp', 'logs', '--folow', 'fs'], /^Unknown option --folow$/, /--follow\?$/],
  [['mcp', 'reconnect', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'health', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'health', '--all', 'fs'], /^Cannot combine --all with a name or --agent$/, /give only one/],
  [['mcp', 'doctor', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'view', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'cost', '--all', '-a', 'crab'], /^Cannot combine --all with a name or --agent$/, /give only one/],
  [['mcp', 'trace', 'a', 'b'], /it takes no/, /./],
  [['mcp', 'trace', '--ful'], /^Unknown option --ful$/, /--full\?$/],
  [['mcp', 'tools', '--all'], /^Unknown option --all$/, /./],
  [
    ['policy'],
    /^Cannot run "crabtalk policy" alone: name one of list, add, remove, why$/,
    /crabtalk policy --help$/,
  ],
  [['policy', 'why'], /(is|are) missing$/, /<call>$/],
  [['policy', 'why', 'rm -rf build'], /^Cannot read the call rm -rf build: /, /bash\(npm test\)/],
  [['policy', 'why', 'bash'], /bash needs a command$/, /for example/],
]

test('invalid command lines of mcp and policy are explained, write nothing and exit 2', async () => {
  await using box = await makeSandbox()
  for (const [argv, message, hint] of MISTAKES) {
    assertFailed(await box.run(argv), 'usage', { message, hint })
  }
})

test('the help of every mcp and policy command has an example', async () => {
  await using box = await makeSandbox()
  const group = (await box.run(['mcp', '--help'])).stdout
  assert.match(group, /^Usage: crabtalk mcp <command> \[options\]$/m)
  const verbs = [...group.matchAll(/^ {2}mcp (\w+)/gm)].map(([, verb]) => verb!)
  const own = 'catalog info install list get add set remove enable disable'
  const others =
    'ping tools call login logout token ps view health doctor cost logs reconnect trace serve resources read prompts prompt import export'
  assert.deepEqual(verbs, `${own} ${others}`.split(' '))
  for (const words of [...verbs.map((verb) => ['mcp', verb]), ['policy', 'why']]) {
    const { stdout, stderr, code } = await box.run([...words, '--help'])
    assert.match(stdout, new RegExp(`^[A-Z].*\\n\\nUsage: crabtalk ${words.join(' ')} `))
    assert.match(stdout, new RegExp(`\\nExamples:\\n {2}.*crabtalk ${words.join(' ')}`))
    assert.deepEqual([stderr, code], ['', 0])
  }
})

test('--help after the command of a server belongs to that server', async () => {
  await using box = await makeSandbox()
  for (const flag of ['-h', '--help']) {
    const added = await box.run([
      'mcp',
      'add',
      '--no-verify',
      `x${flag.length}`,
      'psql-mcp',
      flag,
      'localhost',
    ])
    assert.equal(added.stdout, `added x${flag.length}\n`)
    assert.match((await box.run(['mcp', 'add', 'x', flag])).stdout, /^Add a server to an agent\n/)
  }
  const { stdout } = await box.run(['mcp', 'get', 'x2', '--json'])
  assert.deepEqual(JSON.parse(stdout).entry.args, ['-h', 'localhost'])
})
