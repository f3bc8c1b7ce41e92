import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertFailed, lastPrompt, makeTalk, type Talk } from '../support/talk.ts'

// The ways to have no standard input, and below the ways to have some: one row each.
const NOTHING = [
  ['/dev/null', '</dev/null'],
  ['closed', '<&-'],
  ['an empty file', '<empty'],
  ['an empty pipe', null],
] as const
const SOMETHING = [
  ['a file', (command: string) => `${command} <data`],
  ['a pipe with data', (command: string) => `cat data | ${command}`],
  [
    'a pipe that takes its time',
    (command: string) => `(printf 'a\\n'; sleep 0.3; printf 'b\\n') | ${command}`,
  ],
  ['a here-document', (command: string) => `${command} <<'END'\na\nb\nEND`],
  ['the rest of a file', (command: string) => `(read line; ${command}) <longer`],
] as const

test('a prompt is sent alone when standard input is empty', async () => {
  await using talk = await makeTalkWithFiles()
  for (const [name, redirection] of NOTHING) {
    const command = 'crabtalk send hello'
    const { stdout, stderr, code } = await talk.shell(
      redirection ? `${command} ${redirection}` : `: | ${command}`,
    )
    assert.deepEqual([stdout, stderr, code], ['ok\n', '', 0], name)
    assert.equal(lastPrompt(talk.server.requests.at(-1)), 'hello', name)
  }
})

test('without a prompt, empty standard input exits 2, and nothing is sent or stored', async () => {
  await using talk = await makeTalkWithFiles()
  for (const [name, redirection] of NOTHING) {
    const command = 'crabtalk send'
    const finished = await talk.shell(redirection ? `${command} ${redirection}` : `: | ${command}`)
    assertFailed(finished, 'usage', {
      message: /^Cannot send: there is no prompt$/,
      hint: /pipe text into it/,
    })
    assert.equal(talk.server.requests.length, 0, name)
  }
  assert.deepEqual(await talk.sessions(), [])
})

test('a terminal as standard input is ignored, and without a prompt exits 2', async () => {
  await using talk = await makeTalkWithFiles()
  const withPrompt = talk.terminal(['send', 'hello'])
  assert.deepEqual(await withPrompt.finished, { code: 0, signal: 0 })
  assert.equal(lastPrompt(talk.server.requests[0]), 'hello')
  const without = talk.terminal(['send'])
  assert.deepEqual(await without.finished, { code: 2, signal: 0 })
  assert.match(without.output(), /there is no prompt/)
})

test('data on standard input is appended to a prompt', async () => {
  await using talk = await makeTalkWithFiles()
  for (const [name, pipe] of SOMETHING) {
    const { stdout, stderr, code } = await talk.shell(pipe('crabtalk send hello'))
    assert.deepEqual([stdout, stderr, code], ['ok\n', '', 0], name)
    assert.equal(lastPrompt(talk.server.requests.at(-1)), 'hello\n\n<stdin>\na\nb\n</stdin>', name)
  }
})

test('data on standard input is the prompt, verbatim, when there is no other', async () => {
  await using talk = await makeTalkWithFiles()
  for (const [name, pipe] of SOMETHING) {
    const { stdout, stderr, code } = await talk.shell(pipe('crabtalk send'))
    assert.deepEqual([stdout, stderr, code], ['ok\n', '', 0], name)
    assert.equal(lastPrompt(talk.server.requests.at(-1)), 'a\nb\n', name)
  }
})

test('an open pipe without data exits 66 after --stdin-wait, with and without a prompt', async () => {
  await using talk = await makeTalkWithFiles()
  const wait = ['--stdin-wait', '1s']
  const [withPrompt, without] = await Promise.all([
    talk.send([...wait, 'hello'], { stdin: 'open' }),
    talk.send(wait, { stdin: 'open' }),
  ])
  for (const finished of [withPrompt, without]) {
    assertFailed(finished, 'no-input', {
      message: /^Cannot read standard input: the pipe sent nothing for 1 s$/,
      hint: /--no-stdin/,
    })
  }
  assert.equal(talk.server.requests.length, 0)
})

test('after 2 s a notice says that it waits for a silent pipe, and data that arrives later is used', async () => {
  await using talk = await makeTalkWithFiles()
  const running = talk.startSend(['hello'], { stdin: 'open' })
  await running.prints(/^crabtalk: waiting for standard input \(--no-stdin ignores it\)\n$/, 'stderr')
  running.child.stdin?.end('late')
  const { stdout, code } = await running.finished
  assert.deepEqual([stdout, code], ['ok\n', 0])
  assert.equal(lastPrompt(talk.server.requests[0]), 'hello\n\n<stdin>\nlate\n</stdin>')
})

test('--quiet waits without a notice', async () => {
  await using talk = await makeTalkWithFiles()
  const finished = await talk.send(['-q', '--stdin-wait', '2500ms', 'hello'], { stdin: 'open' })
  assertFailed(finished, 'no-input', { message: /nothing for 2.5 s$/ })
})

test('a pipe that has started sending may pause for longer than --stdin-wait', async () => {
  await using talk = await makeTalkWithFiles()
  const script = '(echo begun; sleep 1.5; echo done) | crabtalk send --stdin-wait 300ms'
  assert.equal((await talk.shell(script)).code, 0)
  assert.equal(lastPrompt(talk.server.requests[0]), 'begun\ndone\n')
})

test('--no-stdin does not read standard input', async () => {
  await using talk = await makeTalkWithFiles()
  const { stdout, code } = await talk.shell('(crabtalk send --no-stdin hello; cat) <data')
  assert.deepEqual([stdout, code], ['ok\na\nb\n', 0])
  assert.equal(lastPrompt(talk.server.requests[0]), 'hello')
  assert.equal((await talk.send(['--no-stdin', 'hello'], { stdin: 'open' })).code, 0)
})

test('standard input that cannot be read exits 66 with the reason', async () => {
  await using talk = await makeTalkWithFiles()
  assertFailed(await talk.shell('crabtalk send hello <.'), 'no-input', { message: /it is a directory$/ })
  assertFailed(await talk.shell('crabtalk send hello 0>out'), 'no-input', {
    message: /it is not open for reading$/,
  })
  assert.equal(talk.server.requests.length, 0)
})

async function makeTalkWithFiles(): Promise<Talk> {
  const talk = await makeTalk(() => ({ parts: ['ok'] }))
  await writeFile(join(talk.cwd, 'empty'), '')
  await writeFile(join(talk.cwd, 'data'), 'a\nb\n')
  await writeFile(join(talk.cwd, 'longer'), 'first\na\nb\n')
  return talk
}
