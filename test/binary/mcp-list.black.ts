import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  entriesToml,
  everythingEntry,
  filesystemEntry,
  misbehavingEntry,
  watchedServer,
} from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

const FEW = { tools: ['few'] } as const
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

test('mcp list without servers says how to add one', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['mcp', 'list'])
  assert.deepEqual([stdout, code], ['', 0])
  assert.match(stderr, /^No servers yet; .*crabtalk mcp add/)
  assert.deepEqual(JSON.parse((await box.run(['mcp', 'list', '--json'])).stdout), [])
})

test('patterns of an entry that match no tool are named wherever the entry is shown or checked', async () => {
  await using box = await makeSandbox()
  await writeAgent(box, entriesToml(everythingEntry()), 'include = ["echo", "ecoh"]\n')
  const message = /include of everything has ecoh, but no tool has that name/
  assert.doesNotMatch((await box.run(['config', 'check'])).stderr, message, 'its tools are not known yet')
  const tools = await box.run(['mcp', 'tools'])
  assert.match(tools.stderr, message)
  assert.match(tools.stderr, /did you mean echo\?/)
  assert.equal(tools.code, 0)
  const check = await box.run(['config', 'check'])
  assert.match(check.stderr, /^warning: agents\/crab\.toml:\d+: include of everything has ecoh/m)
  assert.deepEqual([check.stdout, check.code], ['no problems, 1 warning\n', 0])
  assert.match((await box.run(['doctor'])).stdout, message)
})

test('mcp list shows declared and known properties, starts nothing and prints no secret', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one', env: { TOKEN: 's3cr3t-value' } })
  const secretWords = ['-e', 'DB_TOKEN=s3cr3t-value', '--header', 'Authorization: Bearer s3cr3t-value']
  const db = { name: 'db', command: 'db', args: ['postgres://me:s3cr3t-value@host/db', ...secretWords] }
  await writeAgent(box, entriesToml(server.entry, db), 'disabled = true\n')
  const before = await box.run(['mcp', 'list'])
  assert.match(
    before.stdout,
    /^NAME +STATE +TOOLS +TRANSPORT +COMMAND\none +idle +- +stdio +'?\/.*\ndb +disabled +- +stdio +db /,
  )
  assert.deepEqual([server.starts(), before.stderr, before.code], [[], '', 0])
  await box.run(['mcp', 'ping', 'one'])
  const after = await box.run(['mcp', 'list'])
  assert.match(after.stdout, /^one +idle +2 +stdio/m)
  const [one, two] = JSON.parse((await box.run(['mcp', 'list', '--json'])).stdout)
  const { command, args } = server.entry
  assert.deepEqual(one, {
    ...{ agent: 'crab', name: 'one', state: 'idle', error: null, tools: 2 },
    ...{ transport: 'stdio', command, args, url: null, source: 'agents/crab.toml:3' },
  })
  assert.deepEqual(
    [two.state, two.tools, two.args],
    [
      'disabled',
      null,
      ['postgres://[secret]@host/db', '-e', 'DB_TOKEN=[secret]', '--header', 'Authorization: [secret]'],
    ],
  )
  assert.equal(server.starts().length, 1)
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['list', '--all'],
    ['get', 'one'],
    ['get', 'db', '--json'],
  ]) {
    const { stdout, stderr } = await box.run(['mcp', ...args])
    assert.ok(!(stdout + stderr).includes('s3cr3t'), args.join(' '))
  }
})

test('mcp list prints its rows before the problems', async () => {
  await using box = await makeSandbox()
  await writeAgent(
    box,
    entriesToml(
      { name: 'none', command: 'no-such-program', args: [] },
      { name: 'two', command: 'other', args: [] },
    ),
  )
  await box.run(['mcp', 'ping', 'none'])
  const { stdout } = await box.shell('crabtalk mcp list 2>&1')
  assert.match(stdout, /^NAME .*\nnone +failed .*\ntwo .*\ncrabtalk: none: .*\n$/)
})

test('mcp list --all shows the servers of every agent, and problems of an agent file', async () => {
  await using box = await makeSandbox()
  await writeAgent(box, entriesToml({ name: 'one', command: 'x', args: [] }))
  await box.run(['agent', 'create', 'other', '--set', 'mcps=[{ name = "two", url = "https://h/mcp" }]'])
  const { stdout, stderr, code } = await box.run(['mcp', 'list', '--all'])
  assert.match(stdout, /^AGENT +NAME .*\ncrab +one .*\nother +two +\w+ +- +http +https:\/\/h\/mcp\n$/)
  assert.deepEqual([stderr, code], ['', 0])
  const get = await box.run(['mcp', 'get', 'two', '-a', 'other'])
  assert.match(
    get.stdout,
    /\n# idle, tools not known yet\n\n\[\[mcps\]\]\nname = "two"\nurl = "https:\/\/h\/mcp"\n/,
  )
  await writeFile(join(box.home, 'agents/bad.toml'), 'nonsense = 1\n')
  const broken = await box.run(['mcp', 'list', '--all'])
  assert.match(broken.stderr, /^crabtalk: agents\/bad\.toml:1: /)
  assert.deepEqual([broken.stdout, broken.code], [stdout, 78])
})

