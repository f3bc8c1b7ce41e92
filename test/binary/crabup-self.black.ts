import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  appendFile,
  copyFile,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { quoteWord } from '../../src/core/base/quote-word.ts'
import { BINARY, makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

test('crabup self update replaces the program of a running service, which uses it after a restart', async () => {
  await using talk = await makeTalk([])
  const bin = await install(talk, 'prefix/bin')
  const file = await newer(talk)
  await writeFile(join(talk.cwd, 'SHA256SUMS'), `${await hashFile(file)}  newer\n`)
  const crabup = (words: string) =>
    talk.shell(`prefix/bin/crabup ${words}`, {
      env: { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' },
    })
  const pid = async () => (JSON.parse((await crabup('daemon status --json')).stdout) as { pid: number }).pid
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => assert.equal((await crabup('daemon stop')).code, 0))
  assert.equal((await crabup('daemon start')).code, 0)
  const [before, first] = [await stat(join(bin, 'crabtalk')), await pid()]

  const update = await crabup('self update --from newer')
  assert.equal(update.code, 0, update.stderr)
  assert.match(
    update.stdout,
    /^crabtalk (\S+) → \1: .*prefix\/bin\/crabtalk; the previous version is .*\/crabtalk\.old\n$/,
  )
  assert.equal(update.stderr, 'daemon still runs the previous version: crabup daemon restart\n')
  assert.equal((await stat(join(bin, 'crabtalk.old'))).ino, before.ino)
  assert.equal(await hashFile(join(bin, 'crabtalk')), await hashFile(file))
  assert.deepEqual((await readdir(bin)).toSorted(), ['crabtalk', 'crabtalk.old', 'crabup'])
  assert.equal(await pid(), first)

  const rollback = await crabup('self update --rollback --restart')
  assert.equal(rollback.code, 0, rollback.stderr)
  assert.match(rollback.stdout, /^crabtalk [^\n]*\ndaemon was restarted /)
  assert.equal((await stat(join(bin, 'crabtalk'))).size, before.size)
  assert.notEqual(await pid(), first)
})

test('crabup self update --restart rolls back when a service does not run with the new program', async () => {
  await using talk = await makeTalk([])
  const bin = await install(talk, 'bin')
  const unfit = `#!/bin/sh
test "$1" = --version && exec echo crabtalk 9.9.9
test "$*" = 'config check --json' && exec echo '[]'
test "$*" = '--as-crabup list --json' && exec echo '[{"name":"daemon"}]'
test "$1 $2" = 'config check' && echo 'config.toml:1: unknown key "x"' && exit 78
echo "$2 $3 with 9.9.9"
exit 1
`
  await writeFile(join(talk.cwd, 'unfit'), unfit)
  const sum = await hashFile(join(talk.cwd, 'unfit'))
  const env = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }
  const crabup = (words: string) => talk.shell(`bin/crabup ${words}`, { env })
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => assert.equal((await crabup('daemon stop')).code, 0))
  assert.equal((await crabup('daemon start')).code, 0)
  const before = await hashFile(join(bin, 'crabtalk'))
  const update = await crabup(`self update --from unfit --sha256 ${sum} --restart`)
  assert.equal(update.code, 1)
  assert.match(update.stdout, /^crabtalk \S+ → 9\.9\.9: [^\n]*\ndaemon restart with 9\.9\.9\n$/)
  assert.match(
    update.stderr,
    /^crabup: daemon does not run with crabtalk 9\.9\.9, so crabtalk \d\S+ was restored$/m,
  )
  assert.equal(await hashFile(join(bin, 'crabtalk')), before)
  assert.equal((await crabup('daemon status')).code, 0)
  assert.deepEqual((await readdir(bin)).toSorted(), ['crabtalk', 'crabtalk.old', 'crabup'])
})

