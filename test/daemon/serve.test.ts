import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { DiskStorage } from '../../src/core/storage/disk-storage.ts'
import { SESSION_VERSION, type SessionHeader } from '../../src/core/storage/types.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import { failedDaemon, startTestDaemon } from '../support/daemon.ts'
import { makeModelHome, readDaemonLog } from '../support/daemon-home.ts'
import { readSessions } from '../support/talk.ts'
import { type TemporaryHome, temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

test('a daemon answers, logs JSON lines for its owner only, and writes nothing to standard error', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home)
  const stats = await request(daemon.dispatch, 'getStats', {}, NEVER)
  assert.deepEqual(
    [stats.pid, stats.home, stats.endpoints, stats.idleExitMs],
    [daemon.pid, home.paths.home, [`unix:${join(home.paths.run, 'crabtalk.sock')}`], undefined],
  )
  daemon.kill('SIGTERM')
  assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
  const log = await readDaemonLog(home)
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

test('a second daemon of a home is refused immediately and names the first, which continues', async () => {
  await using home = await temporaryHome()
  await using first = await startTestDaemon(home)
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 1)
  assert.match(
    stderr,
    new RegExp(`^crabtalk: error\\[conflict\\]: Cannot start the daemon: process ${first.pid} has been`),
  )
  await request(first.dispatch, 'ping', {}, NEVER)
})

test('when several daemons start together, one remains', async () => {
  await using home = await temporaryHome()
  const started = await Promise.allSettled(Array.from({ length: 4 }, () => startTestDaemon(home)))
  const standing = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  assert.equal(standing.length, 1)
  await request(standing[0]!.dispatch, 'ping', {}, NEVER)
  await standing[0]![Symbol.asyncDispose]()
})

test('a daemon lists conversations as they are, whatever it listed before and whichever process changed them', async () => {
  await using home = await temporaryHome()
  await using daemon = await startTestDaemon(home)
  const { sessions, index } = home.paths
  const storage = new DiskStorage({ sessions, index })
  const list = async () => {
    const { conversations, total } = await request(daemon.dispatch, 'listConversations', {}, NEVER)
    return [conversations.map(({ sender, messageCount }) => `${sender} ${messageCount}`).join(', '), total]
  }
  assert.deepEqual(await list(), ['', 0])
  const ann = await storage.createSession(toHeader('ann'), [SAID])
  assert.deepEqual(await list(), ['ann 1', 1])
  assert.deepEqual(await list(), ['ann 1', 1])
  await storage.append(ann.id, ann.cursor, [SAID])
  assert.deepEqual(await list(), ['ann 2', 1])
  const bob = await storage.createSession(toHeader('bob'), [SAID])
  assert.deepEqual(await list(), ['bob 1, ann 2', 2])
  await request(daemon.dispatch, 'deleteConversation', { filePath: ann.id }, NEVER)
  assert.deepEqual(await list(), ['bob 1', 1])
  await storage.deleteSession(bob.id)
  assert.deepEqual(await list(), ['', 0])
})

const SAID = { kind: 'entry', role: 'user', content: 'hi' } as const

function toHeader(sender: string): SessionHeader {
  const created_at = new Date().toISOString()
  return { v: SESSION_VERSION, agent: 'crab', agent_id: 'a', created_by: sender, created_at, cwd: '/' }
}

test('the socket of a killed daemon is replaced, and everything it had stored is there', async () => {
  await using home = await makeModelHome(() => ({ parts: ['Hi.'] }))
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

test('SIGHUP reads the configuration again, and a broken one is only logged', async () => {
  await using home = await makeModelHome([])
  await using daemon = await startTestDaemon(home)
  const good = await home.read('config.toml')
  await home.write('config.toml', 'broken')
  daemon.kill('SIGHUP')
  await until('the log says it', async () =>
    (await readDaemonLog(home)).some(({ level }) => level === 'error'),
  )
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

test('a daemon on TCP requires its token, and publishes its port while it listens', async () => {
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

test('config.toml may enable TCP; without a token only when the environment enables it too', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[daemon]\ntcp_port = 0\ntcp_token = false\n')
  const refused = await failedDaemon(home)
  assert.equal(refused.code, 78)
  assert.match(
    refused.stderr,
    /error\[config\]: Cannot listen on TCP: with tcp_token = false .*\nhint: .*TOKEN=1/,
  )
  await using daemon = await startTestDaemon(home, { env: { CRABTALK_ALLOW_TCP_WITHOUT_TOKEN: '1' } })
  assert.ok(
    (await readDaemonLog(home)).some(({ level, message }) => level === 'warn' && /every user/.test(message)),
  )
  const { endpoints } = await request(daemon.dispatch, 'getStats', {}, NEVER)
  const [, port] = /^tcp:127\.0\.0\.1:(\d+)$/.exec(endpoints[1] ?? '') ?? []
  const endpoint = { kind: 'tcp', host: '127.0.0.1', port: Number(port) } as const
  const { pid } = await request(socketDispatch({ endpoint }), 'hello', { versions: [1] }, NEVER)
  assert.equal(pid, daemon.pid)
})

test('a broken config.toml prevents the start, and the log says so', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', 'modell = "x"\n')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 78)
  assert.match(stderr, /^crabtalk: error\[config\]: config\.toml:1: .*\n/)
  assert.match((await readDaemonLog(home)).at(-1)!.message, /config\.toml:1/)
  assert.deepEqual(await readdir(home.paths.proc), [])
})

test('a broken subscriptions.toml does not prevent the start, and is logged before the daemon listens', async () => {
  await using home = await temporaryHome()
  await home.write('events/subscriptions.toml', 'broken')
  await using _daemon = await startTestDaemon(home)
  const read = async () =>
    (await readDaemonLog(home)).map(({ level, message }) => `${level} ${message}`).join('\n')
  await until('it has said that it listens', async () => /^info listening/m.test(await read()))
  assert.match(await read(), /^info starting.*\nwarn events\/subscriptions\.toml:1.*(\n.*)*\ninfo listening/)
})

test('a home whose run folder cannot be created prevents the start', async () => {
  await using home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  await writeFile(home.paths.run, '')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 78)
  assert.match(stderr, /^crabtalk: error\[config\]: Cannot .*\nhint: /)
})

test("a file at the socket's path is left alone and reported", async () => {
  await using home = await temporaryHome()
  await home.write('run/crabtalk.sock', 'mine')
  const { code, stderr } = await failedDaemon(home)
  assert.equal(code, 1)
  assert.match(stderr, /error\[conflict\]: Cannot listen on .*crabtalk\.sock: a file that is not a socket/)
  assert.equal(await home.read('run/crabtalk.sock'), 'mine')
})

test('a home whose path is too long for a socket is still served', async () => {
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

const NEVER = new AbortController().signal
