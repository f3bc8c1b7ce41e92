import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startStreamable } from '../support/mcp/http/official-servers.ts'
import { type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { mcp, startServing, writeAgents } from '../support/mcp/watched-agents.ts'
import { makeSandbox, type Running, type Sandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed } from '../support/talk.ts'
import { until } from '../support/until.ts'

test('mcp logs shows the last lines that a server wrote, and no secret', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await serve(
    box,
    watchedServer(records.path, {}, { name: 'one', env: { TOKEN: 's3cr3t-value' } }),
    async () => {
      const empty = await mcp(box, ['logs', 'one'])
      assert.deepEqual(
        [empty.stdout, empty.stderr, empty.code],
        ['', 'one has written nothing to standard error\n', 0],
      )
      for (const text of ['first', 'token s3cr3t-value', 'third']) await say(box, text)
      const all = await mcp(box, ['logs', 'one'])
      assert.deepEqual([all.stdout, all.stderr, all.code], ['first\ntoken [secret]\nthird\n', '', 0])
      assert.equal((await mcp(box, ['logs', 'one', '-n', '1'])).stdout, 'third\n')
      assert.equal((await mcp(box, ['logs', 'one', '--lines=0'])).stdout, '')
      assert.deepEqual(JSON.parse((await mcp(box, ['logs', 'one', '--json', '-n2'])).stdout), [
        'token [secret]',
        'third',
      ])
      assertFailed(await mcp(box, ['logs', 'none']), 'missing', { message: /"none"/, hint: /one/ })
      assertFailed(await mcp(box, ['logs', 'one', '-n', 'x']), 'usage', { message: /--lines x/ })
    },
  )
})

test('mcp logs -f follows a server through its restarts until Ctrl-C', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await serve(
    box,
    watchedServer(records.path, {}, { name: 'one', env: { TOKEN: 's3cr3t-value' } }),
    async () => {
      await say(box, 'before')
      await say(box, 'last before')
      const following = start(box, ['logs', '-f', '-n', '1', 'one'])
      const json = start(box, ['logs', '-f', 'one', '--json'])
      await following.prints(/^last before\n/)
      await json.prints(/"last before"/)
      await say(box, 'token s3cr3t-value')
      await mcp(box, ['reconnect', 'one'])
      await say(box, 'of the next')
      await following.prints(/of the next\n/)
      await json.prints(/of the next/)
      for (const { child } of [following, json]) child.kill('SIGINT')
      const ended = await following.finished
      assert.deepEqual(
        [ended.stdout, ended.stderr, ended.code],
        ['last before\ntoken [secret]\nof the next\n', '', 130],
      )
      const lines = (await json.finished).stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      assert.deepEqual(
        lines.map(({ line, at }) => [line, at === null]),
        [
          ['before', true],
          ['last before', true],
          ['token [secret]', false],
          ['of the next', false],
        ],
      )
      const wrong = await mcp(box, ['logs', '-f', 'none'])
      assertFailed(wrong, 'missing', { message: /"none"/, hint: /one/ })
    },
  )
})

test('mcp trace shows every message with its time, direction, method, id and duration, and no secret', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await serve(
    box,
    watchedServer(records.path, {}, { name: 'one', env: { TOKEN: 's3cr3t-value' } }),
    async () => {
      const [text, json] = [start(box, ['trace', '-f', 'one']), start(box, ['trace', '--json'])]
      await listening(box, [text, json])
      await mcp(box, ['call', 'one', 'echo', `text=s3cr3t-value ${'long '.repeat(60)}`])
      await text.prints(/ ← {2}one {2}tools\/call result {2}#.*long long/)
      await json.prints(/"kind":"result".*long long/)
      for (const { child } of [text, json]) child.kill('SIGINT')
      const { stdout, stderr, code } = await text.finished
      assert.deepEqual([stderr, code], ['', 130])
      assert.match(
        stdout,
        /^\d\d:\d\d:\d\d\.\d{3} {2}→ {2}one {2}tools\/call {2}#\S+ {2}\{.*"name":"echo".*\[secret\] (long ){60}"/m,
      )
      assert.match(
        stdout,
        /^\d\d:\d\d:\d\d\.\d{3} {2}← {2}one {2}tools\/call result {2}#\S+ {2}\d+ ms {2}\{/m,
      )
      assert.doesNotMatch(stdout + json.printed(), /s3cr3t/)
      const frames = json
        .printed()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const call = frames.find(({ method, kind }) => method === 'tools/call' && kind === 'request')
      const answer = frames.find(({ id, kind }) => kind === 'result' && id === call.id)
      assert.deepEqual(
        [call.direction, answer.direction, answer.method, typeof answer.duration_ms],
        ['out', 'in', 'tools/call', 'number'],
      )
      assert.equal(call.payload.params.name, 'echo')
      assert.deepEqual(answer.owners, [{ agent: 'crab', name: 'one' }])
    },
  )
})

