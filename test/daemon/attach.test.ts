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
import { makeModelHome } from '../support/daemon-home.ts'
import { kill, processesLeft } from '../support/processes.ts'
import { readSessions } from '../support/talk.ts'
import { type TemporaryHome, temporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

interface CallerOutput {
  caller: AttachingProcess
  /** The texts that the process wrote to standard error. */
  stderrTexts: string[]
}

/** Returns a process of that home that uses daemons, and starts them from source. */
function createCaller({ paths }: TemporaryHome, env: Record<string, string> = {}): CallerOutput {
  const stderrTexts: string[] = []
  const caller = testCaller(paths.home, {
    env: { CRABTALK_HOME: paths.home, PATH: process.env['PATH'], ...COMPILED, ...env },
    withoutDaemon: false,
    stderr: { write: (text) => stderrTexts.push(text) },
    build: async () => ({ command: FROM_SOURCE }),
  })
  return { caller, stderrTexts }
}

/** Attaches, returns what it attached to (or the error message), and detaches. */
async function describeAttachment({ caller }: CallerOutput, options?: AttachOptions): Promise<string> {
  try {
    await using attached = await attach(caller, options)
    return attached.why === undefined ? attached.place : `${attached.place}: ${attached.why}`
  } catch (reason) {
    if (reason instanceof CrabError) return `${reason.kind}: ${reason.message}`
    throw reason
  }
}

/** Stops the daemon of a home as `daemon stop` does. */
async function stopDaemon(client: CallerOutput): Promise<void> {
  await using attached = await attach(client.caller, { daemon: 'only' })
  const { pid } = await request(attached.dispatch, 'hello', {}, NEVER)
  await request(attached.dispatch, 'shutdown', {}, NEVER)
  await until('it is gone', async () => !(await exists(`/proc/${pid}/exe`)))
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

/** Starts another program that listens at the daemon's address and answers hello with this info. */
async function startFakeDaemon(
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

test('attach() uses the running daemon, or this process when none is running', async () => {
  await using home = await temporaryHome()
  const client = createCaller(home)
  assert.equal(await describeAttachment(client), 'process')
  assert.match(
    await describeAttachment(client, { daemon: 'only' }),
    /^unavailable: Cannot reach the daemon: no daemon is running/,
  )
  await assert.rejects(readdir(home.paths.home), { code: 'ENOENT' })
  await using _daemon = await startTestDaemon(home)
  assert.equal(await describeAttachment(client), 'daemon')
  assert.equal(await describeAttachment(client, { daemon: 'only' }), 'daemon')
  assert.equal(await describeAttachment(client, { daemon: 'never' }), 'process')
  assert.equal(await describeAttachment(createCaller(home, { CRABTALK_NO_DAEMON: '1' })), 'process')
  assert.equal(
    await describeAttachment({ ...client, caller: { ...client.caller, withoutDaemon: true } }),
    'process',
  )
  assert.deepEqual(client.stderrTexts, [])
})

test('attach() holds leases against other processes, whatever it is attached to', async () => {
  await using home = await temporaryHome()
  await using _daemon = await startTestDaemon(home)
  const { caller } = createCaller(home)
  await using through = await attach(caller)
  await using inside = await attach(caller, { daemon: 'never' })
  const lease = await through.lease('tty', NEVER)
  const waiting = inside.lease('tty', NEVER)
  assert.equal(
    await Promise.race([waiting, new Promise((resume) => setTimeout(resume, 100, 'waits'))]),
    'waits',
  )
  await lease[Symbol.asyncDispose]()
  await (await waiting)[Symbol.asyncDispose]()
})

test('attach() starts one daemon for many concurrent callers', async () => {
  await using home = await temporaryHome()
  const client = createCaller(home)
  const pids = await Promise.all(
    Array.from({ length: 5 }, async () => {
      await using attached = await attach(client.caller, { daemon: 'need' })
      return (await request(attached.dispatch, 'hello', {}, NEVER)).pid
    }),
  )
  assert.equal(new Set(pids).size, 1)
  assert.notEqual(pids[0], process.pid)
  const mark = `CRABTALK_HOME=${home.paths.home}`
  await until('the others have ended', async () => (await processesLeft(mark)).length === 1)
  await stopDaemon(client)
  assert.deepEqual(client.stderrTexts, [])
})

test('attach() starts a daemon with the keys that are stored for the service', async () => {
  await using home = await temporaryHome()
  await mkdir(home.paths.home, { recursive: true })
  await writeFile(home.paths.serviceEnv, "ANTHROPIC_API_KEY='sk-kept'\n", { mode: 0o600 })
  const client = createCaller(home)
  {
    await using attached = await attach(client.caller, { daemon: 'need' })
    const { environment } = await request(attached.dispatch, 'hello', {}, NEVER)
    assert.equal(environment['ANTHROPIC_API_KEY'], variableDigest('sk-kept'))
  }
  await stopDaemon(client)
})

test('attach() starts a new daemon when the one it found is about to end', async () => {
  await using home = await makeModelHome(() => ({ parts: ['Half'], end: 'hang' }))
  const ending = await startTestDaemon(home)
  await request(ending.dispatch, 'send', { sender: 'ann', content: 'go', detach: true }, NEVER)
  await until('a turn keeps it', () => home.server.requests.length === 1)
  const events = requestMany(ending.dispatch, 'subscribeEvents', {}, NEVER)
  const cut = Array.fromAsync(events).catch(() => undefined)
  ending.kill('SIGTERM')
  await cut // it no longer accepts connections
  ending.kill('SIGSTOP')
  const refused = join(home.paths.run, 'refused')
  const client = createCaller(home)
  const noting = ['sh', '-c', '"$@"; code=$?; touch "$0"; exit $code', refused, ...FROM_SOURCE] as const
  const caller = { ...client.caller, build: async () => ({ command: noting }) }
  const place = describeAttachment({ ...client, caller }, { daemon: 'need' })
  await until('the new daemon is refused', () => exists(refused))
  ending.kill('SIGCONT')
  assert.equal(await place, 'daemon')
  assert.equal((await ending.ended).code, 0)
  await stopDaemon(client)
})

test('attach() starts no daemon when config.toml says so', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[daemon]\non_demand = false\n')
  const client = createCaller(home)
  const why = 'on_demand = false in config.toml'
  assert.equal(await describeAttachment(client, { daemon: 'start' }), `process: ${why}`)
  assert.equal(
    await describeAttachment(client, { daemon: 'need' }),
    `unavailable: Cannot reach the daemon: ${why}`,
  )
  assert.deepEqual(client.stderrTexts, [])
})

test('attach() says why a daemon cannot be started, and continues without one where it can', async () => {
  await using home = await temporaryHome()
  await home.write('run/crabtalk.sock', 'a file in the way')
  const client = createCaller(home)
  const why = /Cannot start a daemon: Cannot listen on .*: a file that is not a socket is in the way/
  assert.match(await describeAttachment(client, { daemon: 'need' }), why)
  assert.match(await describeAttachment(client, { daemon: 'start' }), /^process: /)
  assert.match(client.stderrTexts.join(''), why)
})

test('attach() names the version of a daemon with another version, and uses it', async () => {
  await using home = await temporaryHome()
  await using _old = await startFakeDaemon(home, { build: '0.0.1' })
  const client = createCaller(home)
  assert.equal(await describeAttachment(client), 'daemon')
  assert.match(
    client.stderrTexts.join(''),
    new RegExp(`^crabtalk: the daemon is 0\\.0\\.1, this is ${VERSION}: .*daemon stop.*\n$`),
  )
})

test('attach() does without a daemon that speaks an unknown protocol version', async () => {
  await using home = await temporaryHome()
  await using _new = await startFakeDaemon(
    home,
    new CrabError('invalid', 'this daemon speaks only version 2 only'),
  )
  const client = createCaller(home)
  assert.match(await describeAttachment(client), /^process: .*version 2 only/)
  assert.match(client.stderrTexts.join(''), /^crabtalk: running without a daemon: .*version 2 only\n$/)
})

test('attach() does without a suspended daemon after a time limit', async () => {
  await using home = await temporaryHome()
  await using daemon = await startTestDaemon(home)
  daemon.kill('SIGSTOP')
  const client = createCaller(home)
  assert.equal(
    await describeAttachment(client),
    'process: Cannot use the daemon: it did not answer within 5 s',
  )
  assert.match(
    client.stderrTexts.join(''),
    /^crabtalk: running without a daemon: Cannot use the daemon: it did not answer/,
  )
})

test('attach() does without a daemon that would use a different model from this process', async () => {
  await using home = await temporaryHome()
  await using _daemon = await startTestDaemon(home, { env: { OPENAI_API_KEY: 'sk-one' } })
  assert.equal(await describeAttachment(createCaller(home)), 'daemon')
  assert.equal(await describeAttachment(createCaller(home, { OPENAI_API_KEY: 'sk-one' })), 'daemon')
  const other = createCaller(home, { OPENAI_API_KEY: 'sk-two' })
  assert.equal(
    await describeAttachment(other),
    'process: OPENAI_API_KEY differs from what the daemon was started with',
  )
  assert.equal(
    await describeAttachment(createCaller(home, { ANTHROPIC_API_KEY: 'sk-three' })),
    'process: the daemon was started without ANTHROPIC_API_KEY',
  )
  assert.deepEqual(other.stderrTexts, [])
})

test('attach() says what to do when a daemon is required and none can be used', async () => {
  await using home = await temporaryHome()
  const readHint = async ({ caller }: CallerOutput) =>
    await attach(caller, { daemon: 'need' }).then(
      () => 'attached',
      ({ hint }: CrabError) => hint,
    )
  const { caller, stderrTexts } = createCaller(home)
  assert.equal(
    await readHint({ stderrTexts, caller: { ...caller, withoutDaemon: true } }),
    'run it without --no-daemon',
  )
  assert.equal(await readHint(createCaller(home, { CRABTALK_NO_DAEMON: '1' })), 'unset CRABTALK_NO_DAEMON')
  await using _daemon = await startTestDaemon(home, { env: { OPENAI_API_KEY: 'sk-one' } })
  assert.equal(
    await readHint(createCaller(home, { OPENAI_API_KEY: 'sk-two' })),
    'unset the variable, or stop the daemon with crabtalk daemon stop: the next one takes the new value',
  )
})

test('attach() ignores variables that config.toml makes irrelevant', async () => {
  await using home = await temporaryHome()
  await home.write('config.toml', '[llm]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "k"\nmodel = "m"\n')
  await using _daemon = await startTestDaemon(home)
  assert.equal(
    await describeAttachment(createCaller(home, { OPENAI_API_KEY: 'sk-one', AWS_REGION: 'eu-west-1' })),
    'daemon',
  )
})

test('a request runs in this process when the daemon is gone', async () => {
  await using home = await temporaryHome()
  const daemon = await startTestDaemon(home)
  await using attached = await attach(createCaller(home).caller)
  assert.equal((await request(attached.dispatch, 'hello', {}, NEVER)).pid, daemon.pid)
  kill(daemon.pid)
  await daemon.ended
  assert.equal((await request(attached.dispatch, 'hello', {}, NEVER)).pid, process.pid)
})

test("a turn that its client cancels ends as in process: stored, with the client's reason", async () => {
  await using home = await makeModelHome(() => ({ parts: ['Half'], end: 'hang' }))
  await using _daemon = await startTestDaemon(home)
  const ends = []
  for (const daemon of ['never', 'only'] as const) {
    const stop = new AbortController()
    await using attached = await attach(createCaller(home).caller, { daemon })
    for await (const { event } of streamTurn(
      attached.dispatch,
      { sender: daemon, content: 'go' },
      stop.signal,
    )) {
      if (event?.$case === 'chunk') stop.abort(new CrabError('timeout', 'it takes too long'))
      if (event?.$case !== 'end') continue
      const { error, detail } = event.value
      ends.push({ error, kind: detail?.kind, stopReason: detail?.stopReason })
      const stderrTexts = (await readSessions(home.paths.home)).at(-1)?.said
      assert.deepEqual(stderrTexts, ['user: go', 'assistant: Half [cancelled]'])
    }
  }
  assert.deepEqual(ends[0], ends[1])
  assert.equal(ends[0]?.kind, 'timeout')
})

const NEVER = new AbortController().signal