test('mcp get shows an entry as it is in the file, where the file is, and what is known about the server', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one', env: { TOKEN: 's3cr3t-value' } })
  await writeAgent(box, entriesToml(server.entry))
  const shown = await box.run(['mcp', 'get', 'one'])
  assert.match(
    shown.stdout,
    /^# one of crab: agents\/crab\.toml:3\n# idle, tools not known yet\n\n\[\[mcps\]\]\nname = "one"\n/,
  )
  assert.match(shown.stdout, /^env = \{ TOKEN = "\[secret\]" \}$/m)
  await box.run(['mcp', 'tools', 'one'])
  assert.match((await box.run(['mcp', 'get', 'one'])).stdout, /^# idle, 2 tools$/m)
  const json = JSON.parse((await box.run(['mcp', 'get', 'one', '--json'])).stdout)
  assert.deepEqual(
    [json.agent, json.name, json.source, json.entry.env, json.tools.length],
    ['crab', 'one', 'agents/crab.toml:3', { TOKEN: '[secret]' }, 2],
  )
  assertFailed(await box.run(['mcp', 'get', 'onne']), 'missing', { message: /"onne".*"crab"/, hint: /"one"/ })
})

test('mcp ping starts all servers that are not disabled, and measures their response time', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const off = watchedServer(records.path, FEW, { name: 'off' })
  await writeAgent(
    box,
    entriesToml(misbehavingEntry(FEW, { name: 'one' }), everythingEntry(), off.entry),
    'disabled = true\n',
  )
  const { stdout, stderr, code } = await box.run(['mcp', 'ping'])
  assert.match(
    stdout,
    /^NAME +STATE +TOOLS +START +PING +PID\none +ok +2 +\d+ ms +\d+ ms +\d+\neverything +ok +\d+ +\d+ ms +\d+ ms +\d+\n$/,
  )
  assert.deepEqual([stderr, code, off.starts()], ['', 0, []])
  const [one] = JSON.parse((await box.run(['mcp', 'ping', 'one', '--json'])).stdout)
  assert.deepEqual([one.name, one.ok, one.tools, one.error], ['one', true, 2, null])
  const disabled = await box.run(['mcp', 'ping', 'off'])
  assert.match(disabled.stdout, /^NAME .*\noff +config +- +- +- +-\n$/)
  assert.match(
    disabled.stderr,
    /^crabtalk: error\[config\]: .*"off".*disabled\nhint: crabtalk mcp enable off\n$/,
  )
  assert.equal(disabled.code, 78)
})

test('mcp ping reports each server that fails, and exits 69', async () => {
  await using box = await makeSandbox()
  const bad = misbehavingEntry({ at: { initialize: 'crash' } }, { name: 'bad' })
  await writeAgent(box, entriesToml(misbehavingEntry(FEW, { name: 'one' }), bad))
  const { stdout, stderr, code } = await box.run(['mcp', 'ping', 'bad', 'one'])
  assert.match(stdout, /\nbad +unavailable +- +- +- +-\none +ok +2 /)
  assert.match(stderr, /^crabtalk: error\[unavailable\]: .*"bad".*\nhint: .*\n$/)
  assert.equal(code, 69)
  const json = await box.run(['mcp', 'ping', '--json'])
  const [one, two] = JSON.parse(json.stdout)
  assert.deepEqual(
    [one.ok, two.ok, two.error.kind, json.stderr, json.code],
    [true, false, 'unavailable', '', 69],
  )
  assertFailed(await box.run(['mcp', 'ping', 'one', 'tow']), 'missing', { message: /"tow"/, hint: /./ })
})

test('mcp tools lists tools as the model sees them, with the rule behind each effect, and why one is hidden', async () => {
  await using box = await makeSandbox()
  const rules = 'exclude = ["list_*"]\npermissions = { allow = ["read_*"], deny = ["write_file"] }\n'
  await writeAgent(box, entriesToml(filesystemEntry([box.cwd])), rules)
  const { stdout, stderr, code } = await box.run(['mcp', 'tools', 'fs'])
  assert.deepEqual([stderr, code], ['', 0])
  assert.match(stdout, /^TOOL +EFFECT +BECAUSE +DESCRIPTION\n/)
  assert.match(stdout, /^mcp__fs__read_text_file +allow +mcp__fs__read_\* \(agents\/crab\.toml\S*\) +\S/m)
  assert.match(stdout, /^mcp__fs__write_file +deny +mcp__fs__write_file \(agents/m)
  assert.match(stdout, /^mcp__fs__edit_file +ask +no rule +\S/m)
  assert.match(stdout, /^list_directory +hidden +.*exclude/m)
  const rows: Record<string, unknown>[] = JSON.parse((await box.run(['mcp', 'tools', '--json'])).stdout)
  const write = rows.find(({ remote_name }) => remote_name === 'write_file')
  assert.deepEqual(
    [write?.['name'], write?.['effect'], write?.['hidden']],
    ['mcp__fs__write_file', 'deny', null],
  )
})

async function writeAgent(box: Sandbox, mcps: string, more = ''): Promise<void> {
  await mkdir(join(box.home, 'agents'), { recursive: true, mode: 0o700 })
  const text = `id = "${ID}"\n\n${mcps.trimEnd()}\n${more}`
  await writeFile(join(box.home, 'agents/crab.toml'), text, { mode: 0o600 })
}
