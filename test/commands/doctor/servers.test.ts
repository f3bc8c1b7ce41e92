import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { judgeCertificate } from '../../../src/commands/doctor/servers/certificates.ts'
import { isOlder } from '../../../src/commands/doctor/servers/runtimes.ts'
import { main } from '../../../src/commands/main.ts'
import { openVaultHome } from '../../../src/commands/vault/home.ts'
import { homePaths } from '../../../src/core/config/paths.ts'
import { writeLogin } from '../../../src/edge/oauth/login-store.ts'
import { openOrCreateVault } from '../../../src/edge/vault/vault.ts'
import { listen } from '../../support/mcp/http/listener.ts'
import { entriesToml, watchedServer } from '../../support/mcp/mcp-servers.ts'
import { recordFolder } from '../../support/mcp/record-folder.ts'
import { makeTestHost, type TestHostOptions } from '../../support/test-host.ts'

const CLASH =
  '[[mcps]]\nname = "u"\nurl = "http://127.0.0.1:1/"\nauth = "x"\nheaders = { Authorization = "y" }\n'
const NEVER = new AbortController().signal
const FEW = { tools: ['few'] } as const

test('doctor reports a remote server whose entry has two values for one header', async () => {
  await using home = await makeHome(CLASH)
  const [found] = await home.doctor([])
  assert.equal(
    found?.text,
    'problem: u of crab: the header "Authorization" and "auth" clash: use one of them',
  )
  assert.match(found?.hint ?? '', /mcp set/)
})

test('mcp doctor starts and ends each server, and ends with the last line of standard error', async () => {
  await using records = await recordFolder()
  const good = watchedServer(records.path, FEW, { name: 'good' })
  const script =
    'echo Error: no database >&2; echo Bearer s3cr3t-4711-value-abc >&2; echo last words >&2; exit 3'
  const bad = { name: 'bad', command: 'sh', args: ['-c', script] }
  await using home = await makeHome(entriesToml(good.entry, bad))
  const found = await home.doctor(['mcp'])
  assert.equal(home.code, 1)
  assert.match(found[0]!.text, /^ok: good of crab started in \d+ ms, 2 tools$/)
  assert.match(
    found[1]!.text,
    /^problem: bad of crab: it exited with code 3: Error: no database; last line of standard error: last words$/,
  )
  assert.equal(found[1]!.hint, 'see crabtalk mcp logs bad -a crab')
  assert.doesNotMatch(JSON.stringify(found), /s3cr3t/)
  assert.equal(good.starts().length, 1)
  assert.equal((await home.doctor(['mcp', 'good'])).length, 1)
  assert.equal(home.code, 0)
})

test('mcp doctor starts identical servers once, and reports only about those that were named', async () => {
  await using records = await recordFolder()
  const good = watchedServer(records.path, FEW, { name: 'good' })
  await using home = await makeHome(entriesToml(good.entry))
  const same = entriesToml({ ...good.entry, name: 'same', include: ['*', 'gone'] } as never)
  await home.writeAgent('other', same)
  const found = await home.doctor(['mcp'])
  assert.deepEqual(
    found.map(({ text }) => text.replace(/ in \d+ ms/, '')),
    [
      'ok: good of crab started, 2 tools',
      'ok: same of other started, 2 tools',
      'warning: include of same has gone, but no tool has that name',
    ],
  )
  assert.equal(good.starts().length, 1)
  for (const words of [['good'], ['--agent', 'crab']])
    assert.equal((await home.doctor(['mcp', ...words])).length, 1)
  for (const words of [
    ['same', '--agent', 'other'],
    ['--agent', 'other'],
  ])
    assert.equal((await home.doctor(['mcp', ...words])).length, 2)
})

