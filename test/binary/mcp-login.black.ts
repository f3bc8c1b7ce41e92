import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { openChat } from '../support/chat-session.ts'
import { writeTellingServer } from '../support/mcp/telling-server.ts'
import { mcp, startServing, writeAgents } from '../support/mcp/watched-agents.ts'
import { browse, type ProtectedServer, protectedServer } from '../support/oauth/protected-server.ts'
import {
  type Finished,
  makeSandbox,
  type Running,
  type RunOptions,
  type Sandbox,
} from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

test('mcp login logs in with a browser, calls use the login, and mcp logout revokes it', async () => {
  await using server = await protectedServer()
  await using box = await makeSandbox()
  const added = await box.run(['mcp', 'add', 'far', server.url])
  assertFailed(added, 'credentials', {
    message: /"far": it requires authentication: it answered HTTP 401/,
    hint: /add it with --no-verify, then crabtalk mcp login far/,
  })
  await box.run(['mcp', 'add', '--no-verify', 'far', server.url])
  const before = await box.run(['mcp', 'ping', 'far'])
  assert.match(before.stderr, /hint: crabtalk mcp login far$/m)
  const list = await box.run(['mcp', 'list'])
  assert.match(list.stdout, /^far +needs_auth /m)
  assert.match(list.stderr, /log in with crabtalk mcp login far$/m)

  const login = await logIn(box, server)
  assert.deepEqual([login.stdout, login.code], ['logged in to far: 1 tool\n', 0], login.stderr)
  const entry = await readFile(join(box.home, 'agents', 'crab.toml'), 'utf8')
  assert.match(entry, /auth_helper = \["crabtalk", "mcp", "token"\]/)
  const call = await box.run(['mcp', 'call', 'far', 'echo', 'text=hi'])
  assert.deepEqual([call.stdout, call.code], ['hi\n', 0], call.stderr)
  assert.equal(server.tokens.length, 1)
  await assertHidden(box, server, [login, call, await box.run(['mcp', 'get', 'far', '--json'])])

  const logout = await box.run(['mcp', 'logout', 'far'])
  assert.deepEqual([logout.stdout, logout.stderr, logout.code], ['logged out of far\n', '', 0])
  assert.deepEqual(server.requests.slice(-2), ['POST /token/revocation', 'POST /token/revocation'])
  const refused = await box.run(['mcp', 'call', 'far', 'echo', 'text=hi'])
  assertFailed(refused, 'credentials', {
    message: /"far": it requires a login: you are not logged in$/,
    hint: /: crabtalk mcp login far$/,
  })
})

test('a daemon uses a login as long as it lasts: refused, expired, ended and renewed', async () => {
  await using server = await protectedServer()
  await using box = await makeSandbox()
  const waiting = await writeWaiting(box)
  await using _daemon = await startServing(box, 0)
  await until('its helper has failed', async () => (await waiting.state()) === 'needs_auth')
  const call = () => mcp(box, ['call', 'far', 'echo', 'text=hi'])
  await mcp(box, ['add', '--no-verify', 'far', server.url])
  const runs = await waiting.runs()
  assert.equal((await logIn(box, server, [], DAEMON)).code, 0)
  await until('a login starts it again', async () => (await waiting.runs()) === runs + 1)
  assert.equal((await call()).stdout, 'hi\n')
  server.refuseTokens()
  assert.equal((await call()).stdout, 'hi\n')
  assert.equal(refreshes(server), 1)
  assert.equal(server.tokens.length, 2)
  await waiting.give()
  assert.equal((await box.run(['vault', 'set', 'OTHER'], { stdin: 'x' })).code, 0)
  await until('vault set starts it', async () => (await waiting.state()) === 'connected')
  assert.equal(await waiting.runs(), runs + 2) // the refresh did not
  await server.endLogins()
  const refused = await call()
  assertFailed(refused, 'credentials', {
    message: /requires a login: the login has ended: it refused \(invalid_grant\)/,
    hint: /crabtalk mcp login far$/,
  })
  assert.match((await mcp(box, ['list'])).stdout, /^far +needs_auth /m)
  assert.equal((await logIn(box, server, [], DAEMON)).code, 0)
  assert.equal((await call()).stdout, 'hi\n')
  const logout = await mcp(box, ['logout', 'far'])
  assert.deepEqual([logout.stdout, logout.code], ['logged out of far\n', 0])
  assert.match((await mcp(box, ['list'])).stdout, /^far +needs_auth /m)
  await assertHidden(box, server, [refused, logout, await mcp(box, ['logs', 'far'])])
})

test('an expired token is replaced in the middle of a session', async () => {
  await using server = await protectedServer({ lifetime: 4 })
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [] })
  await using _daemon = await startServing(box, 0)
  await mcp(box, ['add', '--no-verify', 'far', server.url])
  assert.equal((await logIn(box, server, [], DAEMON)).code, 0)
  await until('a second token is used', async () => {
    assert.equal((await mcp(box, ['call', 'far', 'echo', 'text=hi'])).stdout, 'hi\n')
    return server.tokens.length >= 2
  })
  assert.ok(refreshes(server) >= 1)
})

