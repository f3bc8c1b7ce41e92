import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { startsOthers } from '../../../src/core/base/programs/starts-others.ts'
import { REDACTED } from '../../../src/core/base/secrets/redact.ts'
import { defaultAgent } from '../../../src/core/config/default-agent.ts'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { redact, redactEntry, restoreSecrets } from '../../../src/core/config/secrets.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const variable = (name: string) => `$\{${name}}`

const STORED: McpEntry[] = [
  {
    ...{ name: 'fs', command: 'x', args: ['--flag', '--token=hush1'], env: { TOKEN: 'hush', LOG: '1' } },
    env_helper: ['h', '--password', 'hush4'],
  },
  {
    ...{ name: 'web', url: 'http://me:hush1@h/mcp?api_key=hush2&page=2', auth: 'Bearer hush' },
    ...{ headers: { 'X-Key': 'hush' }, auth_helper: ['h', '--password', 'hush3'] },
  },
]

test('redactEntry() shows the names that a vault helper has, and hides secrets beside them', () => {
  const toShown = (...helper: string[]) => redactEntry({ name: 'a', env_helper: helper }).env_helper?.slice(3)
  const names = [
    ...[
      'GITHUB_PERSONAL_ACCESS_TOKEN=MY_TOKEN',
      'Authorization=Basic AZURE_DEVOPS_TOKEN',
      'API_KEY=db/API_KEY',
    ],
    ...[`TOKEN=\${DB_TOKEN:-dev}`, `DB_URL=postgres://\${DB_USER}:\${DB_PASS}@h/x`, `A=\${B:-\${c/D}}`],
  ]
  for (const verb of ['env', 'header', 'key'])
    assert.deepEqual(toShown('crabtalk', 'vault', verb, ...names), names)
  const literal = [
    'TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz',
    'PASSWORD=hunter two 2',
    'TOKEN=8f3a9c1b2d4e5f6071829',
  ]
  assert.deepEqual(toShown('crabtalk', 'vault', 'env', ...literal), [
    ...['TOKEN=[secret]', 'PASSWORD=[secret]', 'TOKEN=[secret]'],
  ])
  assert.deepEqual(
    toShown('crabtalk', 'vault', 'env', `U=p://me:hush1@\${HOST}/x`, `TOKEN=\${A:-abc12345678}`),
    [...[`U=p://[secret]@\${HOST}/x`, `TOKEN=\${A:-[secret]}`]],
  )
  assert.deepEqual(toShown('helper', 'vault', 'env', 'TOKEN=MINE'), ['TOKEN=[secret]'])
})

test('redact() hides secrets wherever an entry can hold one, and nothing else', () => {
  const shown = redact({ ...defaultAgent(), mcps: STORED })
  assert.deepEqual(shown, {
    ...defaultAgent(),
    mcps: [
      {
        ...{ name: 'fs', command: 'x', args: ['--flag', '--token=[secret]'] },
        env: { TOKEN: REDACTED, LOG: REDACTED },
        env_helper: ['h', '--password', REDACTED],
      },
      {
        ...{ name: 'web', url: 'http://[secret]@h/mcp?api_key=[secret]&page=2', auth: REDACTED },
        ...{ headers: { 'X-Key': REDACTED }, auth_helper: ['h', '--password', REDACTED] },
      },
    ],
  })
  assert.equal(REDACTED, '[secret]')
})

test('redact() shows unfilled placeholders as they are', () => {
  const entry: McpEntry = {
    ...{ name: 'gh', command: 'x', args: [`--token=${variable('TOKEN')}`, '--api-key', '<YOUR_KEY>'] },
    env: {
      A: variable('GITHUB_TOKEN'),
      B: variable('input:key'),
      C: 'YOUR_API_KEY_HERE',
      D: 'sk-xxxxxxxx',
      E: '',
    },
  }
  assert.deepEqual(redactEntry(entry), entry)
  const web: McpEntry = {
    name: 'w',
    url: `https://h/?token=${variable('T')}`,
    headers: { A: `Bearer ${variable('TOKEN')}` },
  }
  assert.deepEqual(redactEntry(web), web)
  assert.deepEqual(redactEntry({ ...entry, env: { A: variable('KEY:-sk-1234') } }).env, { A: REDACTED })
})