test('mcp trace -f on a terminal truncates messages to its width, shows them whole with --full, and ends with Ctrl-C', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await serve(box, watchedServer(records.path, {}, { name: 'one' }), async () => {
    const open = (...more: string[]) =>
      box.terminal(['mcp', 'trace', '-f', ...more], { columns: 70, env: WITH_DAEMON })
    const [narrow, full] = [open('one'), open('--full')]
    const text = `text=${'wide '.repeat(40)}end`
    await until('both show it', async () => {
      await mcp(box, ['call', 'one', 'echo', text])
      return [narrow, full].every((terminal) => / result /.test(terminal.output()))
    })
    assert.match(full.output().replaceAll(/\r?\n/g, ''), /(wide ){40}end/)
    for (const terminal of [narrow, full]) terminal.type('\x03')
    assert.deepEqual(await Promise.all([narrow.finished, full.finished]), [BY_CTRL_C, BY_CTRL_C])
    const lines = narrow
      .output()
      .replaceAll('^C', '')
      .split(/\r?\n/)
      .filter((line) => line.includes('one'))
    assert.ok(lines.length >= 2 && lines.every((line) => [...line].length <= 70), narrow.output())
    assert.ok(lines.every((line) => line.endsWith('…')))
  })
})

test('mcp trace ends with its reader, and rejects an unknown server', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await serve(box, watchedServer(records.path, {}, { name: 'one' }), async () => {
    const piped = box.shell('crabtalk mcp trace --json | head -n 1', {
      env: WITH_DAEMON,
    })
    let isOver = false
    void piped.then(() => {
      isOver = true
    })
    await until('it has ended', async () => {
      await mcp(box, ['call', 'one', 'echo', 'text=x'])
      return isOver
    })
    assert.match((await piped).stdout, /^\{"at":.*\}\n/)
    assertFailed(await mcp(box, ['trace', 'onne']), 'missing', { message: /"onne"/, hint: /"one"/ })
    assertFailed(await mcp(box, ['trace', '-a', 'nobody']), 'missing', { message: /"nobody"/ })
  })
})

test('mcp trace, ps, health and logs show an HTTP server as well', async () => {
  await using box = await makeSandbox()
  await using remote = await startStreamable()
  await writeAgents(box, { crab: [] })
  await using _daemon = await startServing(box, 0)
  const added = await mcp(box, ['add', '--auth', 's3cr3t-value', 'far', remote.url])
  assert.deepEqual([added.stderr, added.code], ['', 0])
  const tracing = start(box, ['trace', 'far'])
  await until('it listens', async () => {
    await mcp(box, ['ping', 'far'])
    return tracing.printed() !== ''
  })
  assert.equal((await mcp(box, ['call', 'far', 'echo', 'text=hi'])).stdout, 'hi\n')
  await tracing.prints(/ ← {2}far {2}tools\/call result {2}#\S+ {2}\d+ ms {2}\{/)
  tracing.child.kill('SIGINT')
  assert.equal((await tracing.finished).code, 130)
  const ps = await mcp(box, ['ps'])
  assert.match(ps.stdout, /^[0-9a-f]{8} +far +connected +crab +- +- +1 +0 +\d+ ms +1 +\d+[sm]\n$/m)
  assert.match((await mcp(box, ['health', 'far'])).stdout, /^far +connected /m)
  assert.equal((await mcp(box, ['logs', 'far'])).code, 0)
  assert.doesNotMatch(tracing.printed() + ps.stdout, /s3cr3t/)
})

/** The end of a process by SIGINT, which a shell reports as 130. */
const BY_CTRL_C = { code: 0, signal: 2 }

/** Declares a server for crab, and runs a daemon with it during the work. */
async function serve(box: Sandbox, server: WatchedServer, work: () => Promise<void>): Promise<void> {
  await writeAgents(box, { crab: [server.entry] })
  await using _daemon = await startServing(box, 1)
  await work()
}

async function say(box: Sandbox, text: string): Promise<void> {
  const { stderr, code } = await mcp(box, ['call', 'one', 'stderr', `text=${text}`])
  assert.deepEqual([stderr, code], ['', 0])
}

function start(box: Sandbox, words: readonly string[]): Running {
  return box.start(['mcp', ...words], { env: WITH_DAEMON })
}

/** Waits until each of them has printed something, which they do when they are listening. */
async function listening(box: Sandbox, running: readonly Running[]): Promise<void> {
  await until('all listen', async () => {
    await mcp(box, ['ping', 'one'])
    return running.every((one) => one.printed() !== '')
  })
}
