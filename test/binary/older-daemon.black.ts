import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type FixedDaemonServer, startFixedDaemon } from '../support/fixed-daemon.ts'
import { makeSandbox, type RunOptions, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed } from '../support/talk.ts'

interface OlderDaemonSandbox extends AsyncDisposable {
  box: Sandbox
  daemon: FixedDaemonServer
  run(args: readonly string[], options?: RunOptions): ReturnType<Sandbox['run']>
}

const OLDER = /speaks an older protocol \(no hello\)$/

async function startOlderDaemon(): Promise<OlderDaemonSandbox> {
  const box = await makeSandbox()
  await mkdir(box.home, { mode: 0o700 })
  const daemon = await startFixedDaemon(join(box.home, 'run/crabtalk.sock'))
  return {
    box,
    daemon,
    run: (args, options) => box.run(args, { ...options, env: WITH_DAEMON }),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await box[Symbol.asyncDispose]()
    },
  }
}

test('send runs its turn in a daemon without hello, and says whose rules apply', async () => {
  await using at = await startOlderDaemon()
  const { stdout, stderr, code } = await at.run(['send', '-s', 'ann', 'hi'])
  assert.deepEqual([stdout, code], ['You said: hi\n', 0])
  assert.match(
    stderr,
    /^crabtalk: the process at unix:.* speaks an older protocol \(no hello\): its own rules .*\n$/,
  )
})

test('lists, reload and status use a daemon without hello', async () => {
  await using at = await startOlderDaemon()
  const agents = await at.run(['agent', 'list'])
  assert.match(agents.stdout, /^NAME .*\ncrab +old /)
  const conversations = await at.run(['conversation', 'list', '--json'])
  assert.deepEqual(
    JSON.parse(conversations.stdout).map(({ sender }: { sender: string }) => sender),
    ['one', 'two', 'three'],
  )
  const status = await at.run(['daemon', 'status'])
  assert.match(status.stdout, /^protocol +older, .*\nlistens on +unix:.*\nup +1m 1s\nmodel +old\n/)
  const json = JSON.parse((await at.run(['daemon', 'status', '--json'])).stdout)
  assert.deepEqual([json.running, json.protocol, json.agents], [true, 'older', 1])
  const reload = await at.run(['daemon', 'reload'])
  assert.match(reload.stdout, /^reloaded \(unix:.*\)\n$/)
  for (const { stderr, code } of [agents, conversations, status, reload])
    assert.deepEqual([stderr, code], ['', 0])
})

for (const args of [['asks'], ['mcp', 'list'], ['attach'], ['tail', 'crab'], ['daemon', 'stop']]) {
  test(`${args.join(' ')} reports that the daemon is older`, async () => {
    await using at = await startOlderDaemon()
    assertFailed(await at.run(args), 'unavailable', { message: OLDER, hint: /another CRABTALK_HOME/ })
  })
}

test('send with its own rules is refused, and nothing runs', async () => {
  await using at = await startOlderDaemon()
  const { stdout, stderr, code } = await at.run(['send', '--deny', 'bash', 'hi'])
  assert.deepEqual([stdout, code], ['', 69])
  assert.match(stderr, /error\[unavailable\]: Cannot use deny: the process at unix:/)
  assert.deepEqual(at.daemon.requests, [])
})

test('the chat reports that the daemon is older, and which command works', async () => {
  await using at = await startOlderDaemon()
  const chat = at.box.terminal(['chat'], { env: WITH_DAEMON, columns: 200 })
  await chat.shows(/Cannot chat: the process at unix:.*speaks an older\s+protocol \(no hello\)/)
  await chat.shows(/`?crabtalk send`? runs turns there/)
  chat.hangUp()
  await chat.finished
})
