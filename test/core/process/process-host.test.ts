import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { linuxPlatform } from '../../../src/core/process/linux.ts'
import { livingWith } from '../../support/orphans.ts'
import {
  makeCommand,
  makeScript,
  markedScript,
  openTestHost,
  readAllText,
  readFirstLine,
} from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

test('disposing ends all running programs, stubborn ones in parallel', async () => {
  const { word, command } = markedScript("trap '' TERM; echo ready; while :; do sleep 1; done")
  const host = openTestHost()
  const running = await Promise.all(Array.from({ length: 8 }, () => host.start(command)))
  await Promise.all(running.map(readFirstLine))
  await host[Symbol.asyncDispose]()
  assert.deepEqual(await livingWith(word), [])
})

test('disposing ends starting programs', async () => {
  const { word, command } = markedScript('sleep 600')
  const host = openTestHost()
  const starting = host.start(command)
  await host[Symbol.asyncDispose]()
  assert.notEqual((await (await starting).exited).signal, null)
  assert.deepEqual(await livingWith(word), [])
})

test('a host that is disposed, or has released all, starts nothing', async () => {
  const [disposed, left] = [openTestHost(), openTestHost()]
  await disposed[Symbol.asyncDispose]()
  left.releaseAll()
  for (const host of [disposed, left]) {
    await assert.rejects(host.start(makeScript('true')), {
      kind: 'unavailable',
      message: 'Cannot start /bin/sh: crabtalk is ending',
    })
  }
})

test('releaseAll() releases starting programs', async () => {
  const { word, command } = markedScript('sleep 600')
  const host = openTestHost()
  const starting = host.start(command)
  host.releaseAll()
  await starting
  await until('nothing is left', async () => (await livingWith(word)).length === 0)
})

test('start() rejects a missing directory', async () => {
  await using host = openTestHost()
  await assert.rejects(host.start(makeCommand(['true'], { cwd: '/no/such' })), {
    kind: 'missing',
    message: 'Cannot start true: the directory /no/such does not exist',
  })
})

test('start() rejects what the system does not accept', async () => {
  await using host = openTestHost()
  await assert.rejects(host.start(makeCommand(['true', 'x'.repeat(2 ** 20)])), {
    kind: 'failed',
    message: 'Cannot start true: its arguments and environment are too large',
  })
  await assert.rejects(host.start(makeCommand(['true', 'a\0b'])), {
    kind: 'failed',
    message: 'Cannot start true: its arguments or its environment contain a null character',
  })
})

test('start() fails when no descriptor is free', async () => {
  const program = join(import.meta.dirname, 'host-program.ts')
  const commands = Array.from({ length: 40 }, () => makeScript('echo ready; sleep 600'))
  const script = `ulimit -n 64 && exec "$@"`
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, program, JSON.stringify(commands)])
  assert.match(
    (await child.stderr.toArray()).join(''),
    /CrabError: Cannot start \/bin\/sh: too many files are open/,
  )
})

test('start() fails when the program cannot be watched, which then does not run', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const shell = join(folder.path, 'sh')
  await writeFile(shell, '#!/bin/sh\necho "Cannot fork" >&2\nexit 2\n', { mode: 0o755 })
  await using host = openTestHost(linuxPlatform({ shell }))
  await assert.rejects(host.start(makeCommand(['touch', join(folder.path, 'ran')])), {
    kind: 'failed',
    message: 'Cannot start touch: the system has no room for another process',
  })
  assert.deepEqual(await readdir(folder.path), ['sh'])
})

test('200 programs, one after the other, leave no descriptor and no process', async () => {
  const { word, command } = markedScript('cat')
  await using host = openTestHost()
  const before = (await readdir('/proc/self/fd')).length
  for (let count = 0; count < 200; count += 1) {
    await using running = await host.start(command)
    running.stdin.end('x')
    if (count % 2 === 0) assert.equal(await readAllText(running.stdout), 'x') // the other half is not read
  }
  await until('the descriptors are closed', async () => (await readdir('/proc/self/fd')).length <= before)
  assert.deepEqual(await livingWith(word), [])
})

test('50 concurrent programs talk and end', async () => {
  const { word, command } = markedScript('read line; echo "$line"; exec sleep 600')
  const host = openTestHost()
  const running = await Promise.all(Array.from({ length: 50 }, () => host.start(command)))
  running.forEach(({ stdin }, at) => void stdin.write(`hello ${at}\n`))
  const lines = await Promise.all(running.map(readFirstLine))
  assert.deepEqual(
    lines,
    running.map((_, at) => `hello ${at}`),
  )
  await host[Symbol.asyncDispose]()
  assert.deepEqual(await livingWith(word), [])
})

test('a host sweeps strays once, after its first start', async () => {
  let sweeps = 0
  const platform = linuxPlatform()
  const sweep = async (pid: number) => {
    assert.equal(pid, process.pid)
    sweeps += 1
  }
  await using host = openTestHost({ ...platform, sweep })
  for (const script of ['true', 'false']) await (await host.start(makeScript(script))).end()
  await until('it has swept', () => sweeps > 0)
  await (await host.start(makeScript('true'))).end()
  assert.equal(sweeps, 1)
})

test('a process can exit while an undiscoverable process holds the pipes of a program that it ended', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const command = makeScript('env -i setsid sleep 600 & echo $! > pid; echo ready', { cwd: folder.path })
  const program = join(import.meta.dirname, 'host-program.ts')
  const host = spawn(process.execPath, [program, JSON.stringify([command])], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(host.stdout, 'data')
  host.stdin.write('dispose\n')
  assert.deepEqual(await once(host, 'exit'), [0, null])
  process.kill(Number(await readFile(join(folder.path, 'pid'), 'utf8')), 'SIGKILL')
})

test('a failing pipe does not affect other programs', async () => {
  await using host = openTestHost()
  await using running = await host.start(makeScript('exec <&-; echo closed; sleep 600'))
  await readFirstLine(running)
  running.stdin.write('x'.repeat(2 ** 20))
  await until('standard input is closed', () => running.stdin.destroyed)
  await running.end()
  running.stdin.write('more')
})