test('two processes whose token is refused at the same time refresh it once', async () => {
  await using server = await protectedServer()
  await using box = await makeSandbox()
  await box.run(['mcp', 'add', '--no-verify', 'far', server.url])
  await logIn(box, server)
  server.refuseTokens()
  const calls = await Promise.all([1, 2].map(() => box.run(['mcp', 'call', 'far', 'echo', 'text=hi'])))
  assert.deepEqual(
    calls.map(({ stdout, code }) => [stdout, code]),
    [
      ['hi\n', 0],
      ['hi\n', 0],
    ],
  )
  assert.deepEqual([refreshes(server), server.tokens.length], [1, 2])
})

test('send names the command that logs in, and answers without the server', async () => {
  await using server = await protectedServer()
  await using talk = await makeTalk([{ parts: ['hello'] }])
  await talk.run(['mcp', 'add', '--no-verify', 'far', server.url])
  const sent = await talk.send(['hi'])
  assert.deepEqual([sent.stdout, sent.code], ['hello\n', 0], sent.stderr)
  assert.match(
    sent.stderr,
    /"far": it requires authentication: .*its tools are left out \(crabtalk mcp login far\)/,
  )
  const login = await talk.run(['mcp', 'login', 'far'])
  assertFailed(login, 'usage', {
    message: /Cannot log in to far: there is neither a browser nor a terminal here$/,
    hint: /--no-browser/,
  })
  assert.deepEqual(server.requests, [])
})

test('a server of mcp.toml gets the login of its address', async () => {
  await using server = await protectedServer()
  await using talk = await makeTalk([{ parts: ['one'] }, { parts: ['two'] }])
  const folder = join(talk.env['HOME']!, '.config', 'crabtalk')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'mcp.toml'), `[server.far]\nurl = "${server.url}"\n`)
  const before = await talk.send(['hi'])
  assert.match(before.stderr, /its tools are left out \(crabtalk mcp login far\)/)
  const login = await logIn(talk, server)
  assert.deepEqual([login.stdout, login.code], ['logged in to far\n', 0], login.stderr)
  const after = await talk.send(['hi'])
  assert.deepEqual([after.stdout, after.stderr, after.code], ['two\n', '', 0])
  assert.equal(server.tokens.length, 1)
})

test('mcp login opens a browser, takes a pasted address, and logs in an app without a user', async () => {
  const machine = { client_id: 'machine', client_secret: 'planted-client-secret' }
  const grant = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }
  await using server = await protectedServer({ clients: [{ ...machine, ...grant }] })
  await using box = await makeSandbox()
  await box.run(['mcp', 'add', '--no-verify', 'far', server.url])
  const pasting = box.start(['mcp', 'login', '--no-browser', 'far'], { stdin: 'open' })
  const { href } = await browse(
    await readAddress(pasting, server),
    ({ pathname }) => pathname === '/callback',
  )
  pasting.child.stdin!.end(`${href}\n`)
  const pasted = await pasting.finished
  assert.deepEqual([pasted.stdout, pasted.code], ['logged in to far: 1 tool\n', 0], pasted.stderr)
  const wrong = box.start(['mcp', 'login', '--no-browser', 'far'], { stdin: 'open' })
  await readAddress(wrong, server)
  wrong.child.stdin!.end(`${href}\n`)
  const denial = await wrong.finished
  assert.equal(denial.code, 4)
  assert.match(denial.stderr, /error\[denied\]: Cannot log in to \S+: .* its state is another one$/m)

  const opened = join(box.cwd, 'opened')
  await writeFile(
    join(box.home, '..', 'bin', 'xdg-open'),
    `#!/bin/sh\necho "$1" >'${opened}.part'; mv '${opened}.part' '${opened}'\n`,
  )
  await chmod(join(box.home, '..', 'bin', 'xdg-open'), 0o755)
  const running = box.start(['mcp', 'login', 'far'], { env: { DISPLAY: ':0', BROWSER: 'any' } })
  await until('the browser is opened', async () => (await readFile(opened, 'utf8').catch(() => '')) !== '')
  const end = await browse(
    (await readFile(opened, 'utf8')).trim(),
    ({ pathname }) => pathname === '/callback',
  )
  await fetch(end)
  assert.equal((await running.finished).code, 0)

  const app = ['--client-credentials', '--client-id', 'machine', '--client-secret', '--scope', 'tools']
  const own = await box.run(['mcp', 'login', 'far', ...app], { stdin: 'planted-client-secret\n' })
  assert.deepEqual([own.stdout, own.code], ['logged in to far: 1 tool\n', 0], own.stderr)
  const token = await box.run(['mcp', 'token', 'far'])
  assert.deepEqual(Object.keys(JSON.parse(token.stdout)), ['token', 'expires_at'])
  assert.ok(server.tokens.includes(JSON.parse(token.stdout).token))
  const foreign = { env: { CRABTALK_MCP_URL: 'https://evil.example.com/mcp' } }
  assertFailed(await box.run(['mcp', 'token', server.url], foreign), 'denied', {
    message: /Cannot give the token of http:\S+ to https:\/\/evil\.example\.com\/mcp$/,
  })
  await assertHidden(box, server, [pasted, own], ['planted-client-secret'])
})

