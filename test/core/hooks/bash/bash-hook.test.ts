import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { bashHook } from '../../../../src/core/hooks/bash/bash-hook.ts'
import { SEARCH_TOOLS } from '../../../../src/core/hooks/search/search-hook.ts'
import { openProcessHost } from '../../../../src/core/process/process-host.ts'
import { livingWith } from '../../../support/orphans.ts'
import { describeTool, runTool, type ToolPlace } from '../../../support/tool-run.ts'
import { makeTree, type Tree } from '../../../support/trees.ts'
import { until } from '../../../support/until.ts'

const processes = openProcessHost({ pid: process.pid })
after(() => processes[Symbol.asyncDispose]())
const hook = bashHook({ processes, homeDir: '', closed: [] })
const PATH = process.env['PATH']!

test('bash runs in the working directory and shows both outputs in order', async () => {
  await using tree = await makeTree({ 'a.txt': '' })
  const command = 'echo one; echo two >&2; echo three; pwd -P; ls'
  assert.equal(await say(tree, command), `one\ntwo\nthree\n${tree.root}\na.txt`)
})

test('bash supports bash syntax', async () => {
  await using tree = await makeTree({})
  assert.equal(await say(tree, '[[ bash == b* ]] && echo {1..3}'), '1 2 3')
})

test('bash uses sh where bash is missing', async () => {
  await using tree = await makeTree({ 'bin/': '' })
  await symlink('/bin/sh', tree.path('bin/sh'))
  assert.equal(await say(tree, 'echo "$0"', { env: { PATH: tree.path('bin') } }), tree.path('bin/sh'))
})

test('bash reports how a failed command ended, and when there was no output', async () => {
  await using tree = await makeTree({})
  assert.equal(await say(tree, 'echo no; exit 3'), '!no\n[exit code 3]')
  assert.equal(await say(tree, 'false'), '![exit code 1]')
  assert.equal(await say(tree, 'kill -KILL $$'), '![killed by SIGKILL]')
  assert.equal(await say(tree, 'true'), '[no output]')
})

test('bash never waits for a user: no input, no terminal, no pager, no editor', async () => {
  await using tree = await makeTree({})
  assert.equal(
    await say(tree, 'cat; read -r line || echo nobody; (: < /dev/tty) 2>/dev/null || echo no terminal'),
    'nobody\nno terminal',
  )
  const env = { PATH, TERM: 'xterm', FORCE_COLOR: '1', GIT_PAGER: 'less', OLDPWD: '/', KEPT: 'yes' }
  const shown = await say(
    tree,
    'echo $TERM $NO_COLOR $PAGER $GIT_PAGER $GIT_EDITOR $GIT_TERMINAL_PROMPT [$FORCE_COLOR$OLDPWD] $KEPT; echo "$PWD"',
    { env },
  )
  assert.equal(shown, `dumb 1 cat cat true 0 [] yes\n${tree.root}`)
})

test("bash has only the caller's environment", async () => {
  await using tree = await makeTree({})
  const names = (await say(tree, 'env | cut -d= -f1', { env: { PATH, MINE: '1' } })).split('\n')
  assert.ok(names.includes('MINE'))
  assert.ok(!names.includes('NODE_TEST_CONTEXT') && !names.includes('HOME'))
})

test('bash does not carry a cd from one call to the next', async () => {
  await using tree = await makeTree({ 'sub/': '' })
  assert.equal(await say(tree, 'cd sub && pwd -P'), tree.path('sub'))
  assert.equal(await say(tree, 'pwd -P'), tree.root)
})

test('bash shows colors and progress output as a terminal would', async () => {
  await using tree = await makeTree({})
  assert.equal(
    await say(tree, String.raw`printf '\033[31mred\033[0m\r\n 10%%\r100%%\nend'`),
    'red\n100%\nend',
  )
})

test('bash reports the newest lines of a running command', async () => {
  await using tree = await makeTree({})
  const output = Promise.withResolvers<string>()
  const progress = ({ message }: { message: string }) => message.includes('red') && output.resolve(message)
  const command = `seq 5; printf '\\n\\033[31mred\\033[0m\\n'; until [ -e seen ]; do sleep 0.05; done; echo over`
  const over = runTool(hook, ['bash', { command }], { cwd: tree.root, env: { PATH }, progress })
  assert.equal(await output.promise, '4\n5\nred\n')
  await writeFile(tree.path('seen'), '')
  assert.match((await over).output, /red\nover$/)
})

test('bash stores a long output in a file, and shows its start and its end', async () => {
  await using tree = await makeTree({})
  const output = await say(tree, 'seq 1 20000', { spillDir: tree.path('spill') })
  const [, left, path] = /\n\[(\d+) bytes are left out here; the whole output is in (.+)\]\n/.exec(output)!
  assert.ok(output.startsWith('1\n2\n') && output.endsWith('\n19999\n20000'), output.slice(0, 100))
  assert.ok(output.length < 35_000)
  const whole = await readFile(path!, 'utf8')
  assert.equal(whole, Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(''))
  assert.ok(Number(left) > whole.length - 35_000)
})

test('bash converts a flood of bytes to text', async () => {
  await using tree = await makeTree({})
  const output = await say(tree, 'head -c 1000000 /dev/urandom', { spillDir: tree.path('spill') })
  assert.ok(output.isWellFormed())
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters
  assert.doesNotMatch(output, /[\u0000-\u0008\u000b-\u001f\u007f]/)
  assert.match(output, /the whole output is in .*\.txt\]/)
})