test('crabup self update refuses a program with damaged commands, and one that only echoes', async () => {
  await using box = await makeSandbox()
  const bin = await install(box, 'bin')
  const before = await hashFile(join(bin, 'crabtalk'))
  await writeFile(join(box.cwd, 'damaged'), await damaged())
  await writeFile(join(box.cwd, 'echo'), '#!/bin/sh\necho crabtalk 9.9.9\n')
  for (const name of ['damaged', 'echo']) {
    const sum = await hashFile(join(box.cwd, name))
    const update = await box.shell(`bin/crabup self update --from ${name} --sha256 ${sum}`)
    assert.deepEqual([update.code, update.stdout], [65, ''], update.stderr)
    assert.match(
      update.stderr,
      /Cannot switch to the new program: the file is damaged: "config check --json" fails: /,
    )
  }
  assert.equal(await hashFile(join(bin, 'crabtalk')), before)
  assert.deepEqual((await readdir(bin)).toSorted(), ['crabtalk', 'crabup'])
})

test('crabtalk.old restores itself even when the program beside it is broken', async () => {
  await using box = await makeSandbox()
  const bin = await install(box, 'bin')
  const good = await hashFile(join(bin, 'crabtalk'))
  for (const words of ['self update --rollback', '--as-crabup self update --rollback']) {
    await rm(join(bin, 'crabtalk.old'), { force: true })
    await rename(join(bin, 'crabtalk'), join(bin, 'crabtalk.old'))
    await writeFile(join(bin, 'crabtalk'), await damaged(), { mode: 0o755 })
    const back = await box.shell(`bin/crabtalk.old ${words}`)
    assert.equal(back.code, 0, back.stderr)
    assert.match(
      back.stdout,
      /^crabtalk \S+ → \S+: .*\/bin\/crabtalk; the previous version is .*crabtalk\.old\n$/,
    )
    assert.equal(await hashFile(join(bin, 'crabtalk')), good)
    assert.notEqual(await hashFile(join(bin, 'crabtalk.old')), good)
  }
})

test('crabup self update does not mention services that run another program', async () => {
  await using talk = await makeTalk([])
  const bin = await install(talk, 'bin')
  const env = { ...WITH_DAEMON, CRABTALK_SERVICE_MANAGER: 'supervisor' }
  await using stack = new AsyncDisposableStack()
  stack.defer(async () => assert.equal((await talk.shell('crabup daemon stop', { env })).code, 0))
  assert.equal((await talk.shell('crabup daemon start', { env })).code, 0)
  const sum = await hashFile(await newer(talk))
  const update = await talk.shell(`bin/crabup self update --from newer --sha256 ${sum}`, { env })
  assert.deepEqual([update.code, update.stderr], [0, ''])
  assert.ok(existsSync(join(bin, 'crabtalk.old')))
})

test('crabup self update changes nothing when the file is not the expected one', async () => {
  await using box = await makeSandbox()
  const bin = await install(box, 'bin')
  const before = await stat(join(bin, 'crabtalk'))
  await writeFile(join(box.cwd, 'newer'), 'anything')
  const sum = createHash('sha256').update('something else').digest('hex')
  const cases: [args: string, code: number, says: RegExp][] = [
    ['--from newer', 65, /its checksum is unknown/],
    [`--from newer --sha256 ${sum}`, 65, /its checksum does not match --sha256/],
    ['--from nowhere --sha256 ff', 66, /Cannot read .*nowhere: it does not exist/],
    ['--from newer --rollback', 2, /give only one of/],
    [`--sha256 ${sum}`, 2, /--from/],
    ['--rollback', 1, /Cannot roll back: .+ does not exist/],
  ]
  for (const [args, code, says] of cases) {
    const finished = await box.shell(`bin/crabup self update ${args}`)
    assert.deepEqual([finished.code, finished.stdout], [code, ''], finished.stderr)
    assert.match(finished.stderr, says)
  }
  assert.deepEqual((await readdir(bin)).toSorted(), ['crabtalk', 'crabup'])
  const { ino, mtimeMs } = await stat(join(bin, 'crabtalk'))
  assert.deepEqual([ino, mtimeMs], [before.ino, before.mtimeMs])
})

