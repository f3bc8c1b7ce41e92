import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeTalk } from '../support/talk.ts'
import { makeToolTalk } from '../support/tool-talk.ts'
import { until } from '../support/until.ts'

const YOLO = ['--yolo']

test('bash runs in the directory of the caller, with its environment and without its input or keys', async () => {
  await using talk = await makeToolTalk()
  const cwd = join(talk.cwd, 'sub')
  await mkdir(cwd)
  const env = { MINE: 'yes', OPENAI_API_KEY: 'sk-secret', ANTHROPIC_API_KEY: 'sk-secret' }
  const command = 'pwd -P; echo $MINE "[$OPENAI_API_KEY$ANTHROPIC_API_KEY]"; cat'
  const answers = await talk.act([['bash', { command }]], YOLO, { cwd, env, stdin: 'not for bash' })
  assert.deepEqual(answers, [`${await realpath(cwd)}\nyes []`])
})

test('bash is denied without a rule, and the result names the rule that would allow it', async () => {
  await using talk = await makeToolTalk()
  const calls = [
    ['bash', { command: 'echo one' }],
    ['bash', { command: 'touch two' }],
  ] as const
  const [allowed, refused] = await talk.act(calls, ['--allow', 'bash(echo *)'])
  assert.equal(allowed, 'one')
  assert.match(refused!, /^Not permitted: bash: touch two: /)
  assert.match(refused!, /bash\(touch two\)/)
  assert.equal(existsSync(join(talk.cwd, 'two')), false)
})

test('each call starts in the directory of the first one', async () => {
  await using talk = await makeToolTalk()
  const calls = [
    ['bash', { command: 'mkdir a && cd a && touch b' }],
    ['bash', { command: 'ls; exit 2' }],
  ] as const
  assert.deepEqual(await talk.act(calls, YOLO), ['[no output]', 'a\n[exit code 2]'])
})

test('the whole of a long output can be read and searched', async () => {
  await using talk = await makeToolTalk()
  const [output] = await talk.act([['bash', { command: 'seq 1 100000' }]], YOLO)
  const [, whole = ''] = /the whole output is in (.+)\]/.exec(output!)!
  assert.ok(whole.startsWith(join(await realpath(talk.home), 'cache/output')), whole)
  assert.ok((await readFile(whole, 'utf8')).endsWith('99999\n100000\n'))
  const answers = await talk.act(
    [
      ['read', { path: whole, offset: 50_000, limit: 1 }],
      ['grep', { pattern: '^77777$', path: whole }],
    ],
    ['--on-ask', 'deny', '-c'],
  )
  assert.deepEqual(
    answers.map((answer) => answer.split('\n')[0]),
    ['50000', whole],
  )
  assert.equal(answers[1], `${whole}\n77777:77777`)
})

test('background processes of one call are available to the next, and end with the turn', async () => {
  await using talk = await makeToolTalk()
  const calls = [
    ['bash', { command: 'sleep 1000 & echo $! > pid; echo begun' }],
    ['bash', { command: 'kill -0 "$(cat pid)" && echo runs' }],
  ] as const
  const answers = await talk.act(calls, YOLO)
  assert.deepEqual(answers, [
    'begun\n[1 process is still running in the background; it ends with this turn]',
    'runs',
  ])
  await until('it is gone', async () => (await talk.processesLeft()).length === 0)
})

test('a command that exceeds its time limit is ended, and the turn continues', async () => {
  await using talk = await makeToolTalk()
  const [output] = await talk.act([['bash', { command: 'echo begun; sleep 1000', timeout: 1 }]], YOLO)
  assert.match(output!, /^(begun\n)?\[ended here: /)
})

test('Ctrl-C ends a command immediately', async () => {
  const command = 'touch begun; sleep 1000'
  await using talk = await makeTalk([
    { parts: [{ call: 'a', name: 'bash', args: JSON.stringify({ command }) }] },
  ])
  const running = talk.startSend([...YOLO, 'go'])
  await until('the command runs', () => existsSync(join(talk.cwd, 'begun')))
  running.child.kill('SIGINT')
  assert.equal((await running.finished).code, 130)
  await until('nothing runs', async () => (await talk.processesLeft()).length === 0)
})