test('restoreSecrets() reverses redact(), and keeps changes', () => {
  const { mcps } = redact({ ...defaultAgent(), mcps: STORED })
  assert.deepEqual(restoreSecrets(mcps, STORED), { mcps: STORED, lost: [] })
  const changed = [{ ...mcps[0], env: { TOKEN: REDACTED, LOG: '2' } }]
  assert.deepEqual(restoreSecrets(changed, STORED).mcps, [{ ...STORED[0], env: { TOKEN: 'hush', LOG: '2' } }])
})

/** Edits of the shown entries, and what is stored afterwards. */
const EDITS: Record<string, [stored: string[], sent: string[], restored: string[]]> = {
  'a word before it': [['--token=a'], ['-v', '--token=[secret]'], ['-v', '--token=a']],
  'a word taken away': [
    ['-v', '--key', 'a'],
    ['--key', '[secret]'],
    ['--key', 'a'],
  ],
  'another order': [
    ['--key', 'a', '--pass', 'b'],
    ['--pass', '[secret]', '--key', '[secret]'],
    ['--pass', 'b', '--key', 'a'],
  ],
  'another path': [['postgres://me:pw@h:1/x'], ['postgres://[secret]@h:1/y'], ['postgres://me:pw@h:1/y']],
  'another query': [
    ['https://h/?token=a&key=b'],
    ['https://h/?key=[secret]&n=1&token=[secret]'],
    ['https://h/?key=b&n=1&token=a'],
  ],
  'one of two replaced': [
    ['--header', 'Authorization: a', '--header', 'Authorization: b'],
    ['--header', 'Authorization: [secret]', '--header', 'Authorization: new'],
    ['--header', 'Authorization: a', '--header', 'Authorization: new'],
  ],
  'the same twice': [['--key=a'], ['--key=[secret]', '--key=[secret]'], ['--key=a', '--key=a']],
  'JSON changed around it': [
    ['{"apiKey": "a", "n": 1}'],
    ['{"n": 2, "apiKey": "[secret]"}'],
    ['{"n": 2, "apiKey": "a"}'],
  ],
}
for (const [what, [args, sent, restored]] of Object.entries(EDITS)) {
  test(`restoreSecrets() restores the secret after ${what}`, () => {
    const stored = [{ name: 'a', command: 'x', args }]
    const back = restoreSecrets([{ name: 'a', command: 'x', args: sent }], stored)
    assert.deepEqual(back, { mcps: [{ name: 'a', command: 'x', args: restored }], lost: [] })
  })
}

const REFUSED: Record<string, [stored: string[], sent: string[]]> = {
  'under another option': [['--token=a'], ['--key=[secret]']],
  'where nothing was': [['-v'], ['--token=[secret]']],
  'one of two that follow each other': [
    ['--token', 'hush', 'sk-a1a1a1a1a1a1a1a1a1a1a1a1'],
    ['--token', '[secret]'],
  ],
  'after a word that was before another one': [
    ['--key', 'hush', 'run', 'sk-a1a1a1a1a1a1a1a1a1a1a1a1'],
    ['-v', 'run', '[secret]', 'run', '[secret]'],
  ],
  'where the text itself is stored': [
    ['run', '[secret]', '--token', 'hush'],
    ['run', '[secret]'],
  ],
  'after a stored word that is the text itself': [
    ['--token', '[secret]', 'sk-a1a1a1a1a1a1a1a1a1a1a1a1'],
    ['--token', '[secret]'],
  ],
  'one of two that look the same': [
    ['--key', 'a', '--key', 'b'],
    ['--key', '[secret]'],
  ],
  'after a plain word that is repeated': [
    ['--token', '-pa1', 'run', 'sk-a1a1a1a1a1a1a1a1a1a1a1a1'],
    ['--token', 'run', '[secret]', 'run', '[secret]'],
  ],
  'after an option that is repeated': [
    ['-v', 'sk-a1a1a1a1a1a1a1a1a1a1a1a1', 'run', 'sk-b2b2b2b2b2b2b2b2b2b2b2b2'],
    ['-v', '[secret]', 'run', '-v', '[secret]'],
  ],
  'in a part of a word': [['--token=a'], ['--token=Bearer [secret]']],
  'of nothing at all': [[], ['[secret]']],
  'of another host': [['postgres://me:pw@h/x'], ['postgres://[secret]@evil/x']],
  'of another port': [['postgres://me:pw@h/x'], ['postgres://[secret]@h:81/x']],
  'of another scheme': [['https://me:pw@h/x'], ['http://[secret]@h/x']],
  'of another host, after another word': [['https://h/?token=a'], ['-v', 'https://evil/?token=[secret]']],
  'in the path of another host': [[`https://h/${'a1'.repeat(16)}/x`], ['-v', 'https://evil/[secret]/x']],
  'of a host after a backslash': [['https://h/?token=a'], ['-v', 'https://evil\\@h/?token=[secret]']],
  'of a host after a tab': [['https://h/?token=a'], ['-v', 'https://h\t.evil/?token=[secret]']],
  'of another host in JSON': [
    ['{"url": "https://h/", "apiKey": "a"}'],
    ['{"url": "https://evil/", "apiKey": "[secret]"}'],
  ],
}
for (const [what, [args, sent]] of Object.entries(REFUSED)) {
  test(`restoreSecrets() reports a placeholder ${what}`, () => {
    const stored = [{ name: 'a', command: 'x', args }]
    const { lost } = restoreSecrets([{ name: 'a', command: 'x', args: sent }], stored)
    const [finding] = lost
    assert.match(
      finding?.message ?? '',
      /^"mcps\[0\]\.args\[\d\]" (is|holds) \[secret\], and there is no stored/,
    )
  })
}

