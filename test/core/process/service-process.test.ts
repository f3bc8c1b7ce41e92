import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newUlid } from '../../../src/core/base/ids.ts'
import {
  endService,
  findTaggedProcess,
  readIdentity,
  SERVICE_TAG,
} from '../../../src/core/process/service-process.ts'
import { kill, processesLeft } from '../../support/processes.ts'
import { until } from '../../support/until.ts'

/** Starts a line of /bin/sh as a service; its leftover processes are killed. */
async function startLine(line: string) {
  const mark = newUlid()
  const env = { PATH: '/usr/bin:/bin', [SERVICE_TAG]: mark }
  const child: ChildProcess = spawn('/bin/sh', ['-c', line], { env, stdio: 'ignore', detached: true })
  const ended = once(child, 'exit')
  const left = () => processesLeft(`${SERVICE_TAG}=${mark}`)
  await until('it has its mark', async () => (await left()).length > 0)
  const service = { pid: child.pid!, identity: (await readIdentity(child.pid!))!, serviceTag: mark }
  return {
    service,
    ended,
    left,
    async [Symbol.asyncDispose]() {
      for (const pid of await left()) kill(pid)
      await ended
    },
  }
}

test('readIdentity() distinguishes processes, and returns nothing for an exited one', async () => {
  await using one = await startLine('exec sleep 1000')
  assert.equal(await readIdentity(one.service.pid), one.service.identity)
  assert.notEqual(await readIdentity(process.pid), one.service.identity)
  kill(one.service.pid)
  await until('it has ended', async () => (await readIdentity(one.service.pid)) === undefined)
})

test('readIdentity() differs after a reboot and in another container', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'crab-proc-'))
  await mkdir(join(dir.path, 'sys/kernel/random'), { recursive: true })
  await mkdir(join(dir.path, '7'))
  const write = (boot: string, state: string) =>
    Promise.all([
      writeFile(join(dir.path, 'sys/kernel/random/boot_id'), `${boot}\n`),
      writeFile(join(dir.path, '7/stat'), `7 (a) b) ${state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 555 0`),
    ])
  await write('one', 'S')
  assert.equal(await readIdentity(7, dir.path), 'one.0.555')
  await write('two', 'S')
  assert.equal(await readIdentity(7, dir.path), 'two.0.555')
  await write('two', 'Z')
  assert.equal(await readIdentity(7, dir.path), undefined)
  assert.equal(await readIdentity(8, dir.path), undefined)
})

test('findTaggedProcess() returns the first process with a tag, not its children', async () => {
  await using one = await startLine('setsid sleep 1000 & exec sleep 1000')
  await until('both run', async () => (await one.left()).length === 2)
  assert.equal(await findTaggedProcess(one.service.serviceTag), one.service.pid)
  assert.equal(await findTaggedProcess(newUlid()), undefined)
})

test('endService() signals the process itself first, and lets it end its children', async () => {
  await using one = await startLine(
    'sleep 1000 & child=$!; trap "kill -0 $child && kill $child && wait $child; exit 5" TERM; wait',
  )
  await until('both run', async () => (await one.left()).length === 2)
  await endService(one.service, 10_000)
  assert.deepEqual(await one.ended, [5, null])
  assert.deepEqual(await one.left(), [])
})

test('endService() kills what does not end in time', async () => {
  await using one = await startLine('trap "" TERM; sleep 1000 & wait')
  await until('both run', async () => (await one.left()).length === 2)
  await endService(one.service, 10)
  assert.deepEqual(await one.ended, [null, 'SIGKILL'])
  assert.deepEqual(await one.left(), [])
})

test('endService() does not touch a new process with the same id', async () => {
  await using one = await startLine('exec sleep 1000')
  await endService({ ...one.service, identity: 'another', serviceTag: newUlid() }, 0)
  assert.equal(await readIdentity(one.service.pid), one.service.identity)
})
