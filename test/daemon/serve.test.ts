import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { request, requestMany, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import { failedDaemon, startTestDaemon } from '../support/daemon.ts'
import { type ModelServer, type Script, startModelServer } from '../support/model-server.ts'
import { leftAfter, livingWith } from '../support/orphans.ts'
import { readSessions } from '../support/talk.ts'
import { type TemporaryHome, temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

/** A home whose config.toml names a scripted model server. */
async function talkingHome(script: Script): Promise<TemporaryHome & { server: ModelServer }> {
  const home = await temporaryHome()
  const server = await startModelServer(script)
  await home.write('config.toml', `[llm]\nbase_url = "${server.url}"\nmodel = "scripted"\n`)
  return {
    ...home,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

/** The lines of the log, without their times. */
async function logOf(home: TemporaryHome): Promise<{ level: string; message: string; pid: number }[]> {
  const text = await readFile(join(home.paths.logs, 'daemon.log'), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test('a daemon answers, logs JSON lines for its owner only, and says nothing on standard error', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home)
  const stats = await request(daemon.dispatch, 'getStats', {}, NEVER)
  assert.deepEqual(
    [stats.pid, stats.home, stats.endpoints, stats.idleExitMs],
    [daemon.pid, home.paths.home, [`unix:${join(home.paths.run, 'crabtalk.sock')}`], undefined],
  )
  daemon.kill('SIGTERM')
  assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
  const log = await logOf(home)
  assert.match(
    log.map(({ message }) => message).join('\n'),
    /^starting .*\nlistening on unix:.*\nstopping: SIGTERM\nstopped$/,
  )
  assert.ok(log.every(({ pid }) => pid === daemon.pid))
  const { mode } = await stat(join(home.paths.logs, 'daemon.log'))
  assert.equal(mode & 0o777, 0o600)
  assert.deepEqual(await readdir(home.paths.proc), [])
  assert.ok(!existsSync(join(home.paths.run, 'crabtalk.sock')))
})

test('a second daemon of a home is refused at once and names the first, which goes on', async () => {
  await using home = await temporaryHome()
  await using first = await startTestDaemon(home)
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 1)
  assert.match(
    stderr,
    new RegExp(`^crabtalk: error\\[conflict\\]: Cannot start the daemon: process ${first.pid} is`),
  )
  await request(first.dispatch, 'ping', {}, NEVER)
})

test('of daemons that start together one remains', async () => {
  await using home = await temporaryHome()
  const started = await Promise.allSettled(Array.from({ length: 4 }, () => startTestDaemon(home)))
  const standing = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.equal(standing.length, 1)
  await request(standing[0]!.dispatch, 'ping', {}, NEVER)
  await standing[0]![Symbol.asyncDispose]()
})

test('the socket of a daemon that was killed is replaced, and everything it had said is there', async () => {
  await using home = await talkingHome(() => ({ parts: ['Hi.'] }))
  const killed = await startTestDaemon(home)
  await Array.fromAsync(streamTurn(killed.dispatch, { sender: 'ann', content: 'one' }, NEVER))
  killed.kill('SIGKILL')
  await killed.ended
  assert.ok(existsSync(join(home.paths.run, 'crabtalk.sock')))
  await using daemon = await startTestDaemon(home)
  const events = streamTurn(daemon.dispatch, { sender: 'ann', content: 'two' }, NEVER)
  assert.equal((await Array.fromAsync(events)).at(-1)?.event?.$case, 'end')
  const [session] = await readSessions(home.paths.home)
  assert.deepEqual(session?.said, ['user: one', 'assistant: Hi.', 'user: two', 'assistant: Hi.'])
})

test('SIGTERM lets a turn end that ends soon', async () => {
  await using home = await talkingHome([{ parts: ['a', 'b', 'c'], paceMs: 300 }])
  const daemon = await startTestDaemon(home)
  const said: string[] = []
  for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
    if (event?.$case === 'chunk') said.push(event.value.content)
    if (said.length === 1) daemon.kill('SIGTERM')
  }
  assert.equal(said.join(''), 'abc')
  assert.equal((await daemon.ended).code, 0)
  assert.deepEqual((await readSessions(home.paths.home))[0]?.said, ['user: go', 'assistant: abc'])
})

test('SIGTERM cancels a turn that does not end, and keeps what was said', async () => {
  await using home = await talkingHome([{ parts: ['Half an answer'], end: 'hang' }])
  const daemon = await startTestDaemon(home)
  const following = Array.fromAsync(requestMany(daemon.dispatch, 'subscribeEvents', {}, NEVER))
  const rejected = assert.rejects(following, { kind: 'unavailable' })
  const seen: string[] = []
  const turn = (async () => {
    for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
      seen.push(event!.$case)
      if (event?.$case === 'chunk') daemon.kill('SIGTERM')
    }
  })()
  await turn.catch((reason: { kind?: string }) => seen.push(String(reason.kind)))
  await rejected
  assert.match(seen.at(-1)!, /^(end|unavailable)$/)
  assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
  assert.deepEqual((await readSessions(home.paths.home))[0]?.said, [
    'user: go',
    'assistant: Half an answer [cancelled]',
  ])
})

test('a program that ignores being asked to end is gone with the daemon', async () => {
  const mark = randomUUID()
  const command = `trap "" TERM INT HUP; echo ${mark}; while :; do sleep 1; done`
  await using home = await talkingHome([
    { parts: [{ call: 'a', name: 'bash', args: JSON.stringify({ command }) }] },
  ])
  const daemon = await startTestDaemon(home)
  const options = { allow: ['bash'], env: { PATH: process.env['PATH']! } }
  const turn = Array.fromAsync(streamTurn(daemon.dispatch, { sender: 'ann', content: 'go', options }, NEVER))
  turn.catch(() => undefined) // how it ends is another test's
  await until('the program runs', async () => (await livingWith(mark)).length > 0)
  daemon.kill('SIGTERM')
  assert.equal((await daemon.ended).code, 0)
  assert.deepEqual(await leftAfter(mark, 5000), [])
})

test('a turn that nobody follows is ended as well, and kept', async () => {
  await using home = await talkingHome([{ parts: ['Half'], end: 'hang' }])
  const daemon = await startTestDaemon(home)
  await request(daemon.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
  await until('the model is asked', () => home.server.requests.length === 1)
  daemon.kill('SIGINT')
  assert.equal((await daemon.ended).code, 0)
  assert.match(
    (await readSessions(home.paths.home))[0]!.said.join('|'),
    /^user: go(\|assistant: Half \[cancelled\])?$/,
  )
})

test('a second SIGINT ends it at once', async () => {
  await using home = await talkingHome([{ parts: ['Half'], end: 'hang' }])
  const daemon = await startTestDaemon(home)
  await request(daemon.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
  await until('the model is asked', () => home.server.requests.length === 1)
  daemon.kill('SIGINT')
  await until('it stops', async () =>
    (await logOf(home)).some(({ message }) => message.startsWith('stopping')),
  )
  daemon.kill('SIGINT')
  assert.equal((await daemon.ended).code, 130)
})

test('SIGHUP reads the configuration again, and a broken one is only said', async () => {
  await using home = await talkingHome([])
  await using daemon = await startTestDaemon(home)
  const good = await home.read('config.toml')
  await home.write('config.toml', 'broken')
  daemon.kill('SIGHUP')
  await until('the log says it', async () => (await logOf(home)).some(({ level }) => level === 'error'))
  await home.write(
    'config.toml',
    `${good}\n[[providers]]\nname = "more"\nkind = "openai"\nmodels = ["another"]\n`,
  )
  daemon.kill('SIGHUP')
  await until('another model is there', async () => {
    const { models } = await request(daemon.dispatch, 'listModels', {}, NEVER)
    return models.some(({ name }) => name === 'another')
  })
})

test('a client may end it; what follows it is told', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home)
  await request(daemon.dispatch, 'shutdown', {}, NEVER)
  assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
})

test('over TCP it wants its token, and names its port while it listens', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home, { args: ['--port', '0'] })
  const port = Number(await home.read('run/crabtalk.port'))
  const endpoint = { kind: 'tcp', host: '127.0.0.1', port } as const
  const token = (await home.read('run/tcp.token')).trim()
  await assert.rejects(request(socketDispatch({ endpoint }), 'ping', {}, NEVER), { kind: 'denied' })
  const tcp = socketDispatch({ endpoint, token })
  const hello = await request(tcp, 'hello', { versions: [1] }, NEVER)
  assert.deepEqual([hello.pid, hello.environment], [daemon.pid, {}])
  await assert.rejects(request(tcp, 'shutdown', {}, NEVER), { kind: 'denied' })
  await request(daemon.dispatch, 'shutdown', {}, NEVER)
  await daemon.ended
  assert.ok(!existsSync(join(home.paths.run, 'crabtalk.port')))
})