test('restoreSecrets() reports every remaining placeholder, in any key', () => {
  const { lost } = restoreSecrets(
    [
      { name: 'new', url: 'http://[secret]@h', auth: REDACTED },
      {
        name: 'fs',
        command: 'x',
        env: { OTHER: REDACTED, TOKEN: REDACTED },
        headers: { A: `Bearer ${REDACTED}` },
      },
    ],
    STORED,
  )
  assert.deepEqual(
    lost.map(({ message }) => message),
    [
      '"mcps[0].url" holds [secret], and there is no stored value to keep',
      '"mcps[0].auth" is [secret], and there is no stored value to keep',
      '"mcps[1].env.OTHER" is [secret], and there is no stored value to keep',
      '"mcps[1].headers.A" holds [secret], and there is no stored value to keep',
    ],
  )
})

const WEB = STORED[1]!
const GH: McpEntry = {
  ...{ name: 'gh', command: 'npx', args: ['-y', 'good', '--token=hush1'], cwd: '/srv' },
  env: { TOKEN: 'hush', PATH: '/bin' },
}
const OF_GH = ['args[2]', 'env.PATH', 'env.TOKEN']
/** Entries that would send the stored secrets somewhere else, with the rejected keys. */
const MOVED: Record<string, [stored: McpEntry, change: Partial<McpEntry>, keys: string[]]> = {
  'another program': [STORED[0]!, { command: 'evil' }, ['args[1]', 'env.TOKEN', 'env.LOG', 'env_helper[2]']],
  'another host': [
    WEB,
    { url: 'http://[secret]@evil/mcp?api_key=[secret]' },
    ['url', 'headers.X-Key', 'auth', 'auth_helper[2]'],
  ],
  'another host, without secrets in its address': [
    WEB,
    { url: 'http://evil/mcp' },
    ['headers.X-Key', 'auth', 'auth_helper[2]'],
  ],
  'another port': [WEB, { url: 'http://h:81/mcp' }, ['headers.X-Key', 'auth', 'auth_helper[2]']],
  'another scheme': [WEB, { url: 'https://h/mcp' }, ['headers.X-Key', 'auth', 'auth_helper[2]']],
  'another host after a tab': [
    WEB,
    { url: 'http://h\t.evil/mcp' },
    ['headers.X-Key', 'auth', 'auth_helper[2]'],
  ],
  'another package of a launcher': [GH, { args: ['-y', 'evil', '--token=[secret]'] }, OF_GH],
  'a launcher with another option': [GH, { args: ['-y', 'good', '--token=[secret]', '--x'] }, OF_GH],
  'a launcher in another directory': [GH, { cwd: '/tmp' }, OF_GH],
  'a launcher with another PATH': [GH, { env: { TOKEN: REDACTED, PATH: '/evil' } }, ['args[2]', 'env.TOKEN']],
  'a launcher without its PATH': [GH, { env: { TOKEN: REDACTED } }, ['args[2]', 'env.TOKEN']],
  'a program with a foreign library': [
    STORED[0]!,
    { env: { TOKEN: REDACTED, LD_PRELOAD: '/evil.so' } },
    ['args[1]', 'env.TOKEN', 'env_helper[2]'],
  ],
  'a relative program in another directory': [
    { name: 'own', command: './srv', env: { TOKEN: 'hush' } },
    { cwd: '/tmp' },
    ['env.TOKEN'],
  ],
  'another env helper': [STORED[0]!, { env_helper: ['evil', '--password', REDACTED] }, ['env_helper[2]']],
  'another helper': [WEB, { auth_helper: ['evil', '--password', REDACTED] }, ['auth_helper[2]']],
}
for (const [what, [stored, change, keys]] of Object.entries(MOVED)) {
  test(`restoreSecrets() does not give stored secrets to ${what}`, () => {
    const { mcps, lost } = restoreSecrets([{ ...redactEntry(stored), ...change }], [stored])
    if (!what.endsWith('helper')) assert.doesNotMatch(JSON.stringify(mcps), /hush/)
    else assert.doesNotMatch(JSON.stringify(mcps), /hush[34]/)
    const named = lost.map(({ message }) => /^"mcps\[0\]\.([^"]+)"/.exec(message)?.[1])
    assert.deepEqual(named.toSorted(), keys.toSorted())
    if (!what.endsWith('helper')) {
      for (const { message } of lost) assert.match(message, /stored secrets are kept only for the same /)
    }
  })
}

