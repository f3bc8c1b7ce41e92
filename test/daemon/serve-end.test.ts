import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { request, requestMany, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { startTestDaemon } from '../support/daemon.ts'
import { makeModelHome, readDaemonLog } from '../support/daemon-home.ts'
import { leftAfter, livingWith } from '../support/orphans.ts'
import { readSessions } from '../support/talk.ts'
import { temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

describe('the end of a daemon', { concurrency: true }, () => {
  test('SIGTERM lets a turn end that ends soon', async () => {
    await using home = await makeModelHome([{ parts: ['a', 'b', 'c'], paceMs: 300 }])
    const daemon = await startTestDaemon(home)
    const logged: string[] = []
    for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
      if (event?.$case === 'chunk') logged.push(event.value.content)
      if (logged.length === 1) daemon.kill('SIGTERM')
    }
    assert.equal(logged.join(''), 'abc')
    assert.equal((await daemon.ended).code, 0)
    assert.deepEqual((await readSessions(home.paths.home))[0]?.said, ['user: go', 'assistant: abc'])
  })

  test('SIGTERM cancels a turn that does not end, and keeps its partial answer', async () => {
    await using home = await makeModelHome([{ parts: ['Half an answer'], end: 'hang' }])
    const daemon = await startTestDaemon(home)
    const following = Array.fromAsync(requestMany(daemon.dispatch, 'subscribeEvents', {}, NEVER))
    const rejected = assert.rejects(following, { kind: 'unavailable' })
    const seen: string[] = []
    const turn = (async () => {
      for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
        seen.push(event!.$case)
        if (event?.$case === 'chunk') daemon.kill('SIGTERM')
      }
    })()
    await turn.catch((reason: { kind?: string }) => seen.push(String(reason.kind)))
    await rejected
    assert.match(seen.at(-1)!, /^(end|unavailable)$/)
    assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
    assert.deepEqual((await readSessions(home.paths.home))[0]?.said, [
      'user: go',
      'assistant: Half an answer [cancelled]',
    ])
  })

  for (const detach of [false, true]) {
    const kind = detach ? 'detached' : 'followed'
    test(`a program that ignores SIGTERM ends with the daemon, and the step of its ${kind} turn is stored`, async () => {
      const mark = randomUUID()
      const command = `trap "" TERM INT HUP; echo ${mark}; while :; do sleep 1; done`
      await using home = await makeModelHome([
        { parts: [{ call: 'a', name: 'bash', args: JSON.stringify({ command }) }] },
      ])
      const daemon = await startTestDaemon(home)
      const options = { allow: ['bash'], env: { PATH: process.env['PATH']! } }
      const message = { sender: 'ann', content: 'go', options, detach }
      const turn = Array.fromAsync(streamTurn(daemon.dispatch, message, NEVER))
      const ended = turn.then(
        (events) => events.at(-1)?.event?.$case,
        (reason) => reason.kind,
      )
      await until('the program runs', async () => (await livingWith(mark)).length > 0)
      daemon.kill('SIGTERM')
      assert.match(await ended, /^(end|unavailable)$/)
      assert.equal((await daemon.ended).code, 0)
      assert.deepEqual(await leftAfter(mark, 5000), [])
      const [, ...said] = (await readSessions(home.paths.home))[0]!.said
      assert.match(
        said.join('|'),
        /^assistant: .*\|tool: .*Interrupted: the turn was cancelled while this ran/,
      )
      const levels = (await readDaemonLog(home)).map(({ level }) => level)
      assert.ok(!levels.includes('error'), String(levels))
    })
  }

  test('a turn without followers is ended and stored too', async () => {
    await using home = await makeModelHome([{ parts: ['Half'], end: 'hang' }])
    const daemon = await startTestDaemon(home)
    await request(daemon.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
    await until('the model is asked', () => home.server.requests.length === 1)
    daemon.kill('SIGINT')
    assert.equal((await daemon.ended).code, 0)
    assert.match(
      (await readSessions(home.paths.home))[0]!.said.join('|'),
      /^user: go(\|assistant: Half \[cancelled\])?$/,
    )
  })

  test('a second SIGINT ends the daemon immediately', async () => {
    await using home = await makeModelHome([{ parts: ['Half'], end: 'hang' }])
    const daemon = await startTestDaemon(home)
    await request(daemon.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
    await until('the model is asked', () => home.server.requests.length === 1)
    daemon.kill('SIGINT')
    await until('it stops', async () =>
      (await readDaemonLog(home)).some(({ message }) => message.startsWith('stopping')),
    )
    daemon.kill('SIGINT')
    assert.equal((await daemon.ended).code, 130)
  })

  test('a client may stop the daemon, and its followers are told', async () => {
    await using home = await temporaryHome()
    const daemon = await startTestDaemon(home)
    await request(daemon.dispatch, 'shutdown', {}, NEVER)
    assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
  })

  test('an unused daemon exits after its idle time, and not before', async () => {
    await using home = await makeModelHome([{ parts: ['a', 'b', 'c'], paceMs: 900 }])
    const daemon = await startTestDaemon(home, { args: ['--idle-exit', '2s'] })
    const { runId } = await request(
      daemon.dispatch,
      'send',
      { sender: 'ann', content: 'go', detach: true },
      NEVER,
    )
    assert.notEqual(runId, '')
    assert.deepEqual(await daemon.ended, { code: 0, stderr: '' })
    assert.deepEqual((await readSessions(home.paths.home))[0]?.said, ['user: go', 'assistant: abc'])
    assert.match((await readDaemonLog(home)).at(-2)!.message, /no client uses it/)
  })

  test('a client that only listens keeps the daemon in use', async () => {
    await using home = await temporaryHome()
    const daemon = await startTestDaemon(home, { args: ['--idle-exit', '2s'] })
    const leave = new AbortController()
    const listening = Array.fromAsync(requestMany(daemon.dispatch, 'subscribeEvents', {}, leave.signal))
    listening.catch(() => undefined) // the client has left
    await new Promise((resume) => setTimeout(resume, 2500))
    await request(daemon.dispatch, 'ping', {}, NEVER)
    leave.abort()
    assert.equal((await daemon.ended).code, 0)
  })

  test('a daemon whose home is removed exits', async () => {
    await using home = await temporaryHome()
    const program = [process.execPath, '--disable-warning=ExperimentalWarning', LOOKING] as const
    const daemon = await startTestDaemon(home, { program })
    await rm(home.paths.home, { recursive: true, maxRetries: 20 }) // while the daemon logs that it ends
    assert.equal((await daemon.ended).code, 0)
    assert.ok(!existsSync(home.paths.home))
  })

  for (const failure of ['thrown', 'rejected']) {
    test(`an internal error (${failure}) is logged, keeps the partial answer, releases everything and exits with 70`, async () => {
      await using home = await makeModelHome([{ parts: ['Half'], end: 'hang' }])
      const program = [process.execPath, '--disable-warning=ExperimentalWarning', FAILING] as const
      const daemon = await startTestDaemon(home, { program, env: { FAILURE: failure } })
      for await (const { event } of streamTurn(daemon.dispatch, { sender: 'ann', content: 'go' }, NEVER)) {
        if (event?.$case === 'chunk') daemon.kill('SIGUSR2')
      }
      const { code, stderr } = await daemon.ended
      assert.deepEqual([code, /^crabtalk: error\[internal\]: Error: boom\n/.test(stderr)], [70, true], stderr)
      assert.match(
        (await readDaemonLog(home)).map(({ message }) => message).join('|'),
        /crashed: Error: boom\n {4}at .*stopped$/s,
      )
      assert.deepEqual((await readSessions(home.paths.home))[0]?.said, [
        'user: go',
        'assistant: Half [cancelled]',
      ])
      assert.deepEqual(await readdir(home.paths.proc), [])
      assert.ok(!existsSync(join(home.paths.run, 'crabtalk.sock')))
    })
  }
})

const LOOKING = resolve(import.meta.dirname, '../support/self-checking-daemon.ts')
const FAILING = resolve(import.meta.dirname, '../support/failing-daemon.ts')
const NEVER = new AbortController().signal
