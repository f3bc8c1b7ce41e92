import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { socketDispatch } from '../../src/core/transport/client.ts'
import type { SocketEndpoint } from '../../src/core/transport/endpoint.ts'
import { RawClient } from '../core/transport/raw-client.ts'
import { COMPILED, FROM_SOURCE, failedDaemon, startTestDaemon } from '../support/daemon.ts'
import { makeModelHome, readDaemonLog } from '../support/daemon-home.ts'
import type { Script } from '../support/model-server.ts'
import type { TemporaryHome } from '../support/temporary-home.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const auth = (token: string) => ({ $case: 'auth', value: { token } }) as const

describe('TCP clients with tokens', { concurrency: 2 }, () => {
  test('a client has the namespace of its token only, also with a token that was made while the daemon runs', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    const token = (await box.crabtalk('token', 'new', 'phone')).trim()
    const phone = box.client(token)
    for (const sender of ['', 'ann', 'phone:ann']) {
      await request(phone, 'send', { agent: 'crab', sender, content: 'hi' }, NEVER)
    }
    for (const sender of ['tg:1', 'tcp:user', 'sh:1', 'event:x', 'delegate:1', 'phones:1']) {
      await assert.rejects(request(phone, 'send', { agent: 'crab', sender, content: 'hi' }, NEVER), {
        kind: 'denied',
        hint: /start it with "phone:"/,
      })
    }
    const own = box.client(await box.ownToken())
    for (const sender of ['', 'tg:1']) {
      await request(own, 'send', { agent: 'crab', sender, content: 'hi' }, NEVER)
    }
    await assert.rejects(request(own, 'send', { agent: 'crab', sender: 'phone:ann', content: 'hi' }, NEVER), {
      kind: 'denied',
    })
    const { conversations } = await request(box.dispatch, 'listConversations', {}, NEVER)
    assert.deepEqual(conversations.map(({ sender }) => sender).toSorted(), [
      'phone:ann',
      'phone:user',
      'tcp:user',
      'tg:1',
    ])
    const { id } = await request(own, 'getSession', { agent: 'crab', sender: 'tg:1' }, NEVER)
    const expensive = { model: 'dear' }
    for (const ask of [
      () => request(own, 'compact', { agent: 'crab', sender: 'tg:1', ...expensive }, NEVER),
      () => request(own, 'generateTitle', { session: id, ...expensive }, NEVER),
      () => request(own, 'send', { agent: 'crab', sender: 'tg:1', content: 'hi', options: expensive }, NEVER),
      () =>
        request(
          own,
          'send',
          { agent: 'crab', sender: 'tg:1', content: 'hi', options: { system: 'x' } },
          NEVER,
        ),
    ]) {
      await assert.rejects(ask(), { kind: 'denied', hint: /^leave it out/ })
    }
    await assert.rejects(request(phone, 'listMessages', { session: id }, NEVER), { kind: 'missing' })
    const { messages } = await request(own, 'listMessages', { session: id }, NEVER)
    assert.equal(messages.length, 2)
  })

  test('a token with an agent is for that agent only, and follows its renames', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    await box.crabtalk('agent', 'create', 'clerk')
    const token = (await box.crabtalk('token', 'new', 'web', '--agent', 'Clerk')).trim()
    const web = box.client(token)
    await request(web, 'send', { content: 'to the only one' }, NEVER)
    await assert.rejects(request(web, 'send', { agent: 'crab', content: 'hi' }, NEVER), {
      kind: 'denied',
      message: /the token "web" is for the agent "clerk", not for "crab"/,
    })
    await assert.rejects(request(web, 'send', { agent: 'clerk', guest: 'crab', content: 'hi' }, NEVER), {
      kind: 'denied',
    })
    using idle = await RawClient.open(box.endpoint)
    idle.send(1, auth(token))
    assert.equal((await idle.reply())?.msg?.$case, 'pong')
    await box.crabtalk('agent', 'rename', 'clerk', 'scribe')
    const errors = (await idle.replies()).map(({ msg }) => msg?.$case === 'error' && msg.value.message)
    assert.deepEqual(errors, ['Cannot continue: the agent of this connection was renamed'])
    await request(web, 'send', { agent: 'scribe', content: 'again' }, NEVER)
    await assert.rejects(request(web, 'send', { agent: 'clerk', content: 'hi' }, NEVER), { kind: 'denied' })
    await box.crabtalk('agent', 'delete', 'scribe', '--yes')
    assert.ok(!(await box.crabtalk('token', 'list')).includes('web'))
  })

  test('revoking a token ends the turns and connections of its client, and of no other', async () => {
    await using box = await makeBox(() => ({ parts: ['Half'], end: 'hang' }))
    const [phone, web] = await Promise.all(
      ['phone', 'web'].map(async (name) => (await box.crabtalk('token', 'new', name)).trim()),
    )
    using idle = await RawClient.open(box.endpoint)
    idle.send(1, auth(phone!))
    assert.equal((await idle.reply())?.msg?.$case, 'pong')
    using busy = await RawClient.open(box.endpoint)
    busy.send(1, auth(phone!))
    busy.send(2, { $case: 'stream', value: { content: 'go' } })
    await until('the turn runs', async () => (await busy.reply())?.msg?.$case === 'stream')
    using other = await RawClient.open(box.endpoint)
    other.send(1, auth(web!))
    await other.reply()
    assert.equal(await box.crabtalk('token', 'revoke', 'phone'), 'revoked phone\n')
    for (const client of [idle, busy]) {
      const codes = (await client.replies()).map(({ msg }) => msg?.$case === 'error' && msg.value.code)
      assert.ok(codes.includes(403), String(codes))
    }
    await assert.rejects(request(box.client(phone!), 'ping', {}, NEVER), { kind: 'denied' })
    other.send(2, { $case: 'ping', value: {} })
    assert.equal((await other.reply())?.msg?.$case, 'pong')
    const tokens = JSON.parse(await box.crabtalk('token', 'list', '--json')) as { name: string }[]
    assert.deepEqual(
      tokens.map(({ name }) => name),
      ['tcp', 'web'],
    )
  })

  test('the built-in token is replaced when it is revoked, and when its file is readable by others', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    const before = await box.ownToken()
    await request(box.client(before), 'ping', {}, NEVER)
    await box.crabtalk('token', 'revoke', 'tcp')
    await assert.rejects(request(box.client(before), 'ping', {}, NEVER), { kind: 'denied' })
    const after = await box.ownToken()
    await request(box.client(after), 'ping', {}, NEVER)
    await box.stop()
    const path = join(box.home.paths.run, 'tcp.token')
    for (const [content, mode] of [
      [after, 0o644],
      ['a'.repeat(40), 0o600],
    ] as const) {
      await writeFile(path, content)
      await chmod(path, mode)
      await using daemon = await startTestDaemon(box.home, { args: ['--port', '0'] })
      const now = (await box.ownToken()).trim()
      assert.match(now, /^[0-9a-f]{64}$/)
      assert.notEqual(now, after)
      assert.equal((await stat(path)).mode & 0o777, 0o600)
      const warned = (await readDaemonLog(box.home)).filter(({ message }) =>
        message.startsWith('run/tcp.token was replaced'),
      )
      assert.ok(warned.length > 0)
      daemon.kill('SIGTERM')
      assert.match(
        (await daemon.ended).stderr,
        /warning: run\/tcp\.token was replaced: it(s mode 644| does not look)/,
      )
    }
  })

  test('tokens are stored as hashes, privately, with their last use', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    const token = (await box.crabtalk('token', 'new', 'phone')).trim()
    assert.match(token, /^crabtalk_[\w-]{43}$/)
    const path = join(box.home.paths.run, 'tokens.json')
    assert.equal((await stat(path)).mode & 0o777, 0o600)
    assert.ok(!(await box.home.read('run/tokens.json')).includes(token))
    const list = async () => JSON.parse(await box.crabtalk('token', 'list', '--json'))
    assert.deepEqual(
      (await list()).map(({ last_used }: { last_used: null }) => last_used),
      [null, null],
    )
    await request(box.client(token), 'ping', {}, NEVER)
    await until('its use is noted', async () => (await list())[1].last_used !== null)
    const noted = await box.home.read('run/tokens.json')
    for (let at = 0; at < 5; at++) await request(box.client(token), 'ping', {}, NEVER)
    await box.stop() // its last write is done by then
    assert.equal(await box.home.read('run/tokens.json'), noted)
  })

  test('refused clients and operations are logged, many of them as a few lines and a count', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    const token = (await box.crabtalk('token', 'new', 'phone')).trim()
    await assert.rejects(request(box.client('f'.repeat(64)), 'ping', {}, NEVER), { kind: 'denied' })
    const phone = box.client(token)
    await assert.rejects(request(phone, 'listMemory', {}, NEVER), { kind: 'denied' })
    await assert.rejects(Array.fromAsync(streamTurn(phone, { sender: 'tg:1', content: 'hi' }, NEVER)))
    const options = { allow: ['bash'] } // refused inside its turn
    await assert.rejects(request(phone, 'send', { content: 'hi', options }, NEVER), { kind: 'denied' })
    const refusals = async () =>
      (await readDaemonLog(box.home)).filter(
        ({ level, message }) => level === 'warn' && /^refused/.test(message),
      )
    const client = '127.0.0.1'
    const lines = (await refusals()).map(({ level: _, message, ...fields }) => ({
      message,
      ...pickRefusal(fields),
    }))
    assert.deepEqual(lines, [
      { message: 'refused a client', client, reason: 'its token is unknown' },
      {
        ...{ message: 'refused an operation', client, token: 'phone', operation: 'list_memory' },
        reason: 'Cannot serve list_memory: a TCP client may only use its own conversations',
      },
      {
        ...{ message: 'refused an operation', client, token: 'phone', operation: 'stream' },
        reason: 'Cannot serve stream: the token "phone" may not use the sender "tg:1"',
      },
    ])
    for (let at = 0; at < 50; at++) await assert.rejects(request(phone, 'listMemory', {}, NEVER))
    await box.stop()
    const after = (await refusals()).map(({ message }) => message)
    assert.equal(after.length, 11)
    assert.equal(after.at(-1), 'refused 43 more')
    assert.ok(!(await box.home.read('logs/daemon.log')).includes(token))
  })

  test('an invalid token file admits no client except that of the daemon itself', async () => {
    await using box = await makeBox(() => ({ parts: ['hello'] }))
    const token = (await box.crabtalk('token', 'new', 'phone')).trim()
    await request(box.client(token), 'ping', {}, NEVER)
    await until('its use is noted', async () => /"phone": "/.test(await box.home.read('run/tokens.json')))
    await box.home.write('run/tokens.json', '{"tokens":[{"name":"sh"}]}')
    await assert.rejects(request(box.client(token), 'ping', {}, NEVER), { kind: 'denied' })
    await request(box.client(await box.ownToken()), 'ping', {}, NEVER)
    assert.match(JSON.stringify(await readDaemonLog(box.home)), /tokens\.json: its entry 1 is not a token/)
  })

  test('tcp_token = false and an option for TCP are rejected without the variable, with exit code 78', async () => {
    await using home = await makeModelHome([])
    await home.write('config.toml', '[daemon]\ntcp_token = false\n')
    const { code, stderr } = await failedDaemon(home, { args: ['--port', '0'] })
    assert.equal(code, 78)
    assert.match(
      stderr,
      /hint: .*crabtalk token new NAME; or set CRABTALK_ALLOW_TCP_WITHOUT_TOKEN=1 \(for a service in service\.env\)/,
    )
    const env = { CRABTALK_ALLOW_TCP_WITHOUT_TOKEN: '1' }
    await using daemon = await startTestDaemon(home, { args: ['--port', '0'], env })
    const endpoint = {
      kind: 'tcp',
      host: '127.0.0.1',
      port: Number(await home.read('run/crabtalk.port')),
    } as const
    const open = socketDispatch({ endpoint })
    await request(open, 'ping', {}, NEVER)
    await assert.rejects(request(open, 'getStats', {}, NEVER), { kind: 'denied' })
    assert.match(JSON.stringify(await readDaemonLog(home)), /"operation":"get_stats"/)
    const say = (sender: string) => request(open, 'newSession', { agent: 'crab', sender }, NEVER)
    await say('web:ann')
    await crabtalk(home, ['token', 'new', 'web'])
    await assert.rejects(say('web:ann'), { kind: 'denied' })
    await assert.rejects(request(open, 'getSession', { agent: 'crab', sender: 'web:ann' }, NEVER), {
      kind: 'denied',
    })
    await say('ann')
    await say('tg:1')
    const status = JSON.parse(await crabtalk(home, ['daemon', 'status', '--json']))
    assert.match(String(status.warnings), /^tcp_token = false/)
    daemon.kill('SIGTERM')
    assert.match((await daemon.ended).stderr, /^crabtalk: warning: tcp_token = false: every program/)
  })
})

