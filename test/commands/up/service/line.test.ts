import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVICE_PLACEHOLDER } from '../../../../src/cli/service-rows.ts'
import { main } from '../../../../src/commands/main.ts'
import { CRABUP } from '../../../../src/commands/up/table.ts'
import { makeTestHost } from '../../../support/test-host.ts'

/** Invalid command lines of crabup, the exit code, and the expected message and hint. */
const WRONG: [string[], number, RegExp, RegExp][] = [
  [
    ['dameon', 'status'],
    4,
    /error\[no-service\]: Cannot use the service "dameon"/,
    /did you mean "daemon"\?/,
  ],
  [['clock', 'start'], 4, /"clock": it is not installed/, /crabup pull clock/],
  [['tui', 'start'], 4, /"tui": it runs when you open it/, /crabtalk/],
  [['start', 'daemon'], 2, /Unknown command "start"/, /did you mean "crabup daemon start"\?/],
  [['start'], 2, /Unknown command "start"/, /did you mean "crabup daemon start"\?/],
  [['dameon'], 2, /Unknown command "dameon"/, /did you mean "crabup daemon"\?/],
  [['send'], 2, /Unknown command "send"/, /did you mean "crabtalk send"\?/],
  [
    ['mcp', 'list'],
    2,
    /Unknown command "mcp list"|Unknown command "mcp"/,
    /did you mean "crabtalk mcp list"\?/,
  ],
  [['frob'], 2, /Unknown command "frob"/, /see crabup --help/],
  [['frobnicate'], 2, /Unknown command "frobnicate"/, /see crabup --help/],
  [['help', 'frobnicate'], 2, /Unknown command "frobnicate"/, /see crabup --help/],
  [['daemon', 'strat'], 2, /Unknown command "daemon strat"/, /did you mean "crabup daemon start"\?/],
  [['daemon', 'run'], 2, /Unknown command "daemon run"/, /did you mean "crabtalk daemon run"\?/],
  [['cron', 'add', 'x'], 2, /Unknown command "cron add"/, /did you mean "crabtalk cron add"\?/],
  [['daemon'], 2, /name one of start, stop, restart, status, enable, disable/, /see crabup daemon --help/],
  [
    ['daemon', 'status', 'x'],
    2,
    /Cannot run "crabup daemon status": it takes no arguments/,
    /crabup daemon status/,
  ],
  [['daemon', 'start', '--dryrun'], 2, /Unknown option --dryrun/, /did you mean --dry-run\?/],
  [['daemon', 'start', '--no-daemon'], 2, /Unknown option --no-daemon/, /see crabup daemon start --help/],
]

for (const [argv, exit, message, hint] of WRONG) {
  test(`main() explains what is wrong with crabup ${argv.join(' ')}`, async () => {
    const { code, stdout, stderr } = await run(argv)
    assert.deepEqual([code, stdout], [exit, ''])
    assert.match(stderr, message)
    assert.match(stderr, hint)
  })
}

for (const line of ['daemon start', 'daemon restart', 'daemon logs', 'cron start', 'cron status']) {
  test(`main() refers from crabtalk ${line} to crabup`, async () => {
    const { code, stderr } = await run(line.split(' '), 'crabtalk')
    assert.equal(code, 2)
    assert.match(stderr, new RegExp(`did you mean "crabup ${line}"\\?`))
  })
}

test('main() has a description of every group on the help pages of crabup', async () => {
  const groups = CRABUP.filter(({ hidden }) => !hidden).map(({ path }) => path[0]!)
  for (const argv of [[], ...new Set(groups)].map((word) => [word, '--help'].flat())) {
    const { code, stdout } = await run(argv)
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /undefined/, argv.join(' '))
  }
})

test('main() prints the help of one verb or of all, with the name of the service', async () => {
  for (const argv of [
    ['daemon', 'start', '--help'],
    ['help', 'daemon', 'start'],
  ]) {
    const { code, stdout } = await run(argv)
    assert.equal(code, 0)
    assert.match(stdout, /^Usage: crabup daemon start \[options\]$/m)
  }
  for (const argv of [
    ['help', 'cron'],
    ['cron', '--help'],
  ]) {
    const { stdout } = await run(argv)
    assert.match(stdout, /^Usage: crabup cron <command> \[options\]$/m)
    assert.match(stdout, /^ {2}cron restart {2}/m)
    assert.doesNotMatch(stdout, /^ {2}(daemon|<service>|version)/m)
  }
})

test('the first help page of crabup has one line for all service verbs', async () => {
  const { stdout } = await run([])
  assert.match(stdout, /^Services:\n {2}<service> +A service, such as daemon or cron: start, stop, /m)
  assert.doesNotMatch(stdout, /^ {2}daemon/m)
})

test('every page of help of crabup fits a terminal of 80 columns, except for examples', async () => {
  const rows = CRABUP.filter(({ hidden }) => !hidden)
  const paths = rows.map(({ path }) => path.map((word) => (word === SERVICE_PLACEHOLDER ? 'daemon' : word)))
  const groups = paths.filter(({ length }) => length > 1).map(([group = '']) => group)
  for (const path of [[], ...new Set(groups).values().map((group) => [group]), ...paths]) {
    const [text = ''] = (await run([...path, '--help'])).stdout.split('\nExamples:\n')
    const long = text
      .split('\n')
      .filter((line) => line.length > 80 && !/^ {2}(bash|zsh|fish|powershell) /.test(line))
    assert.deepEqual(long, [])
  }
})

/** Typed words, and some of the suggestions. */
const COMPLETED: [string[], string[], string[]][] = [
  [[''], ['daemon', 'cron', 'ps', 'pull', 'help'], [SERVICE_PLACEHOLDER, 'clock', 'start']],
  [['daemon', ''], ['start', 'stop', 'restart', 'status', 'enable', 'disable', 'logs'], ['daemon']],
  [['daemon', 'start', '--'], ['--dry-run', '--now', '--help'], ['--no-daemon']],
  [['help', 'cron', ''], ['start'], []],
]

for (const [words, offered, others] of COMPLETED) {
  test(`__complete suggests service commands of crabup for ${JSON.stringify(words)}`, async () => {
    const { code, stdout, stderr } = await run(['__complete', String(words.length), ...words])
    assert.deepEqual([code, stderr], [0, ''])
    const found = stdout.split('\n').map((line) => line.split('\t')[0])
    assert.deepEqual(
      offered.filter((word) => !found.includes(word)),
      [],
    )
    assert.deepEqual(
      others.filter((word) => found.includes(word)),
      [],
    )
  })
}

async function run(argv: readonly string[], name: 'crabtalk' | 'crabup' = 'crabup') {
  await using test = await makeTestHost()
  const code = await main(name, argv, { ...test.host, env: { CRABTALK_HOME: test.folder } })
  return { code, stdout: test.stdout(), stderr: test.stderr() }
}
