import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { CrabError } from '../../../src/core/base/errors.ts'
import { type RunCommandOptions, runCommand } from '../../../src/core/process/run-command.ts'
import type { ProcessCommand } from '../../../src/core/process/types.ts'
import { windowsPlatform } from '../../../src/core/process/windows.ts'
import { livingWith } from '../../support/orphans.ts'
import { makeCommand, makeScript, markedScript, openTestHost } from '../../support/process-platforms.ts'
import { until } from '../../support/until.ts'

const never = new AbortController().signal

describe('runCommand()', { concurrency: 4 }, () => {
  test('returns output and exit code', async () => {
    await using box = await openBox()
    const result = await box.run(makeScript('echo out; echo err >&2; echo out; exit 3'))
    assert.deepEqual(result, {
      output: 'out\nerr\nout\n',
      status: { code: 3, signal: null },
      timedOut: false,
      droppedBytes: 0,
      spillPath: undefined,
      running: undefined,
    })
    assert.deepEqual(await readdir(box.path), [])
  })

  test('returns the signal that ended a program', async () => {
    await using box = await openBox()
    assert.deepEqual((await box.run(makeScript('kill -SEGV $$'))).status, { code: null, signal: 'SIGSEGV' })
  })

  test('gives the program its input, or none', async () => {
    await using box = await openBox()
    assert.equal((await box.run(makeCommand(['cat']), { stdin: 'wörds' })).output, 'wörds')
    assert.equal((await box.run(makeCommand(['cat']))).output, '')
  })

  test('accepts a program that reads no input', async () => {
    await using box = await openBox()
    assert.equal(
      (await box.run(makeScript('exec <&-; echo done'), { stdin: 'x'.repeat(2 ** 20) })).output,
      'done\n',
    )
  })

  test('fails like start()', async () => {
    await using box = await openBox()
    await assert.rejects(box.run(makeCommand(['no-such-program'])), { kind: 'missing' })
  })

  test('returns everything written before the exit while other processes hold the output', async () => {
    const { word, command } = markedScript('sleep 600 & head -c 150000 /dev/zero | tr "\\0" x; echo end')
    await using box = await openBox()
    const { output } = await box.run(command, { capBytes: 200_000 })
    assert.equal(output, `${'x'.repeat(150_000)}end\n`)
    assert.deepEqual(await livingWith(word), [])
  })

  test('resolves while other processes flood the output', async () => {
    const { word, command } = markedScript('echo started; yes & sleep 0.1')
    await using box = await openBox()
    const { output, status } = await box.run(command)
    assert.match(output, /^started\n/)
    assert.deepEqual(status, { code: 0, signal: null })
    assert.deepEqual(await livingWith(word), [])
  })

  test('waits for a program that closes its output before it exits', async () => {
    await using box = await openBox()
    const { status } = await box.run(makeScript('echo out; exec >&- 2>&-; sleep 0.1; exit 4'))
    assert.deepEqual(status, { code: 4, signal: null })
  })

  test('with keep leaves background processes running, and keeps reading', async () => {
    await using box = await openBox()
    const file = join(box.path, 'told')
    const flood = `until test -e ${file}; do sleep 0.05; done; yes | head -c 1000000; exec sleep 600`
    const { word, command } = markedScript(`(${flood}) & echo started`)
    const { output, running } = await box.run(command, { keep: true })
    assert.equal(output, 'started\n')
    await writeFile(file, '')
    await until('the flood is over', async () =>
      (await livingWith(word)).some((living) => living.command === 'sleep 600'),
    )
    assert.equal((await running!.members()).length, 1)
    await running!.end()
    assert.deepEqual(await livingWith(word), [])
  })

  test('with keep ends an empty group', async () => {
    const { word, command } = markedScript('echo done')
    await using box = await openBox()
    assert.equal((await box.run(command, { keep: true })).running, undefined)
    assert.deepEqual(await livingWith(word), [])
  })

  test('ends a program with its processes after the time limit, and says so', async () => {
    const { word, command } = markedScript('sleep 600 & printf begun; sleep 600')
    await using box = await openBox()
    const { output, status, timedOut } = await box.run(command, { timeoutMs: 500, keep: true })
    assert.match(output, /^(begun\n)?\[ended here: its 0\.5 s were up\]\n$/)
    assert.deepEqual(status, { code: null, signal: 'SIGTERM' })
    assert.equal(timedOut, true)
    assert.deepEqual(await livingWith(word), [])
  })

  test('accepts a time limit that is longer than a timer can be', async () => {
    await using box = await openBox()
    assert.equal((await box.run(makeScript('sleep 0.1'), { timeoutMs: 2 ** 40 })).timedOut, false)
  })

  test('fails with the reason of its abort, after everything has ended', async () => {
    const { word, command } = markedScript('sleep 600 & sleep 600')
    await using box = await openBox()
    const abort = new AbortController()
    const running = runCommand(box.host, command, { spillFolder: box.spill }, abort.signal)
    await until('both run', async () => (await livingWith(word)).filter(isSleep).length === 2)
    const reason = new CrabError('timeout', 'Cannot go on: enough')
    abort.abort(reason)
    await assert.rejects(running, (failure) => failure === reason)
    assert.deepEqual(await livingWith(word), [])
  })

  test('starts nothing when it is already aborted', async () => {
    await using box = await openBox()
    const running = runCommand(
      box.host,
      makeCommand(['touch', join(box.path, 'ran')]),
      { spillFolder: box.spill },
      AbortSignal.abort(),
    )
    await assert.rejects(running, { kind: 'cancelled' })
    assert.deepEqual(await readdir(box.path), [])
  })

  test('holds a flood in bounded memory, and its start in a file', async () => {
    await using box = await openBox()
    const before = process.memoryUsage().rss
    const { output, droppedBytes, spillPath } = await box.run(
      makeCommand(['head', '-c', '300000000', '/dev/zero']),
      {
        maxSpillBytes: 1_000_000,
      },
    )
    assert.ok(process.memoryUsage().rss - before < 150_000_000)
    assert.equal(droppedBytes, 300_000_000 - 32 * 1024)
    assert.match(
      output,
      /^\0{16384}\n\[\d+ bytes are left out here; the first 1000000 bytes of the output are in .+\]\n\0{16384}$/,
    )
    assert.equal((await stat(spillPath!)).size, 1_000_000)
  })

  test('returns whole characters where two streams meet', async () => {
    await using host = openTestHost(windowsPlatform()) // which keeps two
    const script = "printf '\\303'; printf x >&2; sleep 0.1; printf '\\244\\n'"
    const { output } = await runCommand(host, makeScript(script), { spillFolder: '/no/such' }, never)
    assert.match(output, /^(xä\n|ä\nx)$/)
  })

  test('returns incomplete characters at the end too', async () => {
    await using box = await openBox()
    assert.equal((await box.run(makeScript("printf 'a\\303'"))).output, 'a\ufffd')
  })

  test('ends all processes when its filter fails, and fails with the same error', async () => {
    for (const failsAt of ['a piece', 'the end']) {
      const { word, command } = markedScript(
        failsAt === 'a piece' ? 'sleep 600 & echo x; sleep 600' : 'sleep 600 & echo x',
      )
      await using box = await openBox()
      const failure = new Error('no filter')
      const filter = () => (piece: Buffer, isEnd: boolean) => {
        if (isEnd === (failsAt === 'the end')) throw failure
        return piece
      }
      await assert.rejects(box.run(command, { filter, keep: true }), (reason) => reason === failure)
      assert.deepEqual(await livingWith(word), [])
    }
  })

  test('ends all processes when its filter cannot be created', async () => {
    const { word, command } = markedScript('sleep 600 & sleep 600')
    await using box = await openBox()
    const filter = () => {
      throw new TypeError('no filter')
    }
    await assert.rejects(box.run(command, { filter }), TypeError)
    assert.deepEqual(await livingWith(word), [])
  })

  test('writes all of a long output to a file', async () => {
    await using box = await openBox()
    const { spillPath } = await box.run(makeCommand(['seq', '100000']))
    assert.equal(
      await readFile(spillPath!, 'utf8'),
      Array.from({ length: 100_000 }, (_, at) => `${at + 1}\n`).join(''),
    )
  })
})

function isSleep({ command }: { command: string }): boolean {
  return command === 'sleep 600'
}

async function openBox() {
  const { path, remove } = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const spill = join(path, 'spill')
  const host = openTestHost()
  return {
    path,
    spill,
    host,
    run: (command: ProcessCommand, options: Partial<RunCommandOptions> = {}) =>
      runCommand(host, command, { spillFolder: spill, ...options }, never),
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]()
      await remove()
    },
  }
}
