import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_CONFIG } from '../../../src/core/config/config.ts'
import { loadConfig } from '../../../src/core/config/load-config.ts'
import { agentStore } from '../../support/agent-store.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const RULES = `
[permissions]
allow = [
  "bash(npm test)", # the tests
  "edit(src/**)",
]
deny = ["read(.env)"]
`

test('the rules of config.toml have their line numbers', async () => {
  await using home = await temporaryHome()
  assert.deepEqual((await loadConfig(home.paths)).permissions, [])
  assert.deepEqual(EMPTY_CONFIG.permissions, [])
  await home.write('config.toml', `model = "m"${RULES}ask = ["mcp__*"]\n`)
  assert.deepEqual((await loadConfig(home.paths)).permissions, [
    { effect: 'deny', pattern: 'read(.env)', source: 'config.toml:7' },
    { effect: 'ask', pattern: 'mcp__*', source: 'config.toml:8' },
    { effect: 'allow', pattern: 'bash(npm test)', source: 'config.toml:4' },
    { effect: 'allow', pattern: 'edit(src/**)', source: 'config.toml:5' },
  ])
})

test('the rules of a class have their line numbers and their class', async () => {
  await using home = await temporaryHome()
  const text =
    '[permissions.remote]\nallow = ["mcp__weather__*"]\n\n[permissions.unattended]\nallow = ["bash(make)"]\nask = ["fetch"]\n'
  await home.write('config.toml', `model = "m"${RULES}${text}`)
  await home.write('agents/a.toml', text)
  const inFile = (file: string, start: number) => [
    { effect: 'ask', pattern: 'fetch', source: `${file}:${start + 5}`, for: 'unattended' },
    { effect: 'allow', pattern: 'bash(make)', source: `${file}:${start + 4}`, for: 'unattended' },
    { effect: 'allow', pattern: 'mcp__weather__*', source: `${file}:${start + 1}`, for: 'remote' },
  ]
  assert.deepEqual((await loadConfig(home.paths)).permissions.slice(3), inFile('config.toml', 8))
  assert.deepEqual(await agentStore(home.paths).rules('a'), inFile('agents/a.toml', 1))
  await home.write('config.toml', '[permissions.remote]\nalow = []\n[permissions.guest]\n')
  await assert.rejects(loadConfig(home.paths), {
    kind: 'config',
    message:
      'config.toml:2: unknown key "permissions.remote.alow" (did you mean "allow"?)\n' +
      'config.toml:3: unknown key "permissions.guest" (the keys are allow, ask, deny, read_only_commands, remote, unattended)',
  })
})

test('an invalid rule is an error with its line, in config.toml and in an agent file', async () => {
  await using home = await temporaryHome()
  await home.write(
    'config.toml',
    '[permissions]\nallow = [\n  "bash(git *)",\n  "Bash(ls)",\n]\nforbid = []\n',
  )
  await assert.rejects(loadConfig(home.paths), {
    kind: 'config',
    message:
      'config.toml:4: "permissions.allow[1]" (Bash) must be written in lower case (for example bash(npm run lint))\n' +
      'config.toml:6: unknown key "permissions.forbid" (the keys are allow, ask, deny, read_only_commands, remote, unattended)',
  })
  await home.write('agents/a.toml', '[permissions]\ndeny = ["write(x)", 7]\nallow = "bash"\n')
  await assert.rejects(agentStore(home.paths).get('a'), {
    kind: 'config',
    message:
      'agents/a.toml:2: "permissions.deny[0]" (write) never matches: rules for edit apply to write (for example edit(src/**))\n' +
      'agents/a.toml:2: "permissions.deny[1]" must be a string, not a number\n' +
      'agents/a.toml:3: "permissions.allow" must be a list, not a string',
  })
})

test('rules() returns the rules of an agent with their lines, and writes nothing', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  assert.deepEqual(await store.rules('crab'), [])
  await assert.rejects(home.read('agents/crab.toml'), { code: 'ENOENT' })
  await assert.rejects(store.rules('other'), { kind: 'missing' })
  await home.write('agents/a.toml', RULES)
  assert.deepEqual(await store.rules('a'), [
    { effect: 'deny', pattern: 'read(.env)', source: 'agents/a.toml:7' },
    { effect: 'allow', pattern: 'bash(npm test)', source: 'agents/a.toml:4' },
    { effect: 'allow', pattern: 'edit(src/**)', source: 'agents/a.toml:5' },
  ])
  assert.equal(await home.read('agents/a.toml'), RULES)
  await home.write('agents/bad.toml', 'x = \n')
  await assert.rejects(store.rules('bad'), { kind: 'config' })
})

test('rules() returns the rules of MCP entries with their own lines, after those of the agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  const entry = '[[mcps]]\nname = "fs"\ncommand = "x"\n'
  const table = '[mcps.permissions]\ndeny = ["write_*"]\nallow = [\n  "read_*",\n  "list_*",\n]\n'
  const inline = '[[mcps]]\nname = "db"\ncommand = "y"\npermissions = { ask = ["drop"] }\n'
  await home.write('agents/a.toml', `permissions.ask = ["bash"]\n\n${entry}${table}\n${inline}`)
  assert.deepEqual(await store.rules('a'), [
    { effect: 'ask', pattern: 'bash', source: 'agents/a.toml:1' },
    { effect: 'deny', pattern: 'mcp__fs__write_*', source: 'agents/a.toml:7' },
    { effect: 'allow', pattern: 'mcp__fs__read_*', source: 'agents/a.toml:9' },
    { effect: 'allow', pattern: 'mcp__fs__list_*', source: 'agents/a.toml:10' },
    { effect: 'ask', pattern: 'mcp__db__drop', source: 'agents/a.toml:16' },
  ])
})

test('addRule() adds an allow rule once, and keeps comments', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  await store.addRule('a', 'bash(git status)')
  const [first] = await store.rules('a')
  assert.deepEqual(first, { effect: 'allow', pattern: 'bash(git status)', source: 'agents/a.toml:4' })
  const { id } = await store.get('a')
  await home.write('agents/a.toml', `# Mine.\nid = "${id}"${RULES}`)
  await store.addRule('a', 'mcp__fs__*')
  await store.addRule('a', 'mcp__fs__*')
  await store.addRule('a', 'edit(src/**)')
  const after = RULES.replace('"edit(src/**)",\n', '"edit(src/**)",\n  "mcp__fs__*",\n')
  assert.equal(await home.read('agents/a.toml'), `# Mine.\nid = "${id}"${after}`)
  assert.deepEqual((await store.get('a')).permissions?.deny, ['read(.env)'])
})