test('crabup self update keeps the program when it is interrupted or killed', async () => {
  await using box = await makeSandbox()
  const bin = await install(box, 'bin')
  const before = await stat(join(bin, 'crabtalk'))
  const slow = '#!/bin/sh\necho >tried\nwhile kill -0 $PPID; do sleep 0.02; done 2>/dev/null\n'
  await writeFile(join(box.cwd, 'slow'), slow)
  const args = ['self', 'update', '--from', 'slow', '--sha256', await hashFile(join(box.cwd, 'slow'))]
  for (const [signal, code, left] of [
    ['SIGINT', 130, 0],
    ['SIGKILL', 137, 1],
  ] as const) {
    const child = spawn(join(bin, 'crabup'), args, { cwd: box.cwd, env: box.env, stdio: 'ignore' })
    await until('the new program is tried', () => existsSync(join(box.cwd, 'tried')))
    await rm(join(box.cwd, 'tried'))
    child.kill(signal)
    const [exitCode, by] = await once(child, 'exit')
    assert.equal(exitCode ?? 128 + constants.signals[by as NodeJS.Signals], code)
    const names = (await readdir(bin)).toSorted()
    assert.equal(names.filter((name) => /^\.crabtalk-\w+\.new$/.test(name)).length, left)
    assert.deepEqual(names.slice(left), ['crabtalk', 'crabup'])
    const { ino, mtimeMs } = await stat(join(bin, 'crabtalk'))
    assert.deepEqual([ino, mtimeMs], [before.ino, before.mtimeMs])
  }
  await until('what was tried has ended', async () => (await box.processesLeft()).length === 0)
})

test('crabup self update refers to npm when npm installed the program', async () => {
  await using box = await makeSandbox()
  await install(box, 'npm/lib/node_modules/crabtalk/bin')
  await writeFile(join(box.cwd, 'npm/npm'), '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 })
  const path = `PATH="$PWD/npm:$PATH" npm/lib/node_modules/crabtalk/bin/crabup`
  const update = await box.shell(`${path} self update --version 9.9.9`)
  const command = (prefix: string) => `install --global --prefix ${prefix} crabtalk@9.9.9\n`
  const prefix = join(box.cwd, 'npm')
  assert.deepEqual([update.code, update.stdout], [3, command(prefix)])
  assert.ok(update.stderr.endsWith(`npm updates it: npm ${command(quoteWord(prefix))}`), update.stderr)
  const file = await box.shell(`${path} self update --from newer`)
  assert.deepEqual([file.code, file.stdout], [1, ''])
  assert.match(file.stderr, /Cannot replace a program that npm installed/)
})

test('the program acts as crabup when its first argument is --as-crabup', async () => {
  await using box = await makeSandbox()
  assert.match((await box.run(['--as-crabup', '--version'])).stdout, /^crabup \d/)
  assert.match((await box.run(['--as-crabup', 'self', 'update', '--help'])).stdout, /^Replace this program/)
})

/** Puts the program into a folder of the working directory, with the layout of the archives. */
async function install(box: Pick<Sandbox, 'cwd' | 'shell'>, folder: string): Promise<string> {
  const bin = join(box.cwd, folder)
  await mkdir(bin, { recursive: true })
  await link(BINARY, join(bin, 'crabtalk')).catch(() => copyFile(BINARY, join(bin, 'crabtalk')))
  await box.shell(`ln -s crabtalk "${folder}/crabup"`)
  return bin
}

/** Returns the path of a different but working program: bytes appended to an executable have no effect. */
async function newer({ cwd }: Pick<Sandbox, 'cwd'>): Promise<string> {
  const file = join(cwd, 'newer')
  await copyFile(BINARY, file)
  await appendFile(file, '\n')
  return file
}

/** Returns the program with a hole in its pack: it starts and prints its version, and nothing else works. */
async function damaged(): Promise<Buffer> {
  const bytes = await readFile(BINARY)
  const pack = await readFile(join(dirname(BINARY), 'build/pack.bin'))
  const at = bytes.indexOf(pack.subarray(0, 4096))
  assert.ok(at > 0, 'the pack is in the program')
  return bytes.fill(0, at + 4, at + 200_004)
}

async function hashFile(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}