test('doctor starts the servers of files only when they are trusted', async () => {
  await using records = await recordFolder()
  const server = watchedServer(records.path, FEW, { name: 'docs' })
  await using home = await makeHome('')
  const { name: _, ...table } = server.entry
  await mkdir(join(home.folder, '.git'))
  await mkdir(join(home.folder, '.crabtalk'))
  const toml = entriesToml({ name: 'docs', ...table })
    .replace('[[mcps]]', '[server.docs]')
    .replace(/name = .*\n/, '')
  await writeFile(join(home.folder, '.crabtalk/mcp.toml'), toml)
  const [before] = await home.doctor(['mcp'])
  assert.match(before!.text, /^note: docs of .*mcp\.toml is not checked: you have not trusted its file yet$/)
  assert.deepEqual(server.starts(), [])
  assert.equal(await main('crabtalk', ['trust', '--yes'], home.host), 0)
  const [after] = await home.doctor(['mcp'])
  assert.match(after!.text, /^ok: docs of .*mcp\.toml started in \d+ ms, 2 tools$/)
})

test('doctor names programs that a service would not find, and packages that need a newer node', async () => {
  const own = { name: 'own', command: 'my-server', args: [] }
  const js = { name: 'js', command: process.execPath, args: ['server.js'] }
  await using home = await makeHome('')
  const tools = join(home.folder, 'my tools')
  await mkdir(tools)
  await writeFile(join(tools, 'my-server'), '#!/bin/sh\n')
  await chmod(join(tools, 'my-server'), 0o755)
  await writeFile(join(home.folder, 'package.json'), '{"engines": {"node": ">=99.1"}}')
  await home.write(entriesToml(own, { ...js, cwd: home.folder }))
  const path = [tools, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter)
  await home.writeAgent('other', entriesToml(own))
  const { userServers } = homePaths(home.host.env, { cwd: home.folder, homeDir: home.folder })
  await mkdir(dirname(userServers), { recursive: true })
  await writeFile(userServers, '[server.mine]\ncommand = "my-server"\n')
  await writeFile(join(home.folder, '.mcp.json'), '{"mcpServers": {"json": {"command": "my-server"}}}')
  assert.equal(await main('crabtalk', ['trust', '--yes'], home.host), 0)
  const notes = (await home.doctor([], { PATH: path })).filter(({ text }) => text.startsWith('note'))
  assert.equal(
    notes[0]?.text,
    `note: own of crab: a daemon that runs as a service would not find my-server, which is ${tools}/my-server`,
  )
  const file = `'${tools}/my-server'`
  assert.deepEqual(notes.map(({ hint }) => hint).toSorted(), [
    `write its full path into ${home.folder}/.mcp.json`,
    `write its full path: crabtalk mcp set mine --scope user command=${file}`,
    `write its full path: crabtalk mcp set own -a other command=${file}`,
    `write its full path: crabtalk mcp set own command=${file}`,
  ])
  const found = await home.doctor(['mcp'], { PATH: path })
  assert.equal(
    found.at(-1)?.text,
    `warning: js of crab: its package needs node >=99.1, and node is ${process.version}`,
  )
  assert.deepEqual(
    [
      isOlder('v20.19.2', '^18.3 || >=20.20'),
      isOlder('v20.19.2', '>=20.20'),
      isOlder('v22.0.0', '>= 22'),
      isOlder('v9.0.0', '*'),
    ],
    [false, true, false, false],
  )
})

test('doctor runs programs of entries only when servers are started, with the environment of the server', async () => {
  await using home = await makeHome('')
  const [tools, calls] = [join(home.folder, 'tools'), join(home.folder, 'calls')]
  await mkdir(tools)
  const script = `#!/bin/sh\necho "$1 $MY_API_KEY" >>${calls}\necho no daemon >&2\nexit 1\n`
  await writeFile(join(tools, 'docker'), script, { mode: 0o755 })
  const box = { name: 'box', command: 'docker', args: ['run', 'x'], env: { PATH: `${tools}:/bin` } }
  await home.write(entriesToml(box))
  const env = { PATH: '/bin', MY_API_KEY: 's3cr3t' }
  assert.deepEqual(
    (await home.doctor([], env)).map(({ text }) => text),
    [`ok: box of crab: ${tools}/docker`],
  )
  await assert.rejects(readFile(calls), { code: 'ENOENT' })
  assert.deepEqual((await home.doctor(['mcp'], env)).at(-1), {
    text: 'problem: docker does not work: no daemon',
    hint: 'start Docker, and see that you may use it',
  })
  assert.deepEqual(new Set((await readFile(calls, 'utf8')).split('\n')), new Set(['run ', 'version ', '']))
})

