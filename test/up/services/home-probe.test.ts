import assert from 'node:assert/strict'
import { link, mkdir, utimes, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { acquireSchedulerLease } from '../../../src/core/cron/scheduler-lease.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'
import { findAnnouncedName } from '../../../src/up/probe/announced-names.ts'
import { homeProbe } from '../../../src/up/services/home-probe.ts'
import { freePort } from '../../support/component.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const NEVER = new AbortController().signal

test('homeProbe() returns the name and version of a component', async () => {
  await using box = await makeBox()
  const started = '2026-01-02T03:04:05.000Z'
  await using server = await serve((_, answer) => {
    answer.end(JSON.stringify({ name: 'clock', version: '1.2.3', pid: 77, started }))
  })
  await box.announce('clock', server.port)
  assert.deepEqual(await box.probe('clock'), {
    ...{ answers: true, port: server.port, version: '1.2.3', pid: 77, since: Date.parse(started) },
  })
  await box.announce('other', server.port)
  const other = await box.probe('other')
  assert.deepEqual([other.answers, other.isForeign], [false, true])
  assert.match(other.problem ?? '', /^clock answers at its port$/)
})

test('findAnnouncedName() finds the other name under which a service announces itself', async () => {
  await using box = await makeBox()
  await using server = await serve((_, answer) => {
    answer.end(JSON.stringify({ name: 'wordcount', pid: process.pid }))
  })
  await box.announce('wordcount', server.port)
  const at = { paths: box.paths, probe: (name: string) => box.probe(name), name: 'letters' }
  assert.equal(await findAnnouncedName(process.pid, at, NEVER), 'wordcount')
  assert.equal(await findAnnouncedName(process.pid, { ...at, name: 'wordcount' }, NEVER), undefined)
  assert.equal(await findAnnouncedName(2 ** 22 + 1, at, NEVER), undefined)
})

test('homeProbe() accepts a component that has no /health, or does not speak HTTP, as ready', async () => {
  await using box = await makeBox()
  await using plain = await serve((_, answer) => answer.writeHead(404).end('what?'))
  await box.announce('plain', plain.port)
  assert.deepEqual(await box.probe('plain'), { answers: true, isUnnamed: true, port: plain.port })
  await using odd = await serveRaw((socket) => socket.end('hello\r\n\r\n'))
  await box.announce('odd', odd.port)
  assert.deepEqual(await box.probe('odd'), { answers: true, isUnnamed: true, port: odd.port })
})

test('homeProbe() leaves out invalid values of a component', async () => {
  await using box = await makeBox()
  for (const started of [1_767_323_045_678_000_000, 'soon', null, {}]) {
    await using server = await serve((_, answer) =>
      answer.end(JSON.stringify({ pid: '7', version: 1, started })),
    )
    await box.announce('clock', server.port)
    const expected = { answers: true, isUnnamed: true, port: server.port }
    assert.deepEqual(await box.probe('clock'), expected, `${started}`)
  }
})

test('homeProbe() does not wait for a silent component', async () => {
  await using box = await makeBox({ limitMs: 200 })
  await using mute = await serveRaw(() => {})
  await box.announce('mute', mute.port)
  const probe = await box.probe('mute')
  assert.equal(probe.answers, false)
  assert.match(probe.problem ?? '', /no answer|does not answer/)
})

test('homeProbe() reports a port file as stale when nothing has listened there for a while', async () => {
  await using box = await makeBox()
  const file = await box.announce('clock', await freePort())
  const young = await box.probe('clock')
  assert.deepEqual([young.answers, young.leftover], [false, { file }])
  await utimes(file, 1, 1)
  const old = await box.probe('clock')
  assert.equal(old.leftover?.file, file)
  assert.match(old.leftover?.stamp ?? '', /^\d+ \d+ 1000000000$/)
})

test('homeProbe() reports an invalid and a missing port file', async () => {
  await using box = await makeBox()
  for (const text of ['', 'x', '0', '65536', '-1', '123456789']) {
    await box.write('clock.port', text)
    assert.match((await box.probe('clock')).problem ?? '', /does not contain a port number/, text)
  }
  assert.deepEqual(await box.probe('nobody'), { answers: false })
})

test('homeProbe() reports cron as ready while its own process fires what is due', async () => {
  await using box = await makeBox()
  assert.deepEqual(await box.probe('cron'), { answers: false })
  const started = '2026-01-02T03:04:05.000Z'
  await box.write('cron.json', JSON.stringify({ v: 1, pid: process.pid, started, ready: true, version: '1' }))
  const known = { pid: process.pid, since: Date.parse(started), version: '1' }
  assert.match((await box.probe('cron')).leftover?.file ?? '', /cron\.json$/)
  await using leases = new SqliteLeases({
    database: box.paths.leases,
    proc: box.paths.proc,
    pid: process.pid,
  })
  await using _ = await acquireSchedulerLease(leases, { pid: process.pid, home: box.paths.home })
  assert.deepEqual(await box.probe('cron'), { ...known, answers: true })
  const file = join(box.run, 'cron.json')
  await utimes(file, new Date(0), new Date(0))
  assert.deepEqual(await box.probe('cron'), { ...known, answers: true }, 'a version that does not beat')
  await box.write('cron.json', JSON.stringify({ pid: process.pid, started, version: '1', beat_ms: 10_000 }))
  assert.deepEqual(await box.probe('cron'), { ...known, answers: true })
  for (const seconds of [-40, 40]) {
    const at = new Date(Date.now() + seconds * 1000)
    await utimes(file, at, at)
    const { answers, problem, leftover } = await box.probe('cron')
    assert.deepEqual([answers, leftover], [false, undefined])
    assert.match(problem ?? '', /^it has not responded for (39|40|41) s$/)
  }
  await box.write(
    'cron.json',
    JSON.stringify({ v: 1, pid: process.pid, started, ready: false, version: '1' }),
  )
  assert.deepEqual((await box.probe('cron')).answers, false)
  await box.write('cron.json', JSON.stringify({ pid: 2 ** 22 + 1, ready: true }))
  assert.match((await box.probe('cron')).leftover?.stamp ?? '', /^\d/)
  await box.write('cron.json', '{')
  assert.match((await box.probe('cron')).problem ?? '', /is not valid/)
})

test('homeProbe() finds no daemon where none runs, and names the socket that one left', async () => {
  await using box = await makeBox()
  assert.deepEqual(await box.probe('daemon'), { answers: false })
  const server = createSocketServer().listen(join(box.run, 'gone.sock'))
  await new Promise((resolve) => server.once('listening', resolve))
  await link(join(box.run, 'gone.sock'), join(box.run, 'crabtalk.sock'))
  await new Promise((resolve) => server.close(resolve))
  assert.deepEqual(await box.probe('daemon'), {
    answers: false,
    leftover: { file: join(box.run, 'crabtalk.sock') },
  })
})

test("homeProbe() reports that another program has the daemon's socket", async () => {
  await using box = await makeBox({ limitMs: 2000 })
  await using _ = await serveRaw(
    (socket) => socket.end('HTTP/1.1 400 no\r\n\r\n'),
    join(box.run, 'crabtalk.sock'),
  )
  const probe = await box.probe('daemon')
  assert.equal(probe.answers, false)
  assert.ok(probe.problem !== undefined, JSON.stringify(probe))
})

async function makeBox({ limitMs }: { limitMs?: number } = {}) {
  const home = await temporaryHome()
  const { run } = home.paths
  await mkdir(run, { recursive: true })
  const place = { paths: home.paths, env: {}, uid: process.getuid?.() ?? 0 }
  const probe = homeProbe({ ...place, ...(limitMs !== undefined && { limitMs }) })
  const write = async (name: string, text: string) => {
    await writeFile(join(run, name), text)
    return join(run, name)
  }
  return {
    run,
    paths: home.paths,
    write,
    announce: (name: string, port: number) => write(`${name}.port`, `${port}\n`),
    probe: (name: string) => probe(name, NEVER),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Serves on a free port, or on a socket. */
async function serveRaw(onSocket: (socket: Socket) => void, path?: string) {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    onSocket(socket)
  })
  if (path === undefined) server.listen(0, '127.0.0.1')
  else server.listen(path)
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