test('restoreSecrets() keeps the variables of a program whose arguments change', () => {
  const [stored] = STORED
  const sent = { ...redactEntry(stored!), args: ['--verbose', 'other.js'] }
  const { mcps, lost } = restoreSecrets([sent], [stored])
  assert.deepEqual([mcps, lost], [[{ ...stored!, args: ['--verbose', 'other.js'] }], []])
})

test('restoreSecrets() keeps the secrets of a launcher whose arguments are the same', () => {
  const sent = { ...redactEntry(GH), timeout_ms: 5, env: { TOKEN: REDACTED, PATH: '/bin', NEW: '1' } }
  const { mcps, lost } = restoreSecrets([sent], [GH])
  assert.deepEqual([mcps, lost], [[{ ...GH, timeout_ms: 5, env: { ...GH.env, NEW: '1' } }], []])
})

test('restoreSecrets() does not give stored secrets to another script of an interpreter', () => {
  const stored = { name: 'w', url: 'http://h/', auth_helper: ['node', 'a.js', '--password', 'hush'] }
  const sent = { ...stored, auth_helper: ['node', 'evil.js', '--password', REDACTED] }
  const { lost } = restoreSecrets([sent], [stored])
  assert.match(lost[0]?.message ?? '', /^"mcps\[0\]\.auth_helper\[3\]" is \[secret\]/)
})

const STARTERS =
  'npx uvx bunx node /usr/bin/python3.12 docker sh bash.exe env uv pipx npm pnpm deno ruby java podman C:\\x\\npx.cmd'
for (const command of STARTERS.split(' ')) {
  test(`restoreSecrets() rejects other arguments of ${command}`, () => {
    const stored = { name: 'a', command, args: ['good'], env: { TOKEN: 'hush' } }
    const { mcps, lost } = restoreSecrets([{ ...redactEntry(stored), args: ['evil'] }], [stored])
    assert.doesNotMatch(JSON.stringify(mcps), /hush/)
    assert.match(
      lost[0]?.message ?? '',
      /stored secrets are kept only for the same "args", which decide what \S+ starts$/,
    )
  })
}

test('restoreSecrets() keeps the secrets of a URL whose path or query changes', () => {
  const url = 'http://[secret]@h/other?n=1&api_key=[secret]'
  const { mcps, lost } = restoreSecrets([{ ...redactEntry(WEB), url }], [WEB])
  assert.deepEqual([mcps, lost], [[{ ...WEB, url: 'http://me:hush1@h/other?n=1&api_key=hush2' }], []])
})

