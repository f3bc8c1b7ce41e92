import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { browse, type ProtectedServer, protectedServer } from '../support/oauth/protected-server.ts'
import { type Finished, makeSandbox, type Running, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

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

/** Logs in without opening a browser; the test is the browser. */
async function logIn(box: Sandbox, server: ProtectedServer, ...options: string[]): Promise<Finished> {
  const running = box.start(['mcp', 'login', '--no-browser', ...options, 'far'])
  const address = await readAddress(running, server)
  const { href } = await browse(address, ({ pathname }) => pathname === '/callback')
  await fetch(href)
  return await running.finished
}

async function readAddress(running: Running, { issuer }: ProtectedServer): Promise<string> {
  let found = ''
  let text = ''
  running.child.stderr.on('data', (chunk: Buffer) => {
    text += chunk
  })
  await Promise.race([running.prints(/\n {2}http\S+\n/, 'stderr'), running.finished])
  found = /\n {2}(http\S+)\n/.exec(text)?.[1] ?? ''
  assert.ok(found.startsWith(issuer), text)
  return found
}

/** Asserts that no token is in an output or in a file of the sandbox, except the encrypted vault. */
async function assertHidden(box: Sandbox, server: ProtectedServer, outputs: Finished[]): Promise<void> {
  const files = (await readdir(join(box.home, '..'), { recursive: true, withFileTypes: true })).filter(
    (one) => one.isFile(),
  )
  const texts = await Promise.all(
    files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')),
  )
  const all = [...texts, ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n')
  assert.ok(server.tokens.length > 0 && all.includes('auth_helper'))
  for (const token of server.tokens) assert.ok(!all.includes(token), 'a token is in clear')
}
