import assert from 'node:assert/strict'
import { chmod, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { OWNER_TAG } from '../../../src/core/process/owner-tag.ts'
import { windowsPlatform } from '../../../src/core/process/windows.ts'
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

test('a program is started directly, with unchanged arguments and environment', async () => {
  await using windows = await openWindows()
  const env = { 'A-b.c': 'x', PATH: '/usr/bin:/bin' }
  await using running = await windows.host.start(makeCommand(['env', '-0'], { env }))
  const lines = (await readAllText(running.stdout)).split('\0').slice(0, -1)
  assert.deepEqual(lines.filter((line) => !line.startsWith(OWNER_TAG)).toSorted(), [
    'A-b.c=x',
    'PATH=/usr/bin:/bin',
  ])
  assert.deepEqual(await running.exited, { code: 0, signal: null })
  assert.deepEqual(await running.members(), [])
})

test('end() has taskkill end the tree, once', async () => {
  await using windows = await openWindows()
  const { word, command } = markedScript("trap '' TERM; echo ready; while :; do sleep 1; done")
  const running = await windows.host.start(command)
  await readFirstLine(running)
  await Promise.all([running.end(), running.end()])
  assert.equal((await running.exited).signal, 'SIGKILL')
  assert.equal(await windows.calls(), `/T /F /PID ${running.pid}\n`)
  await until('nothing is left', async () => (await livingWith(word)).length === 0)
})

test('end() of an exited program does not kill a new process with its id', async () => {
  await using windows = await openWindows()
  const running = await windows.host.start(makeScript('exit 3'))
  assert.deepEqual(await running.exited, { code: 3, signal: null })
  await running.end()
  assert.equal(await windows.calls(), '')
})

test('release() has taskkill end the tree, and waits for nothing', async () => {
  await using windows = await openWindows()
  const running = await windows.host.start(makeScript('sleep 600'))
  running.release()
  await until('taskkill was called', async () => (await windows.calls()) === `/T /F /PID ${running.pid}\n`)
})

test('end() settles where taskkill is missing', async () => {
  await using host = openTestHost(windowsPlatform({ taskkill: '/no/such/taskkill' }))
  const running = await host.start(makeScript('read line'))
  running.stdin.end()
  await running.end()
  assert.deepEqual(await running.exited, { code: 1, signal: null }) // of `read` at the end of its input
})

test('start() rejects a batch file, which only a shell can run', async () => {
  await using windows = await openWindows()
  await writeFile(join(windows.folder, 'npx.cmd'), '', { mode: 0o755 })
  await assert.rejects(windows.host.start(makeCommand(['./npx.cmd'], { cwd: windows.folder })), {
    kind: 'failed',
    message: `Cannot start ./npx.cmd: ${windows.folder}/npx.cmd is a script that only a shell can run`,
    hint: 'use the command cmd with the arguments /c and ./npx.cmd, or the program that it starts, such as node with the path of a script',
  })
  await writeFile(join(windows.folder, 'cmd'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 })
  const argv = ['./cmd', '/c', 'npx', '-y', 'a package'] as const
  await using running = await windows.host.start(makeCommand([...argv], { cwd: windows.folder }))
  assert.equal(await readAllText(running.stdout), '/c npx -y a package\n')
})

/** A host as on Windows, with a taskkill that records its calls and kills that process. */
async function openWindows() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'crab-windows-'))
  const [taskkill, log] = [join(folder.path, 'taskkill'), join(folder.path, 'log')]
  await writeFile(taskkill, `#!/bin/sh\necho "$@" >> '${log}'\nkill -KILL "$4"\n`)
  await chmod(taskkill, 0o755)
  await writeFile(log, '')
  const host = openTestHost(windowsPlatform({ taskkill }))
  return {
    host,
    folder: folder.path,
    calls: () => readFile(log, 'utf8'),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await folder.remove()
    },
  }
}
