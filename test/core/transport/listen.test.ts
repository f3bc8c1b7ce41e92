import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtempDisposable,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { StreamEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Handlers, request, route, streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { readAddressFile } from '../../../src/core/transport/address-file.ts'
import { socketDispatch } from '../../../src/core/transport/client.ts'
import type { SocketEndpoint } from '../../../src/core/transport/endpoint.ts'
import { type ListenOptions, listen } from '../../../src/core/transport/listen.ts'
import { daemonSocketEndpoint } from '../../../src/core/transport/local-endpoint.ts'
import { until } from '../../support/until.ts'
import { RawClient } from './raw-client.ts'
import { type EndpointKind, freshEndpoint, serve } from './serving.ts'

const { signal } = new AbortController()
const options: ListenOptions = {
  dispatch: route({ ping: async () => {} }),
  graceMs: 0,
  onError: (error) => assert.fail(error),
}
const folder = () => mkdtempDisposable(join(tmpdir(), 'crab-net-'))
const socketIn = (path: string) => freshEndpoint('unix', path) as SocketEndpoint & { kind: 'unix' }
const isAlive = (endpoint: SocketEndpoint) =>
  request(socketDispatch({ endpoint }), 'ping', {}, signal).then(
    () => true,
    () => false,
  )

test('a Unix socket has mode 0600 in a folder of mode 0700, and is removed afterwards', async () => {
  await using directory = await folder()
  const { path } = socketIn(directory.path)
  {
    await using _listener = await listen({ kind: 'unix', path }, options)
    assert.equal((await lstat(path)).mode & 0o777, 0o600)
    assert.equal((await lstat(dirname(path))).mode & 0o777, 0o700)
    assert.deepEqual(await readdir(dirname(path)), ['crabtalk.sock'])
  }
  assert.deepEqual(await readdir(dirname(path)), [])
})

test('a stale socket is replaced', async () => {
  await using directory = await folder()
  const endpoint = socketIn(directory.path)
  await leaveSocket(endpoint.path)
  assert.ok((await lstat(endpoint.path)).isSocket())
  await using listener = await listen(endpoint, options)
  assert.ok(await isAlive(listener.endpoint))
})

test('a socket that answers is never replaced, and keeps working', async () => {
  await using directory = await folder()
  const endpoint = socketIn(directory.path)
  await using _first = await listen(endpoint, options)
  const before = await lstat(endpoint.path)
  await assert.rejects(listen(endpoint, options), {
    kind: 'conflict',
    message: `Cannot listen on ${endpoint.path}: a daemon is already listening there`,
  })
  assert.equal((await lstat(endpoint.path)).ino, before.ino)
  assert.ok(await isAlive(endpoint))
  assert.deepEqual(await readdir(dirname(endpoint.path)), ['crabtalk.sock'])
})

test('a socket of another user is never used and never replaced', async () => {
  if (process.getuid?.() !== 0) return // only root can create one
  await using directory = await folder()
  const endpoint = socketIn(directory.path)
  await leaveSocket(endpoint.path)
  await chown(endpoint.path, 12_345, 12_345)
  await assert.rejects(listen(endpoint, options), {
    kind: 'conflict',
    message: `Cannot listen on ${endpoint.path}: the socket belongs to another user (uid 12345)`,
  })
  assert.equal((await lstat(endpoint.path)).uid, 12_345)
  assert.deepEqual(await readdir(dirname(endpoint.path)), ['crabtalk.sock'])
})

test('exactly one of several concurrent listeners gets a path, with or without a stale socket', async () => {
  await using directory = await folder()
  for (const isStale of [false, true]) {
    const endpoint = { kind: 'unix', path: join(directory.path, `${isStale}.sock`) } as const
    if (isStale) await leaveSocket(endpoint.path)
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => listen(endpoint, options)))
    const listeners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const kinds = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.kind] : []))
    assert.equal(listeners.length, 1)
    assert.deepEqual(new Set(kinds), new Set(['conflict']))
    assert.ok(await isAlive(endpoint))
    await listeners[0]![Symbol.asyncDispose]()
  }
})