test('doctor names credentials that are missing, will expire, or are sent unencrypted, and shows none', async () => {
  const toToken = (seconds: number) => {
    const payload = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + seconds }))
    return `eyJhbGciOiJIUzI1NiJ9.${payload.toString('base64url')}.c2lnbmF0dXJl`
  }
  const helper = (...names: string[]) => ['crabtalk', 'vault', 'env', ...names]
  const program = { command: 'sh', args: ['-c', 'exit'] }
  await using home = await makeHome(
    entriesToml(
      { name: 'one', ...program, env_helper: helper('GONE', 'OLD=OLD_TOKEN', 'SOON', 'FINE') } as never,
      { name: 'two', url: 'http://tracker.example.com/mcp', auth: 'plain-token' } as never,
      { name: 'three', url: 'http://127.0.0.1:9/mcp', auth: 'plain-token' } as never,
    ),
  )
  const env = { OLD_TOKEN: toToken(-60), SOON: toToken(86_400), FINE: toToken(86_400 * 60) }
  await writeFile(join(home.folder, 'home', 'service.env'), 'FINE=other\nOLD_TOKEN=other\n')
  const found = await home.doctor([], env)
  const why = 'is set in this shell only: a daemon that runs as a service would not have it'
  assert.deepEqual(
    found.filter(({ text }) => /^note: one/.test(text)),
    [{ text: `note: one of crab: SOON ${why}`, hint: 'crabtalk vault set SOON' }],
  )
  const texts = found.filter(({ text }) => !/^(?:ok|note)/.test(text)).map(({ text }) => text)
  assert.deepEqual(
    texts.map((text) => text.replace(/ on \d.*/, '')),
    [
      'problem: one of crab: GONE is not set: neither the vault nor .env nor the environment has it',
      'problem: one of crab: OLD_TOKEN expired',
      'warning: one of crab: SOON expires',
      'warning: two of crab: its credentials are sent unencrypted to tracker.example.com, where others can read them',
    ],
  )
  assert.equal(found.find(({ text }) => text.includes('GONE'))?.hint, 'crabtalk vault set GONE')
  assert.doesNotMatch(JSON.stringify(found), /eyJ|plain-token/)
})