test('config.toml may ask for TCP', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[daemon]\ntcp_port = 0\ntcp_token = false\n')
  await using daemon = await startTestDaemon(home)
  const { endpoints } = await request(daemon.dispatch, 'getStats', {}, NEVER)
  const [, port] = /^tcp:127\.0\.0\.1:(\d+)$/.exec(endpoints[1] ?? '') ?? []
  await request(
    socketDispatch({ endpoint: { kind: 'tcp', host: '127.0.0.1', port: Number(port) } }),
    'ping',
    {},
    NEVER,
  )
})

test('it ends by itself when nobody uses it, not before', async () => {
  await using home = await talkingHome([{ parts: ['a', 'b', 'c'], paceMs: 400 }])
  const daemon = await startTestDaemon(home, { args: ['--idle-exit', '0.5s'] })
  const { runId } = await request(
    daemon.dispatch,
    'send',
    { sender: 'ann', content: 'go', detach: true },
    NEVER,
  )
  assert.notEqual(runId, '')
  assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
  assert.deepEqual((await readSessions(home.paths.home))[0]?.said, ['user: go', 'assistant: abc'])
  assert.match((await logOf(home)).at(-2)!.message, /nobody uses it/)
})

test('a client that only listens is one', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home, { args: ['--idle-exit', '0.3s'] })
  const leave = new AbortController()
  const listening = Array.fromAsync(requestMany(daemon.dispatch, 'subscribeEvents', {}, leave.signal))
  listening.catch(() => undefined) // it is left
  await new Promise((resume) => setTimeout(resume, 1500))
  await request(daemon.dispatch, 'ping', {}, NEVER)
  leave.abort()
  assert.equal((await daemon.ended).code, 0)
})

