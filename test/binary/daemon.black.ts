import assert from 'node:assert/strict'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CRABTALK } from '../../src/commands/table.ts'
import { makeSandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

test('daemon status, reload and stop report that no daemon is running', async () => {
  await using box = await makeSandbox()
  const status = await box.run(['daemon', 'status'])
  assert.deepEqual(
    [status.stdout, status.stderr, status.code],
    [`no daemon is running for ${box.home}\n`, '', 3],
  )
  const json = await box.run(['daemon', 'status', '--json'])
  assert.deepEqual([JSON.parse(json.stdout), json.code], [{ running: false, home: box.home }, 3])
  for (const verb of ['reload', 'stop']) {
    assertFailed(await box.run(['daemon', verb]), 'missing', {
      message: /no daemon is running for/,
      hint: /daemon run/,
    })
  }
})

test('daemon status shows the daemon and its activity; stop waits until it has ended', async () => {
  await using talk = await makeTalk([{ parts: ['Half'], end: 'hang' }])
  const daemon = await startSandboxDaemon(talk, ['--idle-exit', '10m'])
  const sending = talk.startSend(['-s', 'ann', 'go'], { env: WITH_DAEMON })
  await sending.prints(/Half/)
  const { stdout, code } = await talk.run(['daemon', 'status'])
  assert.equal(code, 0)
  assert.match(stdout, new RegExp(`^pid +${daemon.pid}\nversion +\\S+\nup +\\d+`))
  assert.match(stdout, /\nmodel +scripted\n(.*\n)*clients +1\nturns +1\n/)
  assert.match(
    stdout,
    /\nends +after 10m without use\n\nAGENT +SENDER +FOR +STATE +TITLE\ncrab +ann +\S+ +runs\n$/,
  )
  const { turns, ...figures } = JSON.parse((await talk.run(['daemon', 'status', '--json'])).stdout)
  assert.deepEqual(
    [figures.running, figures.pid, figures.home, figures.idle_exit_ms],
    [true, daemon.pid, talk.home, 600_000],
  )
  assert.deepEqual([turns[0].agent, turns[0].sender, turns[0].asks], ['crab', 'ann', 0])
  const stopped = await talk.run(['daemon', 'stop'])
  assert.deepEqual([stopped.stdout, stopped.stderr, stopped.code], [`stopped (pid ${daemon.pid})\n`, '', 0])
  assert.equal((await daemon.finished).code, 0)
  const cut = await sending.finished
  assert.deepEqual([cut.stdout, cut.code], ['Half\n', 69])
  assert.deepEqual((await talk.sessions())[0]?.said, ['user: go', 'assistant: Half [cancelled]'])
})

test('daemon stop ends a daemon whose socket was removed', async () => {
  await using box = await makeSandbox()
  const daemon = await startSandboxDaemon(box)
  await rm(join(box.home, 'run/crabtalk.sock'))
  const status = await box.run(['daemon', 'status'])
  assert.match(status.stdout, new RegExp(`its socket was removed \\(pid ${daemon.pid}\\)`))
  assert.equal(status.code, 3)
  const stopped = await box.run(['daemon', 'stop'])
  assert.deepEqual([stopped.stdout, stopped.stderr, stopped.code], [`stopped (pid ${daemon.pid})\n`, '', 0])
  assert.equal((await daemon.finished).code, 0)
})

test('daemon stop notices the end of a daemon whose parent never reaps it', async () => {
  await using box = await makeSandbox()
  // The shell starts the daemon and becomes `daemon stop` itself, which waits for no child.
  const lines = [
    'crabtalk daemon run >/dev/null 2>&1 &',
    'until crabtalk daemon status >/dev/null; do :; done',
  ]
  const stopped = await box.shell([...lines, 'exec crabtalk daemon stop'].join('\n'))
  assert.match(stopped.stdout, /^stopped \(pid \d+\)\n$/)
  assert.deepEqual([stopped.stderr, stopped.code], ['', 0])
})

test('daemon reload reports a mistake in a file', async () => {
  await using talk = await makeTalk([{ parts: ['still here'] }])
  await using daemon = await startSandboxDaemon(talk)
  const good = await talk.run(['daemon', 'reload'])
  assert.deepEqual([good.stdout, good.code], [`reloaded (pid ${daemon.pid})\n`, 0])
  await talk.shell('echo "modell = 1" >"$CRABTALK_HOME/config.toml"')
  assertFailed(await talk.run(['daemon', 'reload']), 'config', { message: /config\.toml:1/ })
  assert.equal((await talk.send(['hi'], { env: WITH_DAEMON })).stdout, 'still here\n')
})

test('daemon run starts when its --env-file does not exist', async () => {
  await using box = await makeSandbox()
  await using daemon = await startSandboxDaemon(box, ['--env-file', join(box.home, 'service.env')])
  assert.ok(daemon.pid > 0)
})

test('daemon run rejects invalid ports and durations', async () => {
  await using box = await makeSandbox()
  for (const options of [
    ['--port', '70000'],
    ['--port', 'x'],
    ['--idle-exit', 'soon'],
  ]) {
    const { code, stderr } = await box.run(['daemon', 'run', ...options])
    assert.deepEqual([code, stderr.includes('error[usage]')], [2, true])
  }
})

test('daemon run prints readable logs on a terminal, and ends with Ctrl-C', async () => {
  await using box = await makeSandbox()
  const terminal = box.terminal(['daemon', 'run'])
  await terminal.shows(/\d\d:\d\d:\d\d info +listening on unix:/)
  terminal.type('\x03')
  assert.equal((await terminal.finished).code, 0)
  const lines = (await readFile(join(box.home, 'logs/daemon.log'), 'utf8')).trimEnd().split('\n')
  assert.match(lines.map((line) => JSON.parse(line).message).join(), /listening.*stopping: SIGINT,stopped$/)
})

test('every example in the help of daemon works', async (t) => {
  await using box = await makeSandbox()
  for (const { path, examples } of CRABTALK.filter(({ path: [first] }) => first === 'daemon')) {
    for (const line of examples) {
      await t.test(line, async () => {
        if (path[1] === 'run') {
          const args = line.replace('crabtalk daemon run', '').trim().split(' ').filter(Boolean)
          await using _daemon = await startSandboxDaemon(box, args)
        } else {
          await using _daemon = await startSandboxDaemon(box)
          const [first = ''] = line.split(' | ')
          const { code, stderr } = await box.shell(first)
          assert.deepEqual([code, stderr], [0, ''])
        }
      })
    }
  }
})

test('sends while daemons start, stop and are killed store nothing twice and lose nothing acknowledged', async () => {
  await using talk = await makeTalk((_request, index) => ({ parts: [`answer ${index}`] }))
  let isOver = false
  const churn = (async () => {
    for (let round = 0; !isOver; round += 1) {
      const daemon = await startSandboxDaemon(talk)
      await until('somebody asked', () => isOver || talk.server.requests.length > 2 * round)
      daemon.kill(round % 2 ? 'SIGKILL' : 'SIGTERM')
      await daemon.finished
    }
  })()
  const send = async (sender: string) => {
    const answered: string[] = []
    for (let n = 0; n < 3; n += 1) {
      const { code, stderr } = await talk.send(['-s', sender, `${sender} ${n}`], { env: WITH_DAEMON })
      if (code === 0) answered.push(`${sender} ${n}`)
      else assert.deepEqual([code, /error\[unavailable\]/.test(stderr)], [69, true], stderr)
    }
    return answered
  }
  const answered = await Promise.all(['a', 'b', 'c', 'd', 'a', 'b', 'c', 'd'].map(send))
  isOver = true
  await churn
  const sessions = await talk.sessions()
  for (const sender of ['a', 'b', 'c', 'd']) {
    const lines = sessions.filter(({ header }) => header['created_by'] === sender).flatMap(({ said }) => said)
    const stored = lines.filter((line) => line.startsWith('user: ')).map((line) => line.slice(6))
    const owed = answered.flat().filter((text) => text.startsWith(`${sender} `))
    for (const text of new Set(owed)) {
      const times = owed.filter((one) => one === text).length
      const found = stored.filter((one) => one === text).length
      assert.ok(
        found >= times && found <= 2,
        `${text} was answered ${times} times, and stored ${found} times`,
      )
    }
  }
})