test('addRule() creates the default agent, and recognizes a rule in every Unicode form', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.addRule('crab', 'edit(e\u0301.md)')
  await store.addRule('crab', 'edit(\u00e9.md)')
  assert.equal((await store.rules('crab')).length, 1)
})

test('addRule() rejects an invalid rule and a missing agent', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  const text = await home.read('agents/a.toml')
  await assert.rejects(store.addRule('a', 'bash('), {
    kind: 'invalid',
    message: 'Cannot add a rule to the agent "a": the rule has a ( without a ) at its end',
    hint: 'for example read(src/**)',
  })
  await assert.rejects(store.addRule('b', 'bash'), { kind: 'missing' })
  assert.equal(await home.read('agents/a.toml'), text)
})

test('concurrently added rules are all kept', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await store.create('a', {}, '')
  const rules = ['bash(a)', 'bash(b)', 'bash(c)', 'bash(d)']
  await Promise.all([...rules, ...rules].map((rule) => store.addRule('a', rule)))
  assert.deepEqual((await store.get('a')).permissions?.allow?.toSorted(), rules)
})

test('update() changes permissions like any other table, and checks the patch', async () => {
  await using home = await temporaryHome()
  const store = agentStore(home.paths)
  await home.write('agents/a.toml', RULES)
  await store.update('a', { permissions: { deny: null, ask: ['bash(git push *)'] } })
  const { permissions } = await store.get('a')
  assert.deepEqual(permissions, { allow: ['bash(npm test)', 'edit(src/**)'], ask: ['bash(git push *)'] })
  assert.match(await home.read('agents/a.toml'), /# the tests/)
  await assert.rejects(store.update('a', { permissions: { allow: ['bash('] } }), {
    kind: 'invalid',
    message: 'Cannot change the agent "a": "permissions.allow[0]" (bash) has a ( without a ) at its end',
  })
})
