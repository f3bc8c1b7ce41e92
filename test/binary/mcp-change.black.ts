import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { misbehavingEntry, type StdioEntry, watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

const FEW = { tools: ['few'] } as const
const TEXT = `# Mine.
model = "m" # good

# Reads notes.
[[mcps]]
name = "notes" # short
command = "no-such-program"
timeout_ms = 5 # ms
env = { TOKEN = "s3cr3t-value" }
`

test('mcp add starts a server, writes it, and prints how many tools it has', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await writeAgent(box)
  const server = watchedServer(records.path, FEW)
  const env = ['-e', 'TOKEN=s3cr3t-value', '--env', 'HERE', '--set', 'permissions.allow=["echo"]']
  const added = await box.run(['mcp', 'add', ...env, 'one', '--', ...line(server.entry)], {
    env: { HERE: 'h3r3-value' },
  })
  assert.deepEqual([added.stdout, added.stderr, added.code], ['added one: 2 tools\n', '', 0])
  assert.equal(server.starts().length, 1)
  const text = await agentText(box)
  assert.ok(text.startsWith(TEXT.replace('# good\n', `# good\n${idLine(text)}`)), text)
  const { command, args } = server.entry
  assert.deepEqual(entriesIn(text)[1], {
    name: 'one',
    command,
    args,
    env: { TOKEN: 's3cr3t-value', HERE: 'h3r3-value' },
    permissions: { allow: ['echo'] },
  })
})

test('mcp add accepts a command without --, and --json prints the added entry', async () => {
  await using box = await makeSandbox()
  const { command, args } = misbehavingEntry(FEW)
  const { stdout, code } = await box.run(['mcp', 'add', '--json', 'one', command, '--no-warnings', ...args])
  assert.deepEqual([JSON.parse(stdout), code], [{ agent: 'crab', name: 'one', tools: 2 }, 0])
  assert.deepEqual(entriesIn(await agentText(box))[0]?.['args'], ['--no-warnings', ...args])
})

test('mcp add takes all servers of a pasted text, says what it changed, and never prints a secret', async () => {
  await using box = await makeSandbox()
  const { command, args } = misbehavingEntry(FEW)
  const servers = {
    'My One': {
      type: 'stdio',
      command,
      args,
      env: { TOKEN: `\${env:TOKEN}`, PORT: 3000 },
      autoApprove: ['x'],
    },
    two: { command: [command, ...args!], timeout: 30, enabled: true },
  }
  const text = `// mine\n${JSON.stringify({ mcpServers: servers }).replace(/}}$/, ',}}')}`
  const unset = await box.run(['mcp', 'add', text])
  assertFailed(unset, 'usage', { message: /^Cannot add my-one: TOKEN is not set here$/, hint: /--no-verify/ })
  const added = await box.run(['mcp', 'add', text], { env: { TOKEN: 's3cr3t-value' } })
  assert.equal(
    added.stdout,
    'added my-one: 2 tools\n  TOKEN is the value of this shell\nadded two: 2 tools\n',
  )
  assert.deepEqual(added.stderr.split('\n'), [
    'crabtalk: my-one: "My One" is called my-one here',
    'crabtalk: my-one: "autoApprove" is left out: what runs without a question is decided by "permissions" of the entry',
    'crabtalk: two: "timeout" 30 is taken as seconds',
    '',
  ])
  const [one, two] = entriesIn(await agentText(box))
  assert.deepEqual(one, { name: 'my-one', command, args, env: { TOKEN: 's3cr3t-value', PORT: '3000' } })
  assert.deepEqual(two, { name: 'two', command, args, timeout_ms: 30_000 })
  assert.doesNotMatch(unset.stderr + added.stdout + added.stderr, /s3cr3t/)
})

test('mcp add -a adds a server to another agent', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'reviewer'])
  const { stdout } = await box.run([
    'mcp',
    'add',
    '-a',
    'reviewer',
    'one',
    '--',
    ...line(misbehavingEntry(FEW)),
  ])
  assert.equal(stdout, 'added one: 2 tools\n')
  assert.equal(entriesIn(await agentText(box, 'reviewer')).length, 1)
  const nobody = await box.run(['mcp', 'add', '-a', 'reviwer', 'one', '--', 'x'])
  assertFailed(nobody, 'missing', { message: /"reviwer"/, hint: /did you mean "reviewer"/ })
})

