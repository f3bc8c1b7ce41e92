import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempDisposable, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { OWNER_TAG } from '../../../src/core/process/owner-tag.ts'
import {
  makeCommand,
  makeScript,
  openTestHost,
  posixPlatforms,
  readAllText,
} from '../../support/process-platforms.ts'

for (const { name, platform } of posixPlatforms()) {
  describe(name, { concurrency: 4 }, () => {
    test('start() passes arguments to the program unchanged', async () => {
      const args = [
        '',
        ' ',
        '-n',
        '--',
        "it's",
        '"x"',
        '$HOME',
        '`id`',
        '*',
        'ä→😀',
        'two\nlines',
        'a=b',
        '\\',
      ]
      await using host = openTestHost(platform)
      await using running = await host.start(
        makeCommand(['/bin/sh', '-c', `printf '%s\\0' "$@"`, 'sh', ...args]),
      )
      assert.deepEqual((await readAllText(running.stdout)).split('\0').slice(0, -1), args)
    })

    for (const file of ['-c', 'two words', 'ä$x', "it's"]) {
      test(`start() starts a program called ${file}`, async () => {
        await using folder = await mkdtempDisposable(join(tmpdir(), 'crab -'))
        await symlink('/bin/echo', join(folder.path, file))
        await using host = openTestHost(platform)
        const env = { PATH: folder.path }
        await using named = await host.start(makeCommand([file, 'named'], { env }))
        await using relative = await host.start(makeCommand([`./${file}`, 'relative'], { cwd: folder.path }))
        assert.equal(await readAllText(named.stdout), 'named\n')
        assert.equal(await readAllText(relative.stdout), 'relative\n')
      })
    }

    test('start() gives the program the requested environment, the tag, and nothing else', async () => {
      const env = {
        group: 'a b',
        mark: '',
        watch: "it's",
        EMPTY: '',
        MULTI: 'a\nb',
        ÜMLAUT: 'no name to a shell',
      }
      await using host = openTestHost(platform)
      await using running = await host.start(makeCommand(['/usr/bin/env', '-0'], { env }))
      const lines = (await readAllText(running.stdout)).split('\0').slice(0, -1)
      const seen = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
      const { [OWNER_TAG]: mark, ÜMLAUT: _lost, SHLVL: _bash, ...rest } = seen
      const { ÜMLAUT: _, ...told } = env
      assert.match(mark, /^\d+\.\d+\.\d+\.\w{26}\.$/)
      assert.deepEqual(rest, told)
    })

    test('start() runs the program in its directory', async () => {
      await using folder = await mkdtempDisposable(join(tmpdir(), 'crab dir '))
      await using host = openTestHost(platform)
      const env = { PATH: '/usr/bin:/bin', PWD: '/nowhere' }
      await using running = await host.start(makeScript('/bin/pwd', { cwd: folder.path, env }))
      assert.equal(await readAllText(running.stdout), `${folder.path}\n`)
    })

    test('a program reads standard input and writes to both outputs', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('cat; echo problem >&2'))
      running.stdin.end('wörds')
      assert.equal(await readAllText(running.stdout), 'wörds')
      assert.equal(await readAllText(running.stderr), 'problem\n')
    })

    test('a program without standard input reads its end', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('wc -c; readlink /proc/self/fd/0', { stdin: 'none' }))
      for (const _ of [1, 2]) running.stdin.write('nobody reads this')
      running.stdin.end()
      assert.match(await readAllText(running.stdout), /^\s*0\n\/dev\/null\n$/)
    })

    test('merged outputs keep the order in which they were written', async () => {
      const script = 'for i in 1 2 3 4 5; do echo out; echo err >&2; done'
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript(script, { stderr: 'stdout' }))
      assert.equal(await readAllText(running.stdout), 'out\nerr\n'.repeat(5))
      assert.equal(await readAllText(running.stderr), '')
    })

    test('exited returns the exit code, or the signal', async () => {
      await using host = openTestHost(platform)
      await using failed = await host.start(makeScript('exit 3'))
      await using killed = await host.start(makeScript('kill -KILL $$'))
      assert.deepEqual(await failed.exited, { code: 3, signal: null })
      assert.deepEqual(await killed.exited, { code: null, signal: 'SIGKILL' })
    })

    test('the pid identifies the program, its group and its session', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('echo $$; ps -o pgid= -o sid= -p $$'))
      const [pid, group, session] = (await readAllText(running.stdout)).trim().split(/\s+/).map(Number)
      assert.deepEqual([pid, group, session], [running.pid, running.pid, running.pid])
    })

    test('a program has no child that it did not start, and none of our descriptors', async () => {
      const look = 'ls /proc/$$/fd; ps -o comm= --ppid $$; true'
      const plain = spawnSync('/bin/sh', ['-c', look], { encoding: 'utf8' }) // inherited by every program here
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript(look))
      assert.equal(await readAllText(running.stdout), plain.stdout)
    })
  })
}
