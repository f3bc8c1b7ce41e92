import assert from 'node:assert/strict'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { VERSION } from '../../src/core/base/version.ts'
import type { HelloInfo } from '../../src/core/protocol/crabtalk.generated.ts'
import { request, requestMany, route, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { listen } from '../../src/core/transport/listen.ts'
import { type AttachOptions, attach } from '../../src/daemon/attach.ts'
import type { AttachingProcess } from '../../src/daemon/attaching-process.ts'
import { variableDigest } from '../../src/daemon/variable-digest.ts'
import { testCaller } from '../support/caller.ts'
import { COMPILED, FROM_SOURCE, startTestDaemon } from '../support/daemon.ts'
import { talkingHome } from '../support/daemon-home.ts'
import { kill, processesLeft } from '../support/processes.ts'
import { readSessions } from '../support/talk.ts'
import { type TemporaryHome, temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

interface Told {
  caller: AttachingProcess
  /** What was said on standard error. */
  said: string[]
}

/** A process of that home that uses daemons, and starts them from source. */
function callerOf({ paths }: TemporaryHome, env: Record<string, string> = {}): Told {
  const said: string[] = []
  const caller = testCaller(paths.home, {
    env: { CRABTALK_HOME: paths.home, PATH: process.env['PATH'], ...COMPILED, ...env },
    withoutDaemon: false,
    stderr: { write: (text) => said.push(text) },
    build: async () => ({ command: FROM_SOURCE }),
  })
  return { caller, said }
}

/** Attaches, looks where that is, and lets go; how it fails is a place as well. */
async function placeOf({ caller }: Told, options?: AttachOptions): Promise<string> {
  try {
    await using attached = await attach(caller, options)
    return attached.why === undefined ? attached.place : `${attached.place}: ${attached.why}`
  } catch (reason) {
    if (reason instanceof CrabError) return `${reason.kind}: ${reason.message}`
    throw reason
  }
}

/** Ends the daemon of a home as `daemon stop` does. */
async function stopDaemon(told: Told): Promise<void> {
  await using attached = await attach(told.caller, { daemon: 'only' })
  const { pid } = await request(attached.dispatch, 'hello', {}, NEVER)
  await request(attached.dispatch, 'shutdown', {}, NEVER)
  await until('it is gone', async () => !(await isThere(`/proc/${pid}/exe`)))
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

/** Something else that listens where the daemon of a home would, and says this of itself. */
async function pretend(
  { paths }: TemporaryHome,
  hello: Partial<HelloInfo> | CrabError,
): Promise<AsyncDisposable> {
  const info = { version: 1, features: [], build: VERSION, pid: 1, environment: {} }
  const dispatch = route({
    hello: async () => {
      if (hello instanceof CrabError) throw hello
      return { ...info, ...hello }
    },
    ping: async () => {},
  })
  const endpoint = { kind: 'unix', path: join(paths.run, 'crabtalk.sock') } as const
  return await listen(endpoint, { dispatch, graceMs: 0, onError: () => undefined })
}

test('attach() uses the daemon that runs, and this process without one', async () => {
  await using home = await temporaryHome()
  const told = callerOf(home)
  assert.equal(await placeOf(told), 'process')
  assert.match(
    await placeOf(told, { daemon: 'only' }),
    /^unavailable: Cannot do this without a daemon: none is running/,
  )
  await assert.rejects(readdir(home.paths.home), { code: 'ENOENT' })
  await using _daemon = await startTestDaemon(home)
  assert.equal(await placeOf(told), 'daemon')
  assert.equal(await placeOf(told, { daemon: 'only' }), 'daemon')
  assert.equal(await placeOf(told, { daemon: 'never' }), 'process')
  assert.equal(await placeOf(callerOf(home, { CRABTALK_NO_DAEMON: '1' })), 'process')
  assert.equal(await placeOf({ ...told, caller: { ...told.caller, withoutDaemon: true } }), 'process')
  assert.deepEqual(told.said, [])
})

test('attach() keeps leases with other processes apart, wherever it is attached to', async () => {
  await using home = await temporaryHome()
  await using _daemon = await startTestDaemon(home)
  const { caller } = callerOf(home)
  await using through = await attach(caller)
  await using inside = await attach(caller, { daemon: 'never' })
  const held = await through.lease('tty', NEVER)
  const waiting = inside.lease('tty', NEVER)
  assert.equal(
    await Promise.race([waiting, new Promise((resume) => setTimeout(resume, 100, 'waits'))]),
    'waits',
  )
  await held[Symbol.asyncDispose]()
  await (await waiting)[Symbol.asyncDispose]()
})

test('attach() starts one daemon, however many ask for it at once', async () => {
  await using home = await temporaryHome()
  const told = callerOf(home)
  const pids = await Promise.all(
    Array.from({ length: 5 }, async () => {
      await using attached = await attach(told.caller, { daemon: 'need' })
      return (await request(attached.dispatch, 'hello', {}, NEVER)).pid
    }),
  )
  assert.equal(new Set(pids).size, 1)
  assert.notEqual(pids[0], process.pid)
  const mark = `CRABTALK_HOME=${home.paths.home}`
  await until('the others have ended', async () => (await processesLeft(mark)).length === 1)
  await stopDaemon(told)
  assert.deepEqual(told.said, [])
})

test('attach() starts a daemon that has the keys that were kept for the service', async () => {
  await using home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  await writeFile(home.paths.serviceEnv, "ANTHROPIC_API_KEY='sk-kept'\n", { mode: 0o600 })
  const told = callerOf(home)
  {
    await using attached = await attach(told.caller, { daemon: 'need' })
    const { environment } = await request(attached.dispatch, 'hello', {}, NEVER)
    assert.equal(environment['ANTHROPIC_API_KEY'], variableDigest('sk-kept'))
  }
  await stopDaemon(told)
})

test('attach() starts a daemon again when the one it met was about to end', async () => {
  await using home = await talkingHome(() => ({ parts: ['Half'], end: 'hang' }))
  const ending = await startTestDaemon(home)
  await request(ending.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
  await until('a turn keeps it', () => home.server.requests.length === 1)
  const events = requestMany(ending.dispatch, 'subscribeEvents', {}, NEVER)
  const cut = Array.fromAsync(events).catch(() => undefined)
  ending.kill('SIGTERM')
  await cut // it accepts nobody any more
  ending.kill('SIGSTOP')
  const refused = join(home.paths.run, 'refused')
  const told = callerOf(home)
  const noting = ['sh', '-c', '"$@"; code=$?; touch "$0"; exit $code', refused, ...FROM_SOURCE] as const
  const caller = { ...told.caller, build: async () => ({ command: noting }) }
  const place = placeOf({ ...told, caller }, { daemon: 'need' })
  await until('the new daemon is refused', () => isThere(refused))
  ending.kill('SIGCONT')
  assert.equal(await place, 'daemon')
  assert.equal((await ending.ended).code, 0)
  await stopDaemon(told)
})

test('attach() starts none where config.toml says so', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[daemon]\non_demand = false\n')
  const told = callerOf(home)
  const why = 'on_demand = false in config.toml'
  assert.equal(await placeOf(told, { daemon: 'start' }), `process: ${why}`)
  assert.equal(
    await placeOf(told, { daemon: 'need' }),
    `unavailable: Cannot do this without a daemon: ${why}`,
  )
  assert.deepEqual(told.said, [])
})

test('attach() says why a daemon cannot be started, and goes on without where it can', async () => {
  await using home = await temporaryHome()
  await home.write('run/crabtalk.sock', 'a file in the way')
  const told = callerOf(home)
  const why = /Cannot start a daemon: Cannot listen on .*: a file that is not a socket is in the way/
  assert.match(await placeOf(told, { daemon: 'need' }), why)
  assert.match(await placeOf(told, { daemon: 'start' }), /^process: /)
  assert.match(told.said.join(''), why)
})

test('attach() names another version of the daemon, and uses it', async () => {
  await using home = await temporaryHome()
  await using _old = await pretend(home, { build: '0.0.1' })
  const told = callerOf(home)
  assert.equal(await placeOf(told), 'daemon')
  assert.match(
    told.said.join(''),
    new RegExp(`^crabtalk: the daemon is 0\\.0\\.1, this is ${VERSION}: .*daemon stop.*\n$`),
  )
})

test('attach() does without a daemon that speaks no version it knows', async () => {
  await using home = await temporaryHome()
  await using _new = await pretend(home, new CrabError('invalid', 'this daemon speaks only version 2 only'))
  const told = callerOf(home)
  assert.match(await placeOf(told), /^process: .*version 2 only/)
  assert.match(told.said.join(''), /^crabtalk: running without a daemon: .*version 2 only\n$/)
})

test('attach() does without a daemon that is stopped, and waits only so long', async () => {
  await using home = await temporaryHome()
  await using daemon = await startTestDaemon(home)
  daemon.kill('SIGSTOP')
  const told = callerOf(home)
  assert.equal(await placeOf(told), 'process: Cannot use the daemon: it did not answer within 5 s')
  assert.match(
    told.said.join(''),
    /^crabtalk: running without a daemon: Cannot use the daemon: it did not answer/,
  )
})

test('attach() does without a daemon that would use another model than this process', async () => {
  await using home = await temporaryHome()
  await using _daemon = await startTestDaemon(home, { env: { OPENAI_API_KEY: 'sk-one' } })
  assert.equal(await placeOf(callerOf(home)), 'daemon')
  assert.equal(await placeOf(callerOf(home, { OPENAI_API_KEY: 'sk-one' })), 'daemon')
  const other = callerOf(home, { OPENAI_API_KEY: 'sk-two' })
  assert.equal(await placeOf(other), 'process: OPENAI_API_KEY differs from what the daemon was started with')
  assert.equal(
    await placeOf(callerOf(home, { ANTHROPIC_API_KEY: 'sk-three' })),
    'process: ANTHROPIC_API_KEY differs from what the daemon was started with',
  )
  assert.deepEqual(other.said, [])
})

test('attach() says what to do where a daemon is needed and none can be used', async () => {
  await using home = await temporaryHome()
  const hintOf = async ({ caller }: Told) =>
    await attach(caller, { daemon: 'need' }).then(
      () => 'attached',
      ({ hint }: CrabError) => hint,
    )
  const { caller, said } = callerOf(home)
  assert.equal(
    await hintOf({ said, caller: { ...caller, withoutDaemon: true } }),
    'run it without --no-daemon',
  )
  assert.equal(await hintOf(callerOf(home, { CRABTALK_NO_DAEMON: '1' })), 'unset CRABTALK_NO_DAEMON')
  await using _daemon = await startTestDaemon(home, { env: { OPENAI_API_KEY: 'sk-one' } })
  assert.equal(
    await hintOf(callerOf(home, { OPENAI_API_KEY: 'sk-two' })),
    'unset it, or stop the daemon with `crabtalk daemon stop`: the next one takes the new value',
  )
})

test('attach() does not mind variables that config.toml makes meaningless', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[llm]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k"\nmodel = "m"\n')
  await using _daemon = await startTestDaemon(home)
  assert.equal(await placeOf(callerOf(home, { OPENAI_API_KEY: 'sk-one', AWS_REGION: 'eu-west-1' })), 'daemon')
})

test('a request goes to this process when the daemon has gone since', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home)
  await using attached = await attach(callerOf(home).caller)
  assert.equal((await request(attached.dispatch, 'hello', {}, NEVER)).pid, daemon.pid)
  kill(daemon.pid)
  await daemon.ended
  assert.equal((await request(attached.dispatch, 'hello', {}, NEVER)).pid, process.pid)
})

test('a turn that its client cancels ends as in process: stored, with the reason of the client', async () => {
  await using home = await talkingHome(() => ({ parts: ['Half'], end: 'hang' }))
  await using _daemon = await startTestDaemon(home)
  const ends = []
  for (const daemon of ['never', 'only'] as const) {
    const stop = new AbortController()
    await using attached = await attach(callerOf(home).caller, { daemon })
    for await (const { event } of streamTurn(
      attached.dispatch,
      { sender: daemon, content: 'go' },
      stop.signal,
    )) {
      if (event?.$case === 'chunk') stop.abort(new CrabError('timeout', 'it takes too long'))
      if (event?.$case !== 'end') continue
      const { error, detail } = event.value
      ends.push({ error, kind: detail?.kind, stopReason: detail?.stopReason })
      const said = (await readSessions(home.paths.home)).at(-1)?.said
      assert.deepEqual(said, ['user: go', 'assistant: Half [cancelled]'])
    }
  }
  assert.deepEqual(ends[0], ends[1])
  assert.equal(ends[0]?.kind, 'timeout')
})

const NEVER = new AbortController().signal