test('mcp add makes paths absolute that are relative to the working directory, and says so', async () => {
  await using box = await makeSandbox()
  const {
    command,
    args: [script = ''],
  } = misbehavingEntry(FEW)
  await mkdir(join(box.cwd, 'sub'))
  await writeFile(join(box.cwd, 'sub/server.mjs'), `await import(${JSON.stringify(script)})\n`)
  const { stdout } = await box.run(['mcp', 'add', 'one', command, 'sub/server.mjs', '--tools=few'])
  assert.equal(stdout, `added one: 2 tools\n  sub/server.mjs is ${join(box.cwd, 'sub/server.mjs')}\n`)
  const there = await box.run(['mcp', 'add', '--cwd', 'sub', 'two', command, './server.mjs', '--tools=few'])
  assert.equal(there.stdout, 'added two: 2 tools\n')
  const [, two] = entriesIn(await agentText(box))
  assert.deepEqual([two?.['cwd'], two?.['args']], [join(box.cwd, 'sub'), ['./server.mjs', '--tools=few']])
})

test('mcp add writes nothing when the server does not start, and prints its last output', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  await box.run(['mcp', 'list']) // writes the id into the file
  const text = await agentText(box)
  const crash = misbehavingEntry({ at: { initialize: 'crash' } })
  const crashed = await box.run(['mcp', 'add', 'one', '--', ...line(crash)])
  assertFailed(crashed, 'unavailable', {
    message: /"one".*cannot open the database/,
    hint: /nothing was written/,
  })
  const none = await box.run(['mcp', 'add', 'one', '--', 'no-such-program', 'x'])
  assertFailed(none, 'unavailable', { message: /"one".*no-such-program/, hint: /./ })
  const slow = [
    '--set',
    'startup_timeout_ms=300',
    'one',
    '--',
    ...line(misbehavingEntry({ at: { initialize: 'hang' } })),
  ]
  assertFailed(await box.run(['mcp', 'add', ...slow]), 'unavailable', { message: /"one".*0\.3 s/, hint: /./ })
  assert.equal(await agentText(box), text)
})

test('mcp add suggests a correction for arguments that no server can use', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.cwd, 'notes'))
  const { entry } = watchedServer(box.cwd, { at: { start: 'crash' } })
  const advised = {
    message: /./,
    hint: /write \.\/notes if you mean the path in this directory: servers run in another one; .*nothing was written/,
  }
  assertFailed(await box.run(['mcp', 'add', 'fs', '--', ...line(entry), 'notes']), 'unavailable', advised)
  const inOne = { message: /no program of that name/, hint: /write the command as separate words/ }
  assertFailed(await box.run(['mcp', 'add', 'x', 'no-such -y x']), 'unavailable', inOne)
  const header = await box.run(['mcp', 'add', '--header', 'Host: x', 'far', 'http://127.0.0.1:1'])
  assertFailed(header, 'config', { message: /"Host" cannot be set/, hint: /^hint: nothing was written$/ })
  await box.run(['mcp', 'add', '--no-verify', 'far', 'HTTP://127.0.0.1:1/mcp'])
  assert.equal(
    JSON.parse((await box.run(['mcp', 'get', 'far', '--json'])).stdout).entry.url,
    'http://127.0.0.1:1/mcp',
  )
})

test('mcp add --no-verify writes without starting anything', async () => {
  await using box = await makeSandbox()
  const { stdout, code } = await box.run(['mcp', 'add', '--no-verify', 'one', 'no-such-program'])
  assert.deepEqual([stdout, code], ['added one\n', 0])
  assert.deepEqual(entriesIn(await agentText(box)), [{ name: 'one', command: 'no-such-program' }])
})

test('mcp add rejects a taken name and an invalid entry before it starts anything', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  await writeAgent(box)
  await box.run(['mcp', 'list'])
  const text = await agentText(box)
  const server = watchedServer(records.path, FEW)
  const add = (...words: string[]) => box.run(['mcp', 'add', ...words, '--', ...line(server.entry)])
  assertFailed(await add('notes'), 'conflict', {
    message: /^Cannot add the server "notes": a server with that name already exists$/,
    hint: /crabtalk mcp set notes/,
  })
  assertFailed(await add('No Tes'), 'invalid', { message: /"name" must be 1 to 32/ })
  assertFailed(await add('--set', 'timout_ms=5', 'one'), 'invalid', {
    message: /unknown key "timout_ms"$/,
    hint: /"timeout_ms"/,
  })
  assert.deepEqual([server.starts(), await agentText(box)], [[], text])
})

