import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { livingWith } from '../../support/orphans.ts'
import {
  makeScript,
  markedScript,
  openTestHost,
  posixPlatforms,
  readAllText,
  readFirstLine,
} from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

for (const { name, platform } of posixPlatforms()) {
  describe(name, { concurrency: 4 }, () => {
    test('exited resolves while a background process holds the pipes', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('sleep 600 & echo $!'))
      const child = Number(await readFirstLine(running))
      assert.deepEqual(await running.exited, { code: 0, signal: null })
      assert.deepEqual(await running.members(), [child])
      assert.equal(running.stdout.readableEnded, false)
    })

    test('the output of a program can be read long after its end', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('echo early; echo problem >&2'))
      await running.exited
      await until('its members are gone', async () => (await running.members()).length === 0)
      assert.equal(await readAllText(running.stdout), 'early\n')
      assert.equal(await readAllText(running.stderr), 'problem\n')
    })

    test('members() are the program and its children, without the watcher', async () => {
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript('sleep 600 & echo $!; wait'))
      const child = Number(await readFirstLine(running))
      assert.deepEqual((await running.members()).toSorted(), [running.pid, child].toSorted())
    })

    test('end() lets a program clean up', async () => {
      const script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done"
      await using host = openTestHost(platform)
      await using running = await host.start(makeScript(script))
      await readFirstLine(running)
      const rest = readAllText(running.stdout)
      await running.end()
      assert.equal(await rest, 'bye\n')
      assert.deepEqual(await running.exited, { code: 7, signal: null })
    })

    test('end() kills a program that ignores TERM and the end of its input', async () => {
      const { word, command } = markedScript(STUBBORN)
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await readFirstLine(running)
      await running.end()
      assert.deepEqual(await running.exited, { code: null, signal: 'SIGKILL' })
      assert.deepEqual(await livingWith(word), [])
    })

    test('end() ends the leftover processes of a program that has exited', async () => {
      const { word, command } = markedScript(`(${STUBBORN}) & sleep 600 & read line`)
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await readFirstLine(running)
      running.stdin.end()
      await running.exited
      await running.end()
      assert.deepEqual(await livingWith(word), [])
    })

    test('end() sends one TERM', async () => {
      const counting = 'while [ $n = 0 ]; do sleep 0.01; done; sleep 0.3; echo $n'
      await using host = openTestHost(platform)
      await using running = await host.start(
        makeScript(`n=0; trap 'n=$((n+1))' TERM; echo ready; ${counting}`),
      )
      await readFirstLine(running)
      const rest = readAllText(running.stdout)
      await running.end()
      assert.equal(await rest, '1\n')
    })

    test('end() can be called any number of times, also after the end', async () => {
      const { word, command } = markedScript('sleep 600')
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await Promise.all([running.end(), running.end()])
      assert.deepEqual(await livingWith(word), [])
      await running.end()
      running.release()
      assert.deepEqual(await running.members(), [])
    })

    test('end() of a stopped group ends it', async () => {
      const { word, command } = markedScript('echo ready; kill -STOP 0')
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await readFirstLine(running)
      await running.end()
      assert.deepEqual(await livingWith(word), [])
    })

    test('release() ends a group in the background', async () => {
      const { word, command } = markedScript(`(${STUBBORN}) & cat`)
      await using host = openTestHost(platform)
      const running = await host.start(command)
      await readFirstLine(running)
      running.release()
      await until('nothing of it is left', async () => (await livingWith(word)).length === 0)
    })

    test('a group whose watcher is killed ends', async () => {
      const { word, command } = markedScript(STUBBORN)
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await readFirstLine(running)
      const watcher = (await livingWith(word)).find(isWatcher)!
      process.kill(watcher.pid, 'SIGKILL')
      await running.exited
      await until('nothing of it is left', async () => (await livingWith(word)).length === 0)
    })

    test('a program that signals its own group is still guarded', async () => {
      const signals = 'for signal in TERM INT HUP QUIT; do kill -s $signal 0; done'
      const { word, command } = markedScript(`trap '' TERM INT HUP QUIT; ${signals}; echo ready; exec cat`)
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      await readFirstLine(running)
      assert.ok((await livingWith(word)).some(isWatcher))
      running.stdin.end('x')
      assert.equal(await readAllText(running.stdout), 'x')
      assert.deepEqual(await running.exited, { code: 0, signal: null })
    })

    test('a program that kills its whole group has ended, and so has its group', async () => {
      const { word, command } = markedScript('sleep 600 & kill -KILL 0')
      await using host = openTestHost(platform)
      await using running = await host.start(command)
      assert.deepEqual(await running.exited, { code: null, signal: 'SIGKILL' })
      await running.end()
      assert.deepEqual(await livingWith(word), [])
    })
  })
}

/** Prints that it is ready, then ends only on KILL. */
const STUBBORN = "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done"

function isWatcher({ command }: { command: string }): boolean {
  return command.includes('crabtalk-watch')
}