for (const what of ['file', 'folder', 'link']) {
  test(`a ${what} at the path of the socket is never removed`, async () => {
    await using directory = await folder()
    const { path } = socketIn(directory.path)
    await mkdir(dirname(path))
    if (what === 'file') await writeFile(path, 'precious')
    if (what === 'folder') await mkdir(path)
    if (what === 'link') await symlink('elsewhere', path)
    await assert.rejects(listen({ kind: 'unix', path }, options), {
      kind: 'conflict',
      hint: 'move that file away',
    })
    assert.deepEqual(await readdir(dirname(path)), ['crabtalk.sock'])
    assert.ok(!(await lstat(path)).isSocket())
  })
}

test('a closing listener does not remove the socket of its successor', async () => {
  await using directory = await folder()
  const endpoint = socketIn(directory.path)
  const first = await listen(endpoint, options)
  await rm(endpoint.path)
  await using _second = await listen(endpoint, options)
  await first[Symbol.asyncDispose]()
  assert.ok(await isAlive(endpoint))
})

test('a home whose path is too long has its socket elsewhere, and its address in a file', async () => {
  await using directory = await folder()
  const run = join(directory.path, 'a'.repeat(120), 'run')
  const tmpDir = join(directory.path, 'tmp')
  await mkdir(tmpDir)
  const local = daemonSocketEndpoint({ run, env: {}, platform: 'linux', uid: 1000, tmpDir })
  assert.equal(await readAddressFile(local), undefined)
  {
    await using listener = await listen(local.endpoint, { ...options, addressFile: local.addressFile! })
    assert.deepEqual(await readAddressFile(local), listener.endpoint)
    assert.equal((await lstat(local.addressFile!)).mode & 0o777, 0o600)
    assert.equal((await readdir(tmpDir)).length, 1)
    assert.ok(await isAlive((await readAddressFile(local))!))
  }
  assert.equal(await readAddressFile(local), undefined)
  assert.deepEqual([await readdir(tmpDir), await readdir(run)], [[], []])
})

test('an address file that meanwhile names another socket is kept', async () => {
  await using directory = await folder()
  const addressFile = join(directory.path, 'crabtalk.addr')
  const listener = await listen(socketIn(directory.path), { ...options, addressFile })
  await writeFile(addressFile, '/elsewhere.sock\n')
  await listener[Symbol.asyncDispose]()
  assert.equal(await readFile(addressFile, 'utf8'), '/elsewhere.sock\n')
})

test('a folder that cannot be created is a storage error', async () => {
  await using directory = await folder()
  await writeFile(join(directory.path, 'run'), '')
  await assert.rejects(listen(socketIn(directory.path), options), { kind: 'storage' })
})

test('a TCP listener reports its real port; a busy one is a conflict that names it', async () => {
  await using first = await listen({ kind: 'tcp', host: '127.0.0.1', port: 0 }, options)
  assert.ok(first.endpoint.kind === 'tcp' && first.endpoint.port > 0)
  const { port } = first.endpoint
  await assert.rejects(listen(first.endpoint, options), {
    kind: 'conflict',
    message: `Cannot listen on tcp:127.0.0.1:${port}: port ${port} is in use`,
    hint: /--port 0/,
  })
  assert.ok(await isAlive(first.endpoint))
  await assert.rejects(listen({ kind: 'tcp', host: '192.0.2.1', port: 0 }, options), { kind: 'config' })
})

test('a taken pipe is a conflict', async () => {
  await using directory = await folder()
  const endpoint = freshEndpoint('pipe', directory.path)
  await using _first = await listen(endpoint, options)
  await assert.rejects(listen(endpoint, options), { kind: 'conflict' })
})

