import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import which from 'which'
import { scriptFor } from '../../src/commands/completions/scripts.ts'
import { COMPLETION_SHELLS } from '../../src/commands/completions/shells.ts'
import { type Suggestion, suggest } from '../../src/commands/completions/suggest.ts'
import { main } from '../../src/commands/main.ts'
import { CRABTALK } from '../../src/commands/table.ts'
import { CRABUP } from '../../src/commands/up/table.ts'
import { lastSessions } from '../../src/core/completion/sessions.ts'
import { DiskStorage } from '../../src/core/storage/disk-storage.ts'
import { type CatalogEntry, saveCatalog } from '../../src/core/storage/session-catalog-file.ts'
import { digestSession } from '../../src/core/storage/session-digest.ts'
import { readSessionFile } from '../../src/core/storage/session-reader.ts'
import type { NewLine, SessionHeader } from '../../src/core/storage/types.ts'
import { startModelServer } from '../support/model-server.ts'
import { makeTestHost } from '../support/test-host.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal

/** Words up to the cursor, and some of the suggestions for the last one. */
const LINES: [string[], string[]][] = [
  [
    ['mcp', 'import', '--from', ''],
    ['all', 'claude', 'zed'],
  ],
  [['mcp', 'import', '--from=vs'], ['--from=vscode']],
  [[''], ['send', 'agent', 'mcp', 'help', 'doctor']],
  [
    ['help', ''],
    ['send', 'agent'],
  ],
  [
    ['help', 'agent', ''],
    ['list', 'create'],
  ],
  [
    ['mcp', ''],
    ['list', 'call'],
  ],
  [
    ['events', ''],
    ['publish', 'subscribe', 'trace'],
  ],
  [
    ['events', '-'],
    ['--kind', '--mcp'],
  ],
  [
    ['events', '--kind', ''],
    ['done', 'published'],
  ],
  [
    ['send', '-'],
    ['--agent', '--yolo', '--help', '--debug'],
  ],
  [
    ['send', '--yolo', '--o'],
    ['--output', '--out-file'],
  ],
  [
    ['send', '--output', ''],
    ['text', 'json', 'stream-json'],
  ],
  [
    ['send', 'hello', '-vqo', ''],
    ['text', 'json'],
  ],
  [['send', '--output='], ['--output=json']],
  [['send', '--tools=r'], ['--tools=read']],
  [
    ['completions', ''],
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [['agent', 'list', ''], ['--json']],
  [
    ['send', '--allow', 'bash', '--'],
    ['--allow', '--deny'],
  ],
]

for (const [words, expected] of LINES) {
  test(`suggest() completes ${JSON.stringify(words)}`, () => {
    const found = toValues(suggest(CRABTALK, words))
    assert.deepEqual(
      expected.filter((word) => !found.includes(word)),
      [],
    )
  })
}

/** Words without suggestions in the table. */
const EMPTY: string[][] = [
  ['frob', ''],
  ['help', 'send', ''],
  ['send', '--', '-'],
  ['send', '--system', ''],
  ['send', '--yolo=', ''],
  ['send', '--frob='],
  ['completions', 'bash', 'z'],
  ['agent', 'list', 'x'],
  ['memory', 'rename', 'x', ''],
  ['memory', 'remember', 'x', 'y'],
  ['conversation', 'search', 'x'],
]

for (const words of EMPTY) {
  test(`suggest() returns nothing for ${JSON.stringify(words)}`, () => {
    const found = toValues(suggest(CRABTALK, words))
    assert.deepEqual(
      found.filter((word) => !word.startsWith('--')),
      [],
    )
  })
}

/** Words whose last one is a name that is not in the table. */
const ELSEWHERE: [string[], object][] = [
  [['send', '-f', ''], { from: 'paths', only: 'files' }],
  [['send', '--file='], { from: 'paths', only: 'files' }],
  [['policy', 'why', '--cwd', ''], { from: 'paths', only: 'folders' }],
  [['mcp', 'add', 'fs', ''], { from: 'paths', only: 'files' }],
  [['mcp', 'add', 'fs', '--', 'npx', '-'], { from: 'paths', only: 'files' }],
  [['send', '-a', ''], { from: 'list', kind: 'agent', prefix: '', agent: undefined }],
  [['send', '--agent=c'], { from: 'list', kind: 'agent', prefix: '--agent=', agent: undefined }],
  [['mcp', 'get', '-a', 'rev', ''], { from: 'list', kind: 'server', prefix: '', agent: 'rev' }],
  [['mcp', 'get', '--agent=rev', ''], { from: 'list', kind: 'server', prefix: '', agent: 'rev' }],
  [['mcp', 'ping', 'a', 'b', ''], { from: 'list', kind: 'server', prefix: '', agent: undefined }],
  [['memory', 'forget', '-a', 'rev', 'x', ''], { from: 'list', kind: 'memory', prefix: '', agent: 'rev' }],
  [['memory', 'load', ''], { from: 'paths', only: 'folders' }],
  [['conversation', 'search', '--cwd', ''], { from: 'paths', only: 'folders' }],
  [['conversation', 'delete', 'A', ''], { from: 'list', kind: 'conversation', prefix: '', agent: undefined }],
]

for (const [words, expected] of ELSEWHERE) {
  test(`suggest() returns the kind of name for ${JSON.stringify(words)}`, () => {
    assert.deepEqual(suggest(CRABTALK, words), expected)
  })
}

test('suggest() suggests each option once, and no hidden command', () => {
  const left = toValues(suggest(CRABTALK, ['send', '--yolo', '-q', '-v', '--']))
  assert.deepEqual(
    ['--yolo', '--quiet', '--verbose'].filter((word) => left.includes(word)),
    ['--verbose'],
  )
  for (const commands of [CRABTALK, CRABUP]) {
    assert.ok(!toValues(suggest(commands, [''])).includes('__complete'))
  }
  assert.deepEqual(toValues(suggest(CRABUP, ['comp'])).slice(-3), ['completions', 'version', 'help'])
})

test('__complete lists agents, servers, rules, conversations and senders of the home, and changes nothing there', async () => {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  await mkdir(join(home, 'agents'), { recursive: true })
  const server = '[[mcps]]\nname = "fs"\ncommand = "true"\n'
  await writeFile(join(home, 'agents/reviewer.toml'), `description = "Reads\\tcode"\n${server}`)
  assert.equal(
    await complete(home, 3, 'send', '-a'),
    'words\ncrab\tA capable local assistant\nreviewer\tReads code\n',
  )
  assert.equal(await complete(home, 2, 'send', '--agent=rev'), 'words\n--agent=reviewer\tReads code\n')
  assert.equal(await complete(home, 5, 'mcp', 'get', '-a', 'reviewer'), 'words\nfs\n')
  assert.equal(await complete(home, 3, 'mcp', 'get'), 'words\n')
  assert.match(
    await complete(home, 5, 'send', '-a', 'reviewer', '--allow'),
    /^mcp__fs__\*\tevery tool of fs$/m,
  )
  assert.equal(await complete(home, 3, 'conversation', 'show'), 'words\n')
  assert.deepEqual(await readdir(home, { recursive: true }), ['agents', 'agents/reviewer.toml'])
  await run(home, ['send', '--model', 'demo', '-s', 'notes', 'a plan'])
  assert.match(await complete(home, 3, 'send', '-s'), /^words\nnotes\t.*crab: a plan\n$/)
  assert.match(await complete(home, 3, 'conversation', 'show'), /^words\n[0-9A-Z]{8}\t.*crab: a plan\n$/)
})

test("__complete lists names and aliases of an agent's memory", async () => {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  assert.equal(await complete(home, 3, 'memory', 'show'), 'words\n')
  await run(home, ['memory', 'remember', 'deploy', '--alias', 'ship it', 'Every\nFriday'])
  const listed = 'words\ndeploy\tEvery Friday\nship it\tEvery Friday\n'
  assert.equal(await complete(home, 3, 'memory', 'show'), listed)
  assert.equal(await complete(home, 5, 'memory', 'show', '-a', 'crab'), listed)
  assert.equal(await complete(home, 5, 'memory', 'show', '-a', '../x'), 'words\n')
})

test('__complete reads a home without an index, writes nothing, and leaves out empty conversations', async () => {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  const storage = new DiskStorage({ sessions: join(home, 'sessions'), index: join(box.folder, 'index') })
  const ids: string[] = []
  for (let count = 0; count < 60; count++) ids.push(await storeSession(storage, `s${count}`, [said('hello')]))
  const empty = await storeSession(storage, 'nobody', [])
  const huge = 'x'.repeat(20_000)
  for (let count = 0; count < 30; count++) await storeSession(storage, `long${count}`, [said(huge)])
  const before = await readdir(home, { recursive: true })
  let senders: string[] = []
  await until('all are listed, which a busy machine does not do at once', async () => {
    senders = (await complete(home, 3, 'send', '-s')).split('\n')
    return senders.filter((row) => /^(s|long)\d+\t/.test(row)).length === 90
  })
  assert.ok(!senders.some((row) => row.startsWith('nobody')))
  const [first] = ids
  const found = await complete(home, 3, 'conversation', 'show', first!.slice(-8, -1))
  assert.match(found, new RegExp(`^${first!.slice(-8)}\t.*crab: hello$`, 'm'))
  assert.equal(await complete(home, 3, 'conversation', 'show', empty.slice(-8)), 'words\n')
  assert.deepEqual(await readdir(home, { recursive: true }), before)
})

test('lastSessions() returns the last used first, uses the index without reading files, and stops at its signal', async () => {
  await using box = await makeTestHost()
  const paths = { sessions: join(box.folder, 'sessions'), index: join(box.folder, 'index') }
  const storage = new DiskStorage(paths)
  const ids: string[] = []
  for (const sender of ['old', 'middle', 'new'])
    ids.push(await storeSession(storage, sender, [said('hello')]))
  const [old, middle, young] = ids.map((id) => join(paths.sessions, `${id}.jsonl`)) as [
    string,
    string,
    string,
  ]
  await utimes(middle, 1, 1)
  await utimes(young, 2, 2)
  await utimes(old, 3, 3)
  const senders = async (signal: AbortSignal) =>
    (await Array.fromAsync(lastSessions({ paths, isWanted: () => true }, signal))).map(({ sender }) => sender)
  assert.deepEqual(await senders(NEVER), ['old', 'new', 'middle'])
  assert.deepEqual(await senders(AbortSignal.abort()), [])
  const entries = await Promise.all(ids.map((id) => readCatalogEntry(paths.sessions, id)))
  await mkdir(paths.index)
  await saveCatalog(join(paths.index, 'sessions.json'), entries)
  await writeFile(young, 'x'.repeat((await readFile(young)).length)) // same length and same time
  await utimes(young, 2, 2)
  assert.deepEqual(await senders(NEVER), ['old', 'new', 'middle'])
  const grown = entries[0]!.digest.cursor
  await storage.append(ids[0]!, grown, [{ kind: 'meta', title: 'A plan' }])
  const titles = await Array.fromAsync(lastSessions({ paths, isWanted: (id) => id === ids[0] }, NEVER))
  assert.deepEqual(
    titles.map(({ title }) => title),
    ['A plan'],
  )
})

test('__complete ends in time when a model server never answers', async () => {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    await mkdir(home)
    await writeFile(
      join(home, 'config.toml'),
      `model = "own"\n[llm]\nbase_url = "http://127.0.0.1:${port}/v1"\n`,
    )
    assert.equal(await complete(home, 3, 'send', '-m'), 'words\ndemo\tdemo\nown\tllm\n')
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test('the script for PowerShell lets PowerShell escape, which knows all its quotes', () => {
  const script = scriptFor('powershell', 'crabtalk')
  assert.match(script, /::EscapeSingleQuotedStringContent\(\$value\)\n/)
  assert.doesNotMatch(script, /-replace/)
  const plain = /-match '(.*)'\) \{/.exec(script)?.[1]
  assert.ok(plain)
  const mustBeQuoted = new RegExp(plain, 'u')
  for (const value of [
    'a b',
    'x’; calc; ’',
    '‘',
    '‚',
    '‛',
    "it's",
    '$x',
    '@x',
    'a;b',
    'a`b',
    '"',
    '(x)',
    '#x',
  ])
    assert.match(value, mustBeQuoted)
  for (const value of ['--output=json', 'telegram:42', 'src/a.ts', 'me@host'])
    assert.doesNotMatch(value, mustBeQuoted)
})

test('__complete asks servers for their models', async () => {
  await using box = await makeTestHost()
  await using server = await startModelServer([], { models: ['big', 'bi\u0007g', 'small'] })
  const home = join(box.folder, 'home')
  await mkdir(home)
  await writeFile(join(home, 'config.toml'), `[llm]\nbase_url = "${server.url}"\nmodel = "own"\n`)
  assert.equal(await complete(home, 3, 'send', '-m'), 'words\ndemo\tdemo\nown\tllm\nbig\tllm\nsmall\tllm\n')
  assert.equal(await complete(home, 3, 'send', '-m', 'b'), 'words\nbig\tllm\n')
})

test('__complete prints no errors', async () => {
  await using box = await makeTestHost()
  const home = join(box.folder, 'home')
  await mkdir(home)
  await writeFile(join(home, 'config.toml'), 'nonsense')
  await writeFile(join(home, 'agents'), 'no folder')
  assert.equal(await complete(home, 3, 'send', '-m'), 'words\n')
  assert.equal(await complete(home, 3, 'send', '-a'), 'words\n')
  assert.equal(await complete(home, 1), (await complete(home, 1, '')) || 'never')
})

test('completions rejects an unknown shell', async () => {
  const { code, stderr } = await run('/nowhere', ['completions', 'tcsh'])
  assert.equal(code, 2)
  assert.match(stderr, /Cannot complete for tcsh\nhint: choose one of bash, zsh, fish, powershell\n$/)
})

for (const shell of COMPLETION_SHELLS) {
  test(`the script for ${shell} is valid, for each program`, async () => {
    for (const program of ['crabtalk', 'crabup']) {
      const script = scriptFor(shell, program)
      assert.doesNotMatch(script, /PROGRAM/)
      assert.match(script, new RegExp(`${program} __complete `))
      assert.deepEqual(unbalanced(shell, script), [])
      const path = await which(shell === 'powershell' ? 'pwsh' : shell, { nothrow: true })
      if (path !== null && shell !== 'powershell') await promisify(execFile)(path, ['-n', '-c', script])
    }
  })
}

function said(content: string): NewLine {
  return { kind: 'entry', role: 'user', content }
}

async function storeSession(
  storage: DiskStorage,
  sender: string,
  lines: readonly NewLine[],
): Promise<string> {
  const header: SessionHeader = {
    v: 1,
    agent: 'crab',
    agent_id: 'crab',
    created_by: sender,
    created_at: new Date().toISOString(),
    cwd: '/',
  }
  return (await storage.createSession(header, lines)).id
}

/** Returns the catalog entry of a session. */
async function readCatalogEntry(folder: string, id: string): Promise<CatalogEntry> {
  const { part, stamp } = await readSessionFile(join(folder, `${id}.jsonl`))
  return { stamp, digest: digestSession(id, part, undefined) }
}

/**
 * Finds brackets that are not closed in order, outside comments and literal text; `)` of a case branch has
 * none.
 */
function unbalanced(shell: string, script: string): string[] {
  const code = script
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/^\s*[\w*]+\)/gm, '')
    .replaceAll(/\[!\[:space:\]\]|\[\[:space:\]\]/g, '')
    .replaceAll(shell === 'powershell' ? /"[^"$\n(]*"/g : /(?!)/g, '')
    .replaceAll(/'[^'\n]*'/g, '')
  const open: string[] = []
  for (const [mark] of code.matchAll(/[()[\]{}]/g)) {
    if ('([{'.includes(mark)) open.push(mark)
    else if (open.at(-1) === '([{'[')]}'.indexOf(mark)]) open.pop()
    else open.push(mark)
  }
  return open
}

function toValues(suggestion: Suggestion): string[] {
  return suggestion.from === 'words' ? suggestion.candidates.map(({ value }) => value) : [suggestion.from]
}

async function complete(home: string, count: number, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(home, ['__complete', String(count), ...words])
  assert.deepEqual([code, stderr], [0, ''])
  return stdout
}

async function run(home: string, argv: readonly string[]) {
  await using box = await makeTestHost({ env: { CRABTALK_HOME: home } })
  const code = await main('crabtalk', argv, box.host)
  return { code, stdout: box.stdout(), stderr: box.stderr() }
}