/** Returns the fields of a line that describe a refusal. */
function pickRefusal(fields: object): object {
  const names = ['client', 'token', 'operation', 'reason']
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}

/** Starts a daemon that listens on TCP, with functions that use its home. */
async function makeBox(script: Script) {
  const home = await makeModelHome(script)
  const daemon = await startTestDaemon(home, { args: ['--port', '0'] })
  const port = Number(await home.read('run/crabtalk.port'))
  const endpoint: SocketEndpoint = { kind: 'tcp', host: '127.0.0.1', port }
  const stop = async () => {
    daemon.kill('SIGTERM')
    await daemon.ended
  }
  return {
    home,
    endpoint,
    dispatch: daemon.dispatch,
    stop,
    client: (token: string) => socketDispatch({ endpoint, token }),
    ownToken: async () => (await home.read('run/tcp.token')).trim(),
    crabtalk: (...args: string[]) => crabtalk(home, args),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

async function crabtalk({ paths }: TemporaryHome, args: readonly string[]): Promise<string> {
  const [file, ...first] = FROM_SOURCE
  const env = { PATH: process.env['PATH'], CRABTALK_HOME: paths.home, HOME: paths.home, ...COMPILED }
  return (await promisify(execFile)(file, [...first, ...args], { env })).stdout
}