for (const kind of ['unix', 'tcp'] satisfies EndpointKind[]) {
  test(`disposing a ${kind} listener lets a turn end within the grace period, ends subscriptions, closes idle clients`, async () => {
    const go = Promise.withResolvers<void>()
    const subscribed = Promise.withResolvers<void>()
    const dispatch = route({
      async *stream() {
        yield start
        await go.promise
        yield end
      },
      async *subscribeEvents(_request, given) {
        subscribed.resolve()
        await new Promise((_resolve, reject) => given.addEventListener('abort', () => reject(given.reason)))
      },
    })
    await using serving = await serve(kind, dispatch, { graceMs: 60_000 })
    using idle = await serving.open()
    const turn = streamTurn(serving.dispatch, { content: 'hi' }, signal)
    assert.deepEqual((await turn.next()).value, start)
    using follower = await serving.open()
    follower.send(2, { $case: 'subscribeEvents', value: {} })
    await subscribed.promise
    const disposed = serving.listener[Symbol.asyncDispose]()
    const farewell = await follower.replies()
    follower.hangUp()
    assert.deepEqual(farewell.map(readCode), [503])
    assert.deepEqual(await idle.replies(), [])
    idle.hangUp()
    assert.equal(await isAlive(serving.endpoint), false)
    go.resolve()
    assert.deepEqual(await Array.fromAsync(turn), [end])
    await disposed
    assert.equal(serving.listener.connections, 0)
    assert.deepEqual(serving.errors, [])
  })

  test(`disposing a ${kind} listener aborts what outlasts the grace period, and its client is told`, async () => {
    const dispatch = route({ stream: untilAborted() })
    await using serving = await serve(kind, dispatch, { times: { lingerMs: 1000 } })
    const turn = streamTurn(serving.dispatch, { content: 'hi' }, signal)
    await turn.next()
    await serving.listener[Symbol.asyncDispose]()
    await assert.rejects(turn.next(), { kind: 'unavailable', message: /shutting down/ })
    assert.equal(serving.listener.connections, 0)
  })
}

test('disposing a listener does not wait for a handler that ignores its signal, and reports it', async () => {
  const dispatch = route({
    async *stream() {
      yield start
      await new Promise(() => {})
    },
  })
  await using serving = await serve('unix', dispatch, { times: { lingerMs: 10, abortMs: 10 } })
  using client = await serving.open()
  client.send(1, { $case: 'stream', value: {} })
  await client.reply()
  await serving.listener[Symbol.asyncDispose]()
  assert.deepEqual(
    serving.errors.map(({ kind }) => kind),
    ['internal'],
  )
  assert.equal(serving.listener.connections, 0)
})

test('disposing a listener does not wait for a client that does not read', async () => {
  const dispatch = route({
    async *stream(_request, given) {
      while (!given.aborted)
        yield StreamEvent.create({ event: { $case: 'chunk', value: { content: 'x'.repeat(9999) } } })
    },
  })
  await using serving = await serve('unix', dispatch, { times: { lingerMs: 500 } })
  using client = await serving.open()
  client.send(1, { $case: 'stream', value: {} })
  await until('it is served', () => serving.listener.connections === 1)
  await serving.listener[Symbol.asyncDispose]()
  assert.equal(serving.listener.connections, 0)
  assert.deepEqual(serving.errors, [])
})

test('a listener without free descriptors closes new connections, and recovers', async () => {
  await using directory = await folder()
  const endpoint = freshEndpoint('unix', directory.path)
  const program = join(import.meta.dirname, 'few-files-program.ts')
  const command = 'ulimit -n 60 && exec "$0" --disable-warning=ExperimentalWarning "$@"'
  const argv = ['-c', command, process.execPath, program, JSON.stringify(endpoint)]
  const daemon = spawn('sh', argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(daemon, 'exit')
  await once(daemon.stdout, 'data') // it reports that it listens
  const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(endpoint)))
  assert.deepEqual(await Promise.race(clients.map((client) => client.replies())), []) // too many: one is closed
  for (const client of clients) client.hangUp()
  await until('it answers again', () => isAlive(endpoint))
  daemon.stdin.end()
  await exited
})

test('a listener is not affected by the errors of another', async () => {
  await using bad = await serve('unix', () => {
    throw new CrabError('internal', 'broken')
  })
  await using good = await serve('tcp', route({ ping: async () => {} }))
  using client = await bad.open()
  client.write('ffffffff')
  assert.deepEqual((await client.replies()).map(readCode), [400])
  assert.ok(await isAlive(good.endpoint))
})

const start = StreamEvent.create({ event: { $case: 'start', value: { agent: 'crab' } } })
const end = StreamEvent.create({ event: { $case: 'end', value: { agent: 'crab' } } })

function untilAborted(): Handlers['stream'] {
  return async function* (_request, given) {
    yield start
    if (!given.aborted) await new Promise((resolve) => given.addEventListener('abort', resolve))
    throw given.reason
  }
}

function readCode({ msg }: { msg?: { $case: string; value: unknown } | undefined }): number | undefined {
  return msg?.$case === 'error' ? (msg.value as { code: number }).code : undefined
}

/** Leaves the socket of a killed daemon, which does not answer. */
async function leaveSocket(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(`${path}.left`, resolve))
  await rename(`${path}.left`, path)
  await chmod(path, 0o600)
  await new Promise((resolve) => server.close(resolve))
}
