import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { misbehavingEntry } from '../support/mcp/mcp-servers.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed, makeTalk } from '../support/talk.ts'

const PLANTED = 'ghp_planted0123456789abcdefghijklmnopqrst'
const FEW = misbehavingEntry({ tools: ['few'] })

test('from an empty home: the catalog, an installation, and a turn that uses the server', async () => {
  const read = { call: 'a', name: 'mcp__filesystem__read_text_file', args: '{"path":"notes.txt"}' }
  await using talk = await makeTalk([{ parts: [read] }, { parts: ['Water the plants.'] }])
  const env = { PATH: `${await installNpx(talk)}:${talk.env['PATH']}` }
  await writeFile(join(talk.cwd, 'notes.txt'), 'Water the plants.\n')

  const listed = await talk.run(['mcp', 'catalog', 'files'], { env })
  assert.match(listed.stdout, /^ID +CATEGORY +NEEDS +RUNTIME +INSTALLED +WHAT IT DOES\n/)
  assert.match(listed.stdout, /^filesystem +files +- +node +- +Read, write, search/m)
  assert.deepEqual([listed.stderr, listed.code], ['', 0])
  const info = await talk.run(['mcp', 'info', 'filesystem'], { env })
  assert.match(
    info.stdout,
    /^Filesystem: [\s\S]*DIR +Directories that[\s\S]*\ncrabtalk mcp install filesystem\n$/,
  )

  const printed = await talk.run(['mcp', 'install', 'filesystem', '--print'], { env })
  assert.match(printed.stdout, /^\[\[mcps\]\]\nname = "filesystem"\ncommand = "npx"\n/)
  assert.deepEqual(await agentEntries(talk), [])

  const installed = await talk.run(['mcp', 'install', 'filesystem'], { env })
  assert.match(
    installed.stdout,
    /^installed filesystem: 14 tools\n {2}npx -y @modelcontextprotocol\/server-filesystem@\S+ .*work.\n$/,
  )
  assert.deepEqual([installed.stderr, installed.code], ['', 0])
  const answer = await talk.send(['--allow', 'mcp__filesystem__*', 'What is in my notes?'], { env })
  assert.deepEqual([answer.stdout, answer.code], ['Water the plants.\n', 0], answer.stderr)
  assert.match(JSON.stringify(talk.server.requests[1]?.json), /Water the plants\./)

  const again = await talk.run(['mcp', 'install', 'filesystem'], { env })
  assert.deepEqual(
    [again.stdout, again.stderr, again.code],
    ['filesystem is already installed: crab has it as filesystem\n', '', 0],
  )
  assertFailed(await talk.run(['mcp', 'install', 'filesystem', 'DIR=other'], { env }), 'conflict', {
    message: /^Cannot install filesystem with DIR=.*\/other: crab has it as filesystem with DIR=./,
    hint: /--name NAME .*--update/,
  })
  const badge = await talk.run(['mcp', 'catalog', 'filesystem'], { env })
  assert.match(badge.stdout, /^filesystem .* crab +Read/m)
  const json = JSON.parse((await talk.run(['mcp', 'catalog', '--json'], { env })).stdout)
  assert.ok(json.length > 80)
  assertFailed(await talk.run(['mcp', 'install', 'filesystm'], { env }), 'missing', {
    message: /^Cannot find "filesystm" in the catalog$/,
    hint: /did you mean "filesystem"\?/,
  })
})