test('a broken config.toml keeps it from starting, and the log says so', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', 'modell = "x"\n')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 78)
  assert.match(stderr, /^crabtalk: error\[config\]: config\.toml:1: .*\n/)
  assert.match((await logOf(home)).at(-1)!.message, /config\.toml:1/)
  assert.deepEqual(await readdir(home.paths.proc), [])
})

test('a broken subscriptions.toml does not keep it from starting, and the log says so before it listens', async () => {
  await using home = await temporaryHome()
  await home.write('events/subscriptions.toml', 'broken')
  await using _daemon = await startTestDaemon(home)
  const said = (await logOf(home)).map(({ level, message }) => `${level} ${message}`)
  assert.match(
    said.join('\n'),
    /^info starting.*\nwarn events\/subscriptions\.toml:1.*(\n.*)*\ninfo listening/,
  )
})

test('a home in which nothing can be made keeps it from starting', async () => {
  await using home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  await writeFile(home.paths.run, '')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 1)
  assert.match(stderr, /^crabtalk: error\[storage\]: Cannot .*\nhint: /)
})

test('a file where the socket is to be is left, and said', async () => {
  await using home = await temporaryHome()
  await home.write('run/crabtalk.sock', 'mine')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 1)
  assert.match(stderr, /error\[conflict\]: Cannot listen on .*crabtalk\.sock: a file that is no socket/)
  assert.equal(await home.read('run/crabtalk.sock'), 'mine')
})

test('a home whose path is too long for a socket is served all the same', async () => {
  await using outer = await temporaryHome()
  const long = join(outer.paths.home, 'x'.repeat(100))
  const run = join(long, 'run')
  const paths = Object.fromEntries(
    Object.entries(outer.paths).map(([name, path]) => [name, path.replace(outer.paths.home, long)]),
  ) as TemporaryHome['paths'] & Record<string, string>
  const short = join(outer.paths.home, 'short')
  await mkdir(short, { recursive: true })
  const home = { ...outer, paths }
  const daemon = await startTestDaemon(home, { env: { XDG_RUNTIME_DIR: short } })
  assert.match((await readdir(short)).join(), /^crabtalk-\d+-[0-9a-f]{16}\.sock$/)
  assert.deepEqual(
    (await readdir(run)).filter((name) => /addr|sock/.test(name)),
    ['crabtalk.addr'],
  )
  await daemon[Symbol.asyncDispose]()
  assert.deepEqual(await readdir(short), [])
})

test('a daemon whose home is removed ends', async () => {
  await using home = await temporaryHome()
  const program = [process.execPath, '--disable-warning=ExperimentalWarning', LOOKING] as const
  const daemon = await startTestDaemon(home, { program })
  await rm(home.paths.home, { recursive: true })
  assert.equal((await daemon.ended).code, 0)
  assert.ok(!existsSync(home.paths.home))
})

for (const failure of ['thrown', 'rejected']) {
  test(`a failure of its own (${failure}) is logged and 70, with what was said kept and everything released`, async () => {
    await using home = await talkingHome([{ parts: ['Half'], end: 'hang' }])
    const program = [process.execPath, '--disable-warning=ExperimentalWarning', FAILING] as const
    const daemon = await startTestDaemon(home, { program, env: { FAILURE: failure } })
    for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
      if (event?.$case === 'chunk') daemon.kill('SIGUSR2')
    }
    const { code, stderr } = await daemon.ended
    assert.deepEqual([code, /^crabtalk: error\[internal\]: Error: boom\n/.test(stderr)], [70, true], stderr)
    assert.match(
      (await logOf(home)).map(({ message }) => message).join('|'),
      /crashed: Error: boom\n {4}at .*stopped$/s,
    )
    assert.deepEqual((await readSessions(home.paths.home))[0]?.said, [
      'user: go',
      'assistant: Half [cancelled]',
    ])
    assert.deepEqual(await readdir(home.paths.proc), [])
    assert.ok(!existsSync(join(home.paths.run, 'crabtalk.sock')))
  })
}

const LOOKING = resolve(import.meta.dirname, '../support/looking-daemon.ts')
const FAILING = resolve(import.meta.dirname, '../support/failing-daemon.ts')
const NEVER = new AbortController().signal
