import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { type InlinedFile, inlineServers } from '../../../src/core/config/inline-servers.ts'
import { registryIn } from '../../../src/core/config/old-registry.ts'
import { parseToml } from '../../../src/core/config/toml.ts'

const REGISTRY = registryIn(
  parse(`
[mcps.fs]
command = "npx"
args = ["-y", "fs-server"]
auto_restart = true
env = {}
auth = false

[mcps.GitHub]
command = ""
args = []
url = "http://127.0.0.1:9/mcp"
auth = true

[mcps.odd]
command = "x"
colour = "red"
`),
)

test('names are replaced by the servers; comments, order and everything else stay', () => {
  const text = `# Mine.
description = "d" # short

# Both of them.
mcps = [
  "fs", # my "notes"
  "GitHub",
] # end
model = "m"

# Careful.
[permissions]
allow = ["read"] # only that
`
  const { text: after, servers, left } = inline(text)
  assert.equal(
    after,
    `# Mine.
description = "d" # short

# Both of them.
# my "notes"
# end
model = "m"

# Careful.
[permissions]
allow = ["read"] # only that

[[mcps]]
name = "fs"
command = "npx"
args = ["-y", "fs-server"]

[[mcps]]
name = "github"
url = "http://127.0.0.1:9/mcp"
`,
  )
  assert.deepEqual([servers, left], [2, []])
})

test('names that cannot be replaced become a comment, each with its line and the reason', () => {
  const { text, servers, left } = inline('model = "m"\nmcps = ["gone",\n"fs", "odd",\n"fs"]\n')
  assert.equal(servers, 1)
  assert.deepEqual(left, [
    { name: 'gone', line: 2, why: 'is not in a registry' },
    { name: 'odd', line: 3, why: 'cannot be used: unknown key "colour"' },
    { name: 'fs', line: 4, why: 'has the same name as another: fs' },
  ])
  assert.match(
    text,
    /^model = "m"\n# Servers of a registry .*\n# mcps = \["gone", "odd", "fs"\]\n\n\[\[mcps\]\]\n/,
  )
})

test('a file with only unknown names has no servers, and keeps the names', () => {
  const { text } = inline('mcps = ["a", "b"]\r\nmodel = "m"\r\n')
  assert.match(text, /^# Servers of .*\r\n# mcps = \["a", "b"\]\r\nmodel = "m"\r\n$/)
  assert.deepEqual({ ...parse(text) }, { model: 'm' })
})

test('servers between the names stay in place', () => {
  const { text } = inline('mcps = [{ name = "own", command = "y" }, "fs"]')
  const { mcps } = parse(text) as { mcps: { name: string }[] }
  assert.deepEqual(
    mcps.map(({ name }) => name),
    ['own', 'fs'],
  )
})

for (const [form, text] of [
  ['tables of the names', '[fs]\ncommand = "x"\n[web]\nurl = "http://h"\n'],
  ['[mcps.NAME]', '[mcps.fs]\ncommand = "x"\n[mcps.web]\nurl = "http://h"\n'],
  ['[[mcps]]', '[[mcps]]\nname = "fs"\ncommand = "x"\n[[mcps]]\nname = "web"\nurl = "http://h"\n'],
  ['[servers.NAME]', '[servers.fs]\ncommand = "x"\n[servers.web]\nurl = "http://h"\n'],
  ['a server that is called mcps', '[fs]\ncommand="x"\n[web]\nurl="http://h"\n[mcps]\ncommand="z"\n'],
] as const) {
  test(`registryIn() reads ${form}`, () => {
    const registry = registryIn(parse(text))
    assert.deepEqual([...registry.keys()].slice(0, 2), ['fs', 'web'])
    assert.equal(registry.get('fs')?.['command'], 'x')
  })
}

function inline(text: string): InlinedFile {
  const document = parseToml('agents/crab.toml', text)
  assert.ok(document.ok)
  return inlineServers(document.value, REGISTRY)
}