test('doctor names logins that are missing, have ended, or will end, and a vault that does not open', async () => {
  const urls = ['none', 'ended', 'soon', 'fine'].map((name) => ({ name, url: `https://h.invalid/${name}` }))
  const helper = ['crabtalk', 'mcp', 'token']
  await using home = await makeHome(
    entriesToml(...(urls.map((one) => ({ ...one, auth_helper: helper })) as never[])),
  )
  const env = { CRABTALK_VAULT_KEY: 'a key of this test' }
  {
    await using vaultHome = await openVaultHome({ ...home.host, env: { ...home.host.env, ...env } })
    const { vault } = await openOrCreateVault(vaultHome, NEVER)
    const login = {
      grant: 'user',
      trusted: [],
      client: { client_id: 'c' },
      isOwnClient: false,
      redirectUrl: '',
    } as const
    const server = {
      address: 'https://h.invalid',
      metadata: {},
      resource: undefined,
      scope: undefined,
    } as never
    const now = Date.now()
    const tokens = {
      access_token: 's3cr3t',
      token_type: 'Bearer',
      receivedAt: now,
      expiresAt: now + 3_600_000,
    }
    const store = (url: string, more: object) => writeLogin(vault, { ...login, url, server, ...more }, NEVER)
    await store('https://h.invalid/ended', {})
    await store('https://h.invalid/soon', { tokens })
    await store('https://h.invalid/fine', { tokens: { ...tokens, refresh_token: 's3cr3t' } })
  }
  const list = async (key: string) => {
    const found = await home.doctor([], { ...env, CRABTALK_VAULT_KEY: key })
    assert.doesNotMatch(JSON.stringify(found), /s3cr3t/)
    return found.filter(({ text }) => !text.startsWith('note'))
  }
  const found = await list(env.CRABTALK_VAULT_KEY)
  assert.deepEqual(
    found.map(({ text, hint }) => `${text.replace(/ on \d.*/, '')} (${hint})`),
    [
      'problem: none of crab: you are not logged in (crabtalk mcp login none)',
      'problem: ended of crab: its login has ended, because it could not be refreshed (crabtalk mcp login ended)',
      'warning: soon of crab: its login, which cannot be refreshed, expires (crabtalk mcp login soon)',
    ],
  )
  const locked = await list('another key')
  assert.equal(locked.length, 4)
  for (const { text } of locked)
    assert.match(text, /^problem: \w+ of crab: its login cannot be read: Cannot /)
})

