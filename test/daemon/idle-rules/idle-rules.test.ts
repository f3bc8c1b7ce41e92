import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { resolvePaths } from '../../../src/cli/paths.ts'
import { main } from '../../../src/commands/main.ts'
import { findIdleRulesHere } from '../../../src/commands/written-rules.ts'
import { findUnlistedTools } from '../../../src/daemon/idle-rules/idle-tool-rules.ts'
import { readRuleScopes } from '../../../src/daemon/idle-rules/rule-scopes.ts'
import { makeTestHost } from '../../support/test-host.ts'

const SERVER = '[[mcps]]\nname = "fs"\ncommand = "true"\n'

test('findIdleRulesHere() reports rules about tools and servers that do not exist, with the nearest name', async () => {
  const found = await look({
    'config.toml': `[permissions]
allow = ["fetch", "remember", "mcp__fs__*", "mcp__f*", "mcp__clock__*", "mcp__gs__read"]
deny = ["bsh"]
read_only_commands = false
[permissions.remote]
allow = ["rememver"]
[permissions.unattended]
ask = ["mcp__nosuch__*"]
`,
    'agents/a.toml': `tools = ["read", "grpe", "mcp__fs__x"]\n${SERVER}`,
    'agents/b.toml': 'tools = ["mcp__fs__x"]\ncomponents = ["far"]\n[permissions]\nask = ["mcp__far__x"]\n',
    'run/clock.port': '4000\n',
  })
  assert.deepEqual(found, [
    'config.toml:3: this deny rule denies nothing: bsh: no tool has that name; did you mean "bash"?',
    'config.toml:2: this allow rule allows nothing: mcp__gs__read: no agent has a server called gs; did you mean "fs"?',
    'config.toml:8: this ask rule asks about nothing: mcp__nosuch__*: no agent has a server called nosuch; crabtalk mcp list shows the servers',
    'config.toml:6: this allow rule allows nothing: rememver: no tool has that name; did you mean "remember"?',
    'agents/a.toml:1: "tools" has grpe: no tool has that name; did you mean "grep"?',
    'agents/b.toml:1: "tools" has mcp__fs__x: b has no server called fs; crabtalk mcp list shows the servers',
  ])
})

test('findIdleRulesHere() reports rules whose path does not exist, except those that every project may need', async () => {
  const found = await look({
    'config.toml': `[permissions]
allow = ["read(nosuch.txt)", "edit(~/nosuch/**)", "edit(src/**)", "edit(lib/**)", "edit(libb/**)", "edit(~/lib/new.md)", "read(~/[x])", "edit(tests/**)", "read(.github/**)"]
deny = ["read(.envv)", "read(.env)", "read(.venv/**)", "read(.envs)", "read(.own/**)", "read(*.pem)", "read(secrets/key)", "edit(~/libb/deep/**)", "read(lib)"]
[permissions.remote]
allow = ["read(nosuch.txt)"]
`,
    '../lib/one.txt': '',
    '../[x]': '',
  })
  const folder = /\S+\/(?=nosuch|lib)/g
  assert.deepEqual(
    found.map((line) => line.replace(folder, 'F/')),
    [
      'config.toml:3: this deny rule is about .envv, which does not exist here: read(.envv); did you mean .env?',
      'config.toml:3: this deny rule denies nothing: edit(~/libb/deep/**): F/libb does not exist; did you mean lib?',
      'config.toml:2: this allow rule allows nothing: edit(~/nosuch/**): F/nosuch does not exist; correct the path; the rule holds once it exists',
    ].map((line) => line.replace(folder, 'F/')),
  )
})

test('findUnlistedTools() reports rules that match no tool of a server that has run', async () => {
  const files = {
    'config.toml':
      '[permissions]\ndeny = ["mcp__fs__read_flie", "mcp__fs__read_*", "mcp__fs__a_b", "mcp__fs__a.b", "mcp__other__x"]\n',
    'agents/a.toml': `tools = ["mcp__fs__echo", "mcp__fs__echoo"]\n${SERVER}[[mcps]]\nname = "other"\ncommand = "true"\n`,
  }
  await using home = await makeHome(files)
  const listed = [{ agent: 'a', name: 'fs', tools: ['echo', 'read_file', 'a.b'] }]
  const found = (await readRuleScopes(home.paths, [])).flatMap((scope) => findUnlistedTools(scope, listed))
  assert.deepEqual(
    found.map(({ source, message, hint }) => `${source}: ${message}; ${hint}`),
    [
      'config.toml:2: this deny rule denies nothing: mcp__fs__read_flie: no tool of fs has that name; did you mean "mcp__fs__read_file"?',
      'agents/a.toml:1: "tools" has mcp__fs__echoo: no tool of fs has that name; did you mean "mcp__fs__echo"?',
    ],
  )
})

test('doctor warns about rules that match nothing', async () => {
  await using home = await makeHome({ 'config.toml': '[permissions]\ndeny = ["bsh"]\n' })
  assert.equal(await main('crabtalk', ['doctor'], home.host), 0)
  assert.match(
    home.stdout(),
    /^ {2}warning {2}config\.toml:2: this deny rule denies nothing: bsh: no tool has that name\n +hint: did you mean "bash"\?$/m,
  )
})

async function look(files: Record<string, string>): Promise<string[]> {
  await using home = await makeHome(files)
  const found = await findIdleRulesHere(home.paths, home.host)
  return found.map(({ source, message, hint }) => `${source}: ${message}; ${hint}`)
}

async function makeHome(files: Record<string, string>) {
  const at = await makeTestHost({ env: { CRABTALK_HOME: 'home' } })
  for (const [name, text] of Object.entries(files)) {
    const path = join(at.folder, 'home', name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, text)
  }
  return { ...at, paths: resolvePaths(at.host), [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() }
}
