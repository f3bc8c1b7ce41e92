import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { installKeyring } from '../support/keyring.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

const PLANTED = 'ghp_planted0123456789abcdefghijklmnopqrst'

test('vault set reads a value from a pipe or a hidden prompt, and vault get prints it on request', async () => {
  await using box = await makeSandbox()
  const env = withoutKeychain(box)
  const vault = (args: readonly string[], stdin?: string) =>
    box.run(['vault', ...args], { env, ...(stdin !== undefined && { stdin }) })
  const first = await vault(['set', 'GITHUB_TOKEN'], `${PLANTED}\n`)
  assert.deepEqual([first.code, first.stdout], [0, 'stored GITHUB_TOKEN\n'], first.stderr)
  assert.match(first.stderr, /^crabtalk: created .*\/vault; its key is in a file that only you can read/)
  const terminal = box.terminal(['vault', 'set', 'SLACK_TOKEN'], { env })
  await terminal.shows(/Value of SLACK_TOKEN \(not shown\): /)
  terminal.type('xoxb-typed-1\r')
  assert.equal((await terminal.finished).code, 0)
  assert.doesNotMatch(terminal.output(), /xoxb/)

  assertFailed(await vault(['get', 'GITHUB_TOKEN']), 'denied', {
    message: /not a terminal/,
    hint: /--reveal/,
  })
  assert.equal((await vault(['get', 'GITHUB_TOKEN', '--reveal'])).stdout, `${PLANTED}\n`)
  assert.equal((await vault(['get', 'SLACK_TOKEN', '--reveal'])).stdout, 'xoxb-typed-1\n')
  const shown = box.terminal(['vault', 'get', 'SLACK_TOKEN'], { env })
  assert.equal((await shown.finished).code, 0)
  assert.match(shown.output(), /xoxb-typed-1/)
  assert.equal((await vault(['header', 'SLACK_TOKEN'])).stdout, 'xoxb-typed-1\n')
  const both = await vault(['env', 'GITHUB_TOKEN', 'SLACK_TOKEN'])
  assert.deepEqual(JSON.parse(both.stdout), { GITHUB_TOKEN: PLANTED, SLACK_TOKEN: 'xoxb-typed-1' })
  const renamed = await vault(['env', 'TOKEN=GITHUB_TOKEN', 'SLACK_TOKEN'])
  assert.deepEqual(JSON.parse(renamed.stdout), { TOKEN: PLANTED, SLACK_TOKEN: 'xoxb-typed-1' })
  const headers = await vault(['header', 'X-Key=GITHUB_TOKEN', 'Authorization=Sentry-Bearer SLACK_TOKEN'])
  assert.deepEqual(JSON.parse(headers.stdout), {
    headers: { 'X-Key': PLANTED, Authorization: 'Sentry-Bearer xoxb-typed-1' },
  })
  assertFailed(await vault(['env', 'GITHUB_TOKEN', 'NOTION_TOKEN']), 'credentials', {
    message: /^Cannot find NOTION_TOKEN: neither the vault nor \.env nor the environment has it$/,
    hint: /crabtalk vault set NOTION_TOKEN$/,
  })

  assert.match((await vault(['list'])).stdout, /^NAME +CHANGED\nGITHUB_TOKEN +\w+.*\nSLACK_TOKEN /)
  const status = JSON.parse((await vault(['status', '--json'])).stdout)
  assert.deepEqual([status.key.source, status.opened_with, status.credentials], ['file', 'file', 2])
  assertFailed(await vault(['init']), 'conflict', { message: /there is a vault already/ })
  assert.equal((await vault(['remove', 'SLACK_TOKEN'])).stdout, 'removed SLACK_TOKEN\n')
  assertFailed(await vault(['remove', 'SLACK_TOKEN']), 'missing', { message: /the vault does not have it/ })
  await assertNowhere(box, [PLANTED, 'xoxb'])
})

test('vault set refuses a value on the command line, without repeating it', async () => {
  await using box = await makeSandbox()
  for (const args of [
    ['GITHUB_TOKEN', PLANTED],
    ['GITHUB_TOKEN', `--value=${PLANTED}`],
    ['GITHUB_TOKEN', '--token', PLANTED],
    [`GITHUB_TOKEN=${PLANTED}`],
  ]) {
    const refused = await box.run(['vault', 'set', ...args], { stdin: 'x' })
    assertFailed(refused, 'usage', { message: /./, hint: /standard input|pipe it/ })
    assert.doesNotMatch(refused.stderr, /ghp_/)
  }
  assertFailed(await box.run(['vault', 'set', 'GITHUB_TOKEN']), 'usage', {
    message: /no terminal to ask on$/,
    hint: /pipe it/,
  })
  assertFailed(await box.run(['vault', 'set', 'GITHUB_TOKEN'], { stdin: '\n' }), 'no-input', {
    message: /empty/,
  })
})

test('vault explain names the source of each credential, never its value', async () => {
  await using box = await makeSandbox()
  const env = { ...withoutKeychain(box), C: 'from-the-environment', B: 'also' }
  await mkdir(box.home)
  await writeFile(join(box.home, '.env'), '# mine\nA=one\nexport B="from-the-file"\n')
  await box.run(['vault', 'set', 'A'], { env, stdin: PLANTED })
  const explained = await box.run(['vault', 'explain', 'A', 'B', 'C', 'D'], { env })
  assert.equal(
    explained.stdout.replace(box.home, 'HOME'),
    'NAME  SOURCE\nA     vault\nB     HOME/.env:3\nC     environment\nD     missing: crabtalk vault set D\n',
  )
  assert.equal(explained.code, 1)
  const { stdout } = await box.run(['vault', 'explain', 'A', 'B', '--json'], { env })
  assert.doesNotMatch(explained.stdout + stdout, /ghp_|from-the/)
  const all = await box.run(['vault', 'env', 'A', 'B', 'C'], { env })
  assert.deepEqual(JSON.parse(all.stdout), { A: PLANTED, B: 'from-the-file', C: 'from-the-environment' })
})