test('mcp doctor checks the certificate of a server, and the clock of this machine', async () => {
  await using home = await makeHome('')
  const [key, cert] = [join(home.folder, 'key.pem'), join(home.folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '5']
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject]
  execFileSync('openssl', args, { stdio: 'ignore' })
  const tls = { key: await readFile(key), cert: await readFile(cert) }
  const requests: string[] = []
  await using server = await listen((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`)
    response.writeHead(405, { date: new Date(Date.now() - 600_000).toUTCString() }).end()
  }, tls)
  await home.write(
    entriesToml({
      name: 'far',
      url: `${server.origin}/s3cr3t/mcp?key=s3cr3t`,
      auth: 's3cr3t-token',
    } as never),
  )
  const found = await home.doctor(['mcp'], { HTTPS_PROXY: 'http://me:s3cr3t@127.0.0.1:9' })
  const host = new URL(server.origin).host
  const texts = found.slice(1).map(({ text }) => text.replace(/ on \S+,/, ' then,'))
  assert.deepEqual(texts, [
    `problem: the certificate of ${host} is self-signed`,
    `warning: the certificate of ${host} expires then, in 4 days`,
    `warning: the clock of this machine is 10 minutes ahead of that of ${host}`,
    'note: far of crab: HTTPS_PROXY is set, so it is reached through http://[secret]@127.0.0.1:9',
  ])
  assert.match(
    found[0]!.text,
    /^problem: far of crab: it cannot be reached at .*: its certificate is self-signed$/,
  )
  const again = await home.doctor(['mcp']) // a resumed session of TLS has no certificate
  assert.deepEqual(again.map(({ text }) => text.replace(/ on \S+,/, ' then,')).slice(1, 3), texts.slice(0, 2))
  assert.deepEqual(requests, ['HEAD / -', 'HEAD / -'])
  assert.doesNotMatch(JSON.stringify([found, again]), /s3cr3t/)
})

test('mcp doctor names invalid entries, placeholders, and a server that nothing declares', async () => {
  const left = { name: 'left', command: 'sh', args: ['-c', 'exit'], env: { TOKEN: '<YOUR_TOKEN>' } }
  await using home = await makeHome(`${entriesToml(left)}[[mcps]]\nname = "typo"\ncomand = "sh"\n`)
  const found = await home.doctor(['mcp'])
  assert.match(
    found[1]!.text,
    /^problem: typo of crab: agents\/crab\.toml:\d+: unknown key "mcps\[1\]\.comand"$/,
  )
  assert.match(
    found.at(-1)!.text,
    /^warning: env\.TOKEN of the server "left" is the placeholder <YOUR_TOKEN>/,
  )
  assert.deepEqual(await home.doctor(['mcp', 'typo']), [found[1]])
  assert.equal(await main('crabtalk', ['mcp', 'doctor', 'lfet'], home.host), 1)
  assert.match(home.stderr(), /Cannot find the server "lfet": .*\nhint: did you mean "left"\?/)
})

test('mcp doctor names the command that logs in to a server', async () => {
  await using server = await listen((_, response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  })
  await using home = await makeHome(entriesToml({ name: 'far', url: `${server.origin}/mcp` } as never))
  const [found] = await home.doctor(['mcp'])
  assert.match(found!.text, /^problem: far of crab: it requires authentication: it answered HTTP 401/)
  assert.equal(found!.hint, 'crabtalk mcp login far')
})

/** Certificates, and what is said of them. */
const CERTIFICATES: [days: number, error: string | undefined, expected: RegExp][] = [
  [90, undefined, /^$/],
  [13, undefined, /^warning the certificate of h expires on \d{4}-\d\d-\d\d, in 13 days$/],
  [-2, 'CERT_HAS_EXPIRED', /^problem the certificate of h expired on /],
  [90, 'SELF_SIGNED_CERT_IN_CHAIN', /^problem the certificate of h is signed by an unknown authority$/],
  [90, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', /^problem the certificate of h is signed by an unknown authority$/],
  [90, 'ERR_TLS_CERT_ALTNAME_INVALID', /^problem the certificate of h is for another name$/],
  [90, 'CERT_NOT_YET_VALID', /^problem the certificate of h is not valid yet$/],
  [90, 'CERT_REVOKED', /^problem the certificate of h CERT_REVOKED$/],
  [Number.NaN, 'CERT_HAS_EXPIRED', /^problem the certificate of h has expired$/],
]

for (const [days, certificateError, expected] of CERTIFICATES) {
  test(`judgeCertificate() describes ${certificateError ?? 'a valid certificate'} with ${days} days left`, () => {
    const now = Date.UTC(2026, 10, 23)
    const validTo = Number.isNaN(days) ? undefined : now + days * 86_400_000
    const found = judgeCertificate({ host: 'h', validTo, certificateError }, now)
    assert.match(found.map(({ status, message }) => `${status} ${message}`).join('\n'), expected)
  })
}

interface Finding {
  text: string
  hint: string | null
}

/** Creates a home with an agent crab that has these entries. */
async function makeHome(entries: string) {
  const one = await makeTestHost({ env: { CRABTALK_HOME: 'home', PATH: process.env['PATH'] } })
  const agents = join(one.folder, 'home', 'agents')
  const write = (text: string) =>
    writeFile(join(agents, 'crab.toml'), `id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n${text}`)
  const writeAgent = (name: string, text: string) =>
    writeFile(join(agents, `${name}.toml`), `id = "01JZZZZZZZZZZZZZZZZZZZZZZY"\n${text}`)
  await mkdir(agents, { recursive: true })
  await write(entries)
  const home = {
    ...one,
    write,
    /** Writes the file of another agent. */
    writeAgent,
    code: 0,
    /** Runs `crabtalk doctor`, or `crabtalk mcp doctor`, and returns what it says of MCP servers. */
    async doctor(words: readonly string[], env: TestHostOptions['env'] = {}): Promise<Finding[]> {
      const before = one.stdout().length
      const host = { ...one.host, env: { ...one.host.env, ...env } }
      const [first, ...rest] = words
      const args = first === undefined ? ['doctor'] : [first, 'doctor', ...rest]
      home.code = await main('crabtalk', [...args, '--json'], host)
      await one.host.stdout.flush()
      const { checks } = JSON.parse(one.stdout().slice(before))
      return checks
        .filter(({ area }: { area: string }) => area === 'mcp servers')
        .filter(({ message }: { message: string }) => !/node \d/.test(message))
        .map(({ status, message, hint }: Record<string, string>) => ({ text: `${status}: ${message}`, hint }))
    },
  }
  return home
}