test('bash ends a command and all its processes after the time limit', async () => {
  await using tree = await makeTree({})
  const mark = randomUUID()
  const command = `sh -c 'trap "" TERM; sleep 1000' & (sleep 1000) & echo begun; sleep 1000`
  const { output, isError } = await runTool(hook, ['bash', { command, timeout: 0.2 }], makePlace(tree, mark))
  assert.match(output, /^(begun\n)?\[ended here: /)
  assert.equal(isError, true)
  assert.deepEqual(await livingWith(mark), [])
})

test('bash ends a command and all its processes when the call is aborted', async () => {
  await using tree = await makeTree({})
  const mark = randomUUID()
  const stop = new AbortController()
  const command = '(sleep 1000) & touch begun; sleep 1000'
  const running = runTool(hook, ['bash', { command }], makePlace(tree, mark), stop.signal)
  running.catch(() => undefined)
  await until('the command runs', () => existsSync(tree.path('begun')))
  stop.abort()
  assert.deepEqual(await running, { output: 'Cancelled', isError: true })
  await until('nothing runs', async () => (await livingWith(mark)).length === 0)
})

test('background processes of a command run until the turn is over', async () => {
  await using tree = await makeTree({})
  const mark = randomUUID()
  const turn = new AbortController()
  const command = '(while :; do echo tick >> ticks; sleep 0.01; done) & sh -c "sleep 1000" & echo started'
  const { output, isError } = await runTool(hook, ['bash', { command }], {
    ...makePlace(tree, mark),
    turnOver: turn.signal,
  })
  assert.match(
    output,
    /^started\n\[\d processes are still running in the background; it ends with this turn\]$/,
  )
  assert.equal(isError, false)
  const ticks = async () => (await readFile(tree.path('ticks'), 'utf8')).length
  const before = await ticks()
  await until('it goes on', async () => (await ticks()) > before)
  turn.abort()
  await until('nothing runs', async () => (await livingWith(mark)).length === 0)
})

test('background processes end immediately when the turn is already over', async () => {
  await using tree = await makeTree({})
  const mark = randomUUID()
  await runTool(hook, ['bash', { command: 'sleep 1000 &' }], {
    ...makePlace(tree, mark),
    turnOver: AbortSignal.abort(),
  })
  await until('nothing runs', async () => (await livingWith(mark)).length === 0)
})

test('bash does not wait for processes that hold its output', async () => {
  await using tree = await makeTree({})
  const turn = new AbortController()
  const command = 'sleep 1000 & printf "%08000d" 1'
  const { output } = await runTool(hook, ['bash', { command }], {
    ...makePlace(tree, 'x'),
    turnOver: turn.signal,
  })
  assert.match(output, /^0{7999}1\n\[1 process is still running /)
  turn.abort()
})

test('describe() returns the command as it will run, and rejects invalid arguments', async () => {
  assert.deepEqual(await describeTool(hook, 'bash', { command: ' make\n', timeout: null }, '/'), {
    kind: 'bash',
    command: ' make\n',
  })
  assert.deepEqual(await describeTool(hook, 'bash', { command: 'ls; make' }, '/'), {
    kind: 'bash',
    command: 'ls; make',
    readOnly: [{ form: 'ls', paths: ['/'], trees: [] }, undefined],
  })
  const cases: [object, RegExp][] = [
    [{}, /command must be a string/],
    [{ command: '' }, /command is empty/],
    [{ command: ['ls'] }, /command must be a string/],
    [{ command: 'ls\0' }, /command has a NUL/],
    [{ command: 'x'.repeat(120_001) }, /command is longer than 120000 bytes/],
    [{ command: 'ls', timeout: 601 }, /timeout must be a number of seconds, 600 at most/],
    [{ command: 'ls', timeout: 0 }, /timeout must be/],
    [{ command: 'ls', timeout: 'soon' }, /timeout must be/],
  ]
  for (const [args, message] of cases) {
    await assert.rejects(describeTool(hook, 'bash', args, '/'), { kind: 'invalid', message })
  }
})

test('bash accepts a command up to the maximum length', async () => {
  await using tree = await makeTree({})
  assert.equal(await say(tree, `echo ${'x'.repeat(119_980)} | wc -c`), '119981')
})

test('bash in a missing folder says so', async () => {
  assert.match(
    await say({ root: '/nowhere' }, 'ls'),
    /^!Cannot start \w+: the directory \/nowhere does not exist$/,
  )
})

test('the schemas of bash, glob and grep together have at most 900 bytes', () => {
  const specs = [hook.schema?.(undefined as never, undefined as never), SEARCH_TOOLS].flat()
  const bytes = JSON.stringify(specs.map((spec) => ({ ...spec, readOnly: undefined }))).length
  assert.ok(bytes <= 900, `${bytes} bytes`)
})

/** Returns the output of a command; a failure begins with `!`. */
async function say(
  tree: Pick<Tree, 'root'>,
  command: string,
  more: Partial<ToolPlace> = {},
): Promise<string> {
  const place = { cwd: tree.root, env: { PATH }, ...more }
  const { output, isError } = await runTool(hook, ['bash', { command }], place)
  return isError ? `!${output}` : output
}

function makePlace(tree: Tree, mark: string): ToolPlace {
  return { cwd: tree.root, env: { PATH, CRAB_TEST: mark } }
}