test('mcp set changes keys after the server started with them, and keeps everything else', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  await box.run(['mcp', 'list'])
  const before = await agentText(box)
  const { command, args } = misbehavingEntry(FEW)
  const words = [`command=${command}`, `args=${JSON.stringify(args)}`, 'timeout_ms=9000']
  assertFailed(await box.run(['mcp', 'set', 'notes', ...words]), 'invalid', {
    message: /"env\.TOKEN" is \[secret\], and stored secrets are kept only for the same "command"$/,
    hint: /give the value itself/,
  })
  const options = ['-e', 'TOKEN=s3cr3t-value', ...words]
  const { stdout, stderr, code } = await box.run(['mcp', 'set', 'notes', ...options])
  assert.deepEqual([stdout, stderr, code], ['changed notes: 2 tools\n', '', 0])
  const after = before
    .replace('command = "no-such-program"', `command = ${JSON.stringify(command)}`)
    .replace('timeout_ms = 5', 'timeout_ms = 9000')
  assert.equal(withoutArgs(await agentText(box)), after)
  await box.run(['mcp', 'set', 'notes', '-e', 'LOG=1', 'timeout_ms='])
  const [entry] = entriesIn(await agentText(box))
  assert.deepEqual([entry?.['env'], entry?.['timeout_ms']], [{ TOKEN: 's3cr3t-value', LOG: '1' }, undefined])
})

test('mcp set leaves the file unchanged when the changed server does not start', async () => {
  await using box = await makeSandbox()
  await box.run(['mcp', 'add', 'one', '--', ...line(misbehavingEntry(FEW))])
  const text = await agentText(box)
  assertFailed(await box.run(['mcp', 'set', 'one', 'args=["-e", "process.exit(3)"]']), 'unavailable', {
    message: /"one"/,
    hint: /./,
  })
  assertFailed(await box.run(['mcp', 'set', 'one', 'timeout_ms=soon']), 'invalid', {
    message: /"timeout_ms" must be/,
  })
  assertFailed(await box.run(['mcp', 'set', 'one', 'sk-s3cr3t']), 'usage', {
    message: /argument 2/,
    hint: /./,
  })
  assertFailed(await box.run(['mcp', 'set', 'onne', 'a=1']), 'missing', { message: /"onne"/, hint: /"one"/ })
  assert.equal(await agentText(box), text)
})

test('mcp remove, enable and disable change only the named server, and keep every comment', async () => {
  await using box = await makeSandbox()
  await writeAgent(box)
  await box.run(['mcp', 'list'])
  const text = await agentText(box)
  assert.equal((await box.run(['mcp', 'disable', 'notes'])).stdout, 'disabled notes\n')
  assert.equal(await agentText(box), `${text}disabled = true\n`)
  assert.equal((await box.run(['mcp', 'enable', 'notes'])).stdout, 'enabled notes\n')
  assert.equal(await agentText(box), `${text}disabled = false\n`)
  const off = await box.run(['mcp', 'disable', 'notes', '--json'])
  assert.deepEqual(JSON.parse(off.stdout), { agent: 'crab', name: 'notes' })
  assert.equal((await box.run(['mcp', 'remove', 'notes'])).stdout, 'removed notes\n')
  assert.equal(await agentText(box), text.slice(0, text.indexOf('# Reads notes.')))
  for (const verb of ['remove', 'enable', 'disable']) {
    assertFailed(await box.run(['mcp', verb, 'notes']), 'missing', {
      message: /"notes"/,
      hint: /mcp catalog/,
    })
  }
})

test('concurrent processes that add servers lose none', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'list'])
  const names = ['a', 'b', 'c', 'd']
  const add = (name: string) => box.run(['mcp', 'add', name, '--', ...line(misbehavingEntry(FEW))])
  for (const { code, stderr } of await Promise.all(names.map(add))) assert.deepEqual([stderr, code], ['', 0])
  const entries = entriesIn(await agentText(box))
  assert.deepEqual(entries.map(({ name }) => name).toSorted(), names)
})

async function writeAgent(box: Sandbox): Promise<void> {
  await mkdir(join(box.home, 'agents'), { recursive: true, mode: 0o700 })
  await writeFile(join(box.home, 'agents/crab.toml'), TEXT, { mode: 0o600 })
}

function agentText(box: Sandbox, agent = 'crab'): Promise<string> {
  return readFile(join(box.home, `agents/${agent}.toml`), 'utf8')
}

function entriesIn(text: string): Record<string, unknown>[] {
  return JSON.parse(JSON.stringify(parse(text)['mcps'] ?? []))
}

function line({ command, args }: StdioEntry): string[] {
  return [command, ...args]
}

function idLine(text: string): string {
  return /^id = .*\n/m.exec(text)?.[0] ?? ''
}

function withoutArgs(text: string): string {
  return text.replace(/^args = .*\n/m, '')
}