test('a damaged vault, a wrong key and a moved home are told apart', async () => {
  await using box = await makeSandbox()
  const env = { ...withoutKeychain(box), CRABTALK_VAULT_KEY: 'correct horse battery staple' }
  const get = (extra = {}) => box.run(['vault', 'get', 'A', '--reveal'], { env: { ...env, ...extra } })
  await box.run(['vault', 'set', 'A'], { env, stdin: PLANTED })
  const file = join(box.home, 'vault')
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const whole = await readFile(file)
  const wrong = await get({ CRABTALK_VAULT_KEY: 'another' })
  assertFailed(wrong, 'credentials', { message: /the key in CRABTALK_VAULT_KEY does not fit/ })
  assertFailed(await get({ CRABTALK_VAULT_KEY: undefined }), 'credentials', {
    message: /neither CRABTALK_VAULT_KEY/,
  })
  const flipped = Buffer.from(whole)
  flipped.writeUInt8(flipped.readUInt8(whole.length - 30) ^ 1, whole.length - 30)
  for (const bytes of [flipped, whole.subarray(0, -40), whole.subarray(0, 1), Buffer.alloc(0)]) {
    await writeFile(file, bytes)
    assertFailed(await get(), 'storage', { message: /the file is damaged$/, hint: /backup/ })
    assertFailed(await box.run(['vault', 'set', 'B'], { env, stdin: 'x' }), 'storage', { message: /damaged/ })
    assert.deepEqual(await readFile(file), Buffer.from(bytes)) // never overwritten
  }
  await writeFile(file, whole)
  const moved = `${box.home} moved`
  await rename(box.home, moved)
  assert.equal((await get({ CRABTALK_HOME: moved })).stdout, `${PLANTED}\n`)
})

test('processes that write at the same time lose nothing', async () => {
  await using box = await makeSandbox()
  const env = withoutKeychain(box)
  const names = Array.from({ length: 12 }, (_, i) => `TOKEN_${String.fromCharCode(65 + i)}`)
  const runs = await Promise.all(names.map((name) => box.run(['vault', 'set', name], { env, stdin: name })))
  assert.deepEqual(
    runs.map(({ code }) => code),
    names.map(() => 0),
  )
  assert.equal(runs.filter(({ stderr }) => stderr.includes('created')).length, 1)
  const list = JSON.parse((await box.run(['vault', 'list', '--json'], { env })).stdout) as { name: string }[]
  assert.deepEqual(
    list.map(({ name }) => name),
    names,
  )
})

test('a rotation killed at any step leaves a vault that its key opens', async () => {
  await using box = await makeSandbox()
  const bin = join(box.cwd, 'tools')
  await mkdir(bin)
  const env = { ...(await installKeyring(box.cwd, bin)), PATH: `${bin}:${box.env['PATH']}` }
  await box.run(['vault', 'set', 'A'], { env, stdin: PLANTED })
  const keyIds = new Set([await readKeyId(box)])
  for (const step of ['store', 'clear']) {
    const killed = await box.run(['vault', 'rotate-key'], { env: { ...env, KILL_AT: step } })
    assert.equal(killed.signal, 'SIGKILL', step)
    keyIds.add(await readKeyId(box))
    const read = await box.run(['vault', 'get', 'A', '--reveal'], { env })
    assert.equal(read.stdout, `${PLANTED}\n`, `${step}: ${read.stderr}`)
  }
  assert.equal(keyIds.size, 2) // the first kill came before the new file, the second after it
  const whole = await box.run(['vault', 'rotate-key', '--key', 'file'], { env })
  assert.equal(whole.code, 0, whole.stderr)
  const newKey = { stdin: 'new passphrase\n', env }
  const last = await box.run(['vault', 'rotate-key', '--key', 'environment'], newKey)
  assert.match(last.stderr, /from now on CRABTALK_VAULT_KEY must give the new key/)
  assert.deepEqual(await readdir(join(box.env['HOME']!, '.config/crabtalk/vault-keys')), [])
  const opened = { env: { ...env, CRABTALK_VAULT_KEY: 'new passphrase' } }
  assert.equal((await box.run(['vault', 'get', 'A', '--reveal'], opened)).stdout, `${PLANTED}\n`)
  assert.doesNotMatch(await readFile(join(box.cwd, 'calls'), 'utf8'), /[0-9a-f]{64}|ghp_/)
})

/** Returns an environment in which no program is a keychain. */
function withoutKeychain(box: Sandbox): Record<string, string> {
  return { PATH: join(box.env['PATH']!.split(':')[0]!) }
}

async function readKeyId(box: Sandbox): Promise<string> {
  return JSON.parse(await readFile(join(box.home, 'vault'), 'utf8')).key.id
}

/** Fails when a file of the home contains one of the texts. */
async function assertNowhere(box: Sandbox, texts: readonly string[]): Promise<void> {
  const entries = await readdir(box.home, { recursive: true, withFileTypes: true })
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path, 'latin1')
    assert.deepEqual(
      texts.filter((text) => content.includes(text)),
      [],
      path,
    )
  }
}