/** The environment of a command that uses the daemon of the sandbox. */
const DAEMON = { env: WITH_DAEMON }

function refreshes({ tokenGrants }: ProtectedServer): number {
  return tokenGrants.filter((grant) => grant === 'refresh_token').length
}

/** Logs in without opening a browser; the test is the browser. */
test('/login and a key of /mcp log in within the chat, with the browser or a pasted address; Esc frees the port', async () => {
  await using server = await protectedServer()
  await using talk = await makeTalk(() => ({ parts: ['Hello.'] }))
  await talk.run(['mcp', 'add', '--no-verify', 'far', server.url])
  await using chat = openChat(talk, ['chat'], { columns: 1_000, rows: 30 })
  const readPage = async () => {
    const find = () =>
      new RegExp(`${server.issuer}/\\S*code_challenge\\S*`).exec(chat.screen.lines().join('\n'))?.[0]
    await until('the address is shown', () => find() !== undefined)
    return find()!
  }
  await chat.shows(/Message|crab/)
  chat.type('/login far\r')
  const port = new URL(new URL(await readPage()).searchParams.get('redirect_uri')!).origin
  await fetch(port)
  chat.type('\u001b')
  await chat.shows('The login to far is cancelled')
  await until('the port is free', () =>
    fetch(port).then(
      () => false,
      () => true,
    ),
  )

  chat.type('/login far\r')
  const ended = await browse(await readPage(), ({ pathname }) => pathname === '/callback')
  chat.type(`${ended.href}\r`)
  await chat.shows('Logged in to far: 1 tool')
  chat.type('hi\r')
  await chat.shows('Hello.')
  assert.match(talk.server.requests.at(-1)!.text, /"mcp__far__echo"/)
  assert.ok(server.tokens.length > 0)
})

async function logIn(
  box: Sandbox,
  server: ProtectedServer,
  words: readonly string[] = [],
  options: RunOptions = {},
): Promise<Finished> {
  const running = box.start(['mcp', 'login', '--no-browser', ...words, 'far'], options)
  const address = await readAddress(running, server)
  await fetch(await browse(address, ({ pathname }) => pathname === '/callback'))
  return await running.finished
}

/** Declares a server that needs credentials until give() is called, and far's agent. */
async function writeWaiting(box: Sandbox) {
  const [program, runs, value] = ['told.cjs', 'runs', 'value'].map((name) => join(box.cwd, name))
  await writeTellingServer(program!)
  const helper = ['/bin/sh', '-c', `printf x >>'${runs}'; cat '${value}'`]
  await writeAgents(
    box,
    { crab: [{ name: 'waiting', command: process.execPath, args: [program!] }] },
    `env_helper = ${JSON.stringify(helper)}\n`,
  )
  return {
    runs: async () => (await readFile(runs!, 'utf8')).length,
    give: () => writeFile(value!, 'TOKEN=x'),
    async state(): Promise<string> {
      const rows: { name: string; state: string }[] = JSON.parse((await mcp(box, ['list', '--json'])).stdout)
      return rows.find(({ name }) => name === 'waiting')!.state
    },
  }
}

/** Reads the address that a login prints. */
async function readAddress(running: Running, { issuer }: ProtectedServer): Promise<string> {
  let text = ''
  running.child.stderr.on('data', (chunk: Buffer) => {
    text += chunk
  })
  await Promise.race([running.prints(/\n {2}http\S+\n/, 'stderr'), running.finished])
  const address = /\n {2}(http\S+)\n/.exec(text)?.[1] ?? ''
  assert.ok(address.startsWith(issuer), text)
  return address
}

/** Asserts that no token is in an output or in a file of the sandbox, except the encrypted vault. */
async function assertHidden(
  box: Sandbox,
  { tokens }: ProtectedServer,
  outputs: readonly Finished[],
  secrets: readonly string[] = [],
): Promise<void> {
  const found = await readdir(join(box.home, '..'), { recursive: true, withFileTypes: true })
  const files = found.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  const texts = await Promise.all(files.map((path) => readFile(path, 'latin1')))
  const all = [...texts, ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n')
  assert.ok(tokens.length > 0 && all.includes('auth_helper'))
  for (const secret of [...tokens, ...secrets]) assert.ok(!all.includes(secret), 'a secret is in clear')
}