test('restoreSecrets() accepts stored placeholders, so that other keys can be changed', () => {
  const stored = [{ name: 'a', command: 'x', args: ['--token=[secret]', '--key=k'] }]
  const sent = [{ name: 'a', command: 'x', args: ['--token=[secret]', '--key=[secret]'], timeout_ms: 5 }]
  assert.deepEqual(restoreSecrets(sent, stored), { mcps: [{ ...stored[0], timeout_ms: 5 }], lost: [] })
})

test('restoreSecrets() leaves invalid lists to the schema', () => {
  assert.deepEqual(restoreSecrets('x', STORED), { mcps: 'x', lost: [] })
  assert.deepEqual(restoreSecrets(['x', null], undefined), { mcps: ['x', null], lost: [] })
})

const secret = fc.oneof(
  fc.stringMatching(/^[a-z0-9]{6,20}$/),
  fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !text.includes('\0')),
  fc.constantFrom(variable('TOKEN'), REDACTED, 'a@b', '--x', 'user:pw', `sk-${'a1'.repeat(12)}`),
)
const word = fc.oneof(
  secret,
  secret.map((value) => `--token=${value}`),
  secret.map((value) => `https://${encodeURIComponent(value)}@h/p?key=${encodeURIComponent(value)}&a=1`),
  secret.map((value) => `Authorization: Bearer ${value}`),
  secret.map((value) => JSON.stringify({ a: 1, apiKey: value, nested: JSON.stringify({ password: value }) })),
  secret.map((value) => `-p${value}`),
  secret.map((value) => `mysql -p${value} db; curl -uann:${value} h | redis-cli -a ${value}`),
  fc.constantFrom('--token', '-p', '-u', '--header', '-v', 'run', '--api-key', '-c'),
  fc.constantFrom('mysql', 'curl', '-uann:pw', 'redis-cli', '-a', 'sshpass', 'docker', 'login'),
)
const values = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,8}$/), secret, {
  maxKeys: 4,
  noNullPrototype: true,
})
const plain = { noNullPrototype: true }
const program = fc.record({ command: word, args: fc.array(word, { maxLength: 8 }), env: values }, plain)
const remote = fc.record(
  {
    ...{
      url: word,
      headers: values,
      auth: secret,
      auth_helper: fc.array(word, { minLength: 1, maxLength: 6 }),
    },
    origin: fc.record({ canonical: values, from: word }, plain),
  },
  plain,
)
const entries = fc
  .array(fc.oneof(program, remote), { minLength: 1, maxLength: 4 })
  .map((all) => all.map((one, i) => ({ name: `s${i}`, ...one }) as McpEntry))

test('shown entries can be stored again without loss', () => {
  fc.assert(
    fc.property(entries, (stored) => {
      const shown = redact({ ...defaultAgent(), mcps: stored }).mcps
      assert.deepEqual(restoreSecrets(shown, stored), { mcps: stored, lost: [] })
    }),
    { numRuns: propertyRuns(1000) },
  )
})

test('shown entries keep their secrets, or are rejected, after any other edit', () => {
  const edit = fc.record({
    at: fc.nat(8),
    remove: fc.nat(2),
    insert: fc.array(fc.constantFrom('-v', '--x=1', 'run')),
  })
  fc.assert(
    fc.property(program, edit, ({ command, args, env }, { at, remove, insert }) => {
      const stored = { name: 'a', command, args, env }
      const shown = redactEntry(stored)
      const taken = args.slice(at, at + remove)
      fc.pre(taken.every((one, i) => one === shown.args![at + i])) // other edits
      const list = shown.args!.toSpliced(at, remove, ...insert)
      const sent = { ...shown, args: list, env: { ...shown.env, NEW: 'new' } }
      const { mcps, lost } = restoreSecrets([sent], [stored])
      if (startsOthers(command)) return // rejected, with everything unchanged
      const [entry] = mcps as [{ args: string[]; env: Record<string, string> }]
      assert.deepEqual(entry.env, { ...env, NEW: 'new' })
      const retained = args.toSpliced(at, remove, ...insert)
      if (lost.length === 0) assert.deepEqual(new Set(entry.args), new Set(retained))
    }),
    { numRuns: propertyRuns(1000) },
  )
})