test('a server without its credential is installed in the set-up state, which says what to run and where to get it', async () => {
  await using box = await makeSandbox()
  await writeTemplate(box, 'mine', { needsToken: true })
  const installed = await box.run(['mcp', 'install', 'mine'])
  assert.deepEqual([installed.stderr, installed.code], ['', 0])
  assert.match(
    installed.stdout,
    /^installed mine\n.*\nmine cannot be used yet:\n {2}crabtalk vault set MINE_TOKEN\n {4}Token\. Create one: https:\/\/example\.com\/tokens\n$/,
  )
  const [entry] = await agentEntries(box)
  assert.deepEqual(entry?.['env_helper'], ['crabtalk', 'vault', 'env', 'MINE_TOKEN'])
  assertFailed(await box.run(['mcp', 'tools', 'mine']), 'credentials', {
    message: /MINE_TOKEN/,
    hint: /crabtalk vault set MINE_TOKEN/,
  })
  const env = withoutKeychain(box)
  await box.run(['vault', 'set', 'MINE_TOKEN'], { env, stdin: PLANTED })
  assert.match((await box.run(['mcp', 'tools', 'mine'], { env })).stdout, /mcp__mine__echo/)

  const other = box.terminal(['mcp', 'install', 'mine', '--name', 'second'], { env })
  assert.equal((await other.finished).code, 0)
  assert.match(other.output(), /installed second: 2 tools/)
  await box.run(['vault', 'remove', 'MINE_TOKEN'], { env })
  const prompt = box.terminal(['mcp', 'install', 'mine', '--name', 'third'], { env })
  await prompt.shows(/Token, MINE_TOKEN \(not shown; Enter to set it later\): /)
  prompt.type(`${PLANTED}\r`)
  assert.equal((await prompt.finished).code, 0)
  assert.match(prompt.output(), /installed third: 2 tools/)
  await box.run(['vault', 'remove', 'MINE_TOKEN'], { env })
  const broken = join(box.home, 'mcp/catalog/broken.toml')
  await writeFile(
    broken,
    (await readFile(join(box.home, 'mcp/catalog/mine.toml'), 'utf8'))
      .replace('"mine"', '"broken"')
      .replace(/^command = .*/m, 'command = "false"'),
  )
  const failing = box.terminal(['mcp', 'install', 'broken'], { env })
  await failing.shows(/Token, MINE_TOKEN \(not shown/)
  failing.type(`${PLANTED}\r`)
  assert.notEqual((await failing.finished).code, 0)
  assert.match(
    failing.output(),
    /the vault keeps MINE_TOKEN; crabtalk vault remove NAME removes it\r?\n.*error\[/s,
  )
  assert.doesNotMatch(prompt.output(), /ghp_/)
  await assertNowhere(box)
})

test('mcp install never replaces what the user has: not an edited entry, not a server with the same tool names', async () => {
  await using box = await makeSandbox()
  await writeTemplate(box, 'my-server', {})
  await box.run(['mcp', 'add', '--no-verify', 'my_server', 'x'])
  assertFailed(await box.run(['mcp', 'install', 'my-server']), 'conflict', {
    message: /^Cannot install "my-server" for crab: the tools of its server "my_server" have the same names$/,
    hint: /--name/,
  })
  await box.run(['mcp', 'remove', 'my_server'])
  assert.equal((await box.run(['mcp', 'install', 'my-server'])).code, 0)
  await writeTemplate(box, 'my-server', { timeout_ms: 5000 })
  const newer = await box.run(['mcp', 'install', 'my-server'])
  assert.match(newer.stderr, /newer version: crabtalk mcp install my-server --update replaces its entry/)
  assert.match(
    (await box.run(['mcp', 'install', 'my-server', '--update'])).stdout,
    /^updated my-server: 2 tools\n/,
  )
  assert.equal((await agentEntries(box))[0]?.['timeout_ms'], 5000)

  await box.run(['mcp', 'set', 'my-server', 'timeout_ms=7000'])
  await writeTemplate(box, 'my-server', { timeout_ms: 6000 })
  const edited = await box.run(['mcp', 'install', 'my-server'])
  assert.match(edited.stderr, /you changed its entry, which stays as it is/)
  assertFailed(await box.run(['mcp', 'install', 'my-server', '--update']), 'conflict', {
    message: /changed since/,
    hint: /--print/,
  })
  assert.equal((await agentEntries(box))[0]?.['timeout_ms'], 7000)

  await writeFile(join(box.home, 'mcp/catalog/bad.toml'), 'id = "bad"\nnam = "x"\n')
  const listed = await box.run(['mcp', 'catalog', 'my-server'])
  assert.match(listed.stdout, /^my-server /m)
  assert.match(listed.stderr, /^crabtalk: mcp\/catalog\/bad\.toml:2: unknown key "nam"/m)
})

/** Makes `npx` start what the project has installed, whatever version is asked for. Returns its folder. */
async function installNpx(box: Sandbox): Promise<string> {
  const folder = join(dirname(box.cwd), 'tools')
  await mkdir(folder)
  const modules = resolve(import.meta.dirname, '../../node_modules')
  const script = `#!/bin/sh\nshift; package=\${1%@[0-9]*}; shift\nexec '${process.execPath}' '${modules}'"/$package/dist/index.js" "$@"\n`
  await writeFile(join(folder, 'npx'), script)
  await chmod(join(folder, 'npx'), 0o755)
  return folder
}

async function writeTemplate(
  box: Sandbox,
  id: string,
  more: { needsToken?: true; timeout_ms?: number },
): Promise<void> {
  const credential =
    '\n[[credentials]]\nname = "MINE_TOKEN"\nlabel = "Token"\nhelp = "Create one"\nurl = "https://example.com/tokens"\n'
  const text = `id = "${id}"
name = "Mine"
description = "Notes"
category = "notes"

[server]
command = ${JSON.stringify(FEW.command)}
args = ${JSON.stringify(FEW.args)}
${more.timeout_ms === undefined ? '' : `timeout_ms = ${more.timeout_ms}\n`}${more.needsToken ? `env = { MINE_TOKEN = "\${MINE_TOKEN}" }\n${credential}` : ''}`
  await mkdir(join(box.home, 'mcp/catalog'), { recursive: true, mode: 0o700 })
  await writeFile(join(box.home, `mcp/catalog/${id}.toml`), text)
}

async function agentEntries(box: Sandbox): Promise<Record<string, unknown>[]> {
  const text = await readFile(join(box.home, 'agents/crab.toml'), 'utf8').catch(() => '')
  return (parse(text)['mcps'] ?? []) as Record<string, unknown>[]
}

/** Checks that no file of the home has the secret in plain text. */
async function assertNowhere({ home }: Sandbox): Promise<void> {
  for (const name of await readdir(home, { recursive: true })) {
    const text = await readFile(join(home, name), 'latin1').catch(() => '') // a folder, or a socket
    assert.ok(!text.includes('ghp_'), name)
  }
}

function withoutKeychain(box: Sandbox): Record<string, string> {
  return { XDG_CONFIG_HOME: join(dirname(box.home), 'config') }
}
