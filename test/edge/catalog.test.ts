import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkMcpEntry } from '../../src/core/config/mcp-declaration.ts'
import type { McpEntry } from '../../src/core/config/mcp-entry.ts'
import { redactEntry } from '../../src/core/config/secrets.ts'
import { formatIssue } from '../../src/core/config/validation-issue.ts'
import { BUNDLED_TEMPLATES } from '../../src/edge/catalog/bundled.generated.ts'
import { findTemplate, readCatalog, searchTemplates } from '../../src/edge/catalog/catalog.ts'
import {
  findInstalledServers,
  type InstallInput,
  keepHiddenValues,
  planInstallation,
  refuseTakenName,
} from '../../src/edge/catalog/install.ts'
import { readTemplate, type Template } from '../../src/edge/catalog/template.ts'

const INPUT: InstallInput = {
  agent: 'crab',
  values: new Map(),
  places: { CRABTALK_PROJECT_DIR: '/work/project', CRABTALK_HOME: '/home/me/.crabtalk', HOME: '/home/me' },
  available: new Set(),
}
const FULL = `id = "mine"
name = "Mine"
description = "Notes of the team"
category = "productivity"
homepage = "https://example.com"

[server]
command = "npx"
args = ["-y", "mine@1.0.0", "\${DIR}", "--level=\${LEVEL}"]
env = { MINE_TOKEN = "\${MINE_TOKEN}", QUIET = "1" }

[[parameters]]
name = "DIR"
label = "Directories"
default = "\${CRABTALK_PROJECT_DIR}"
path = true
many = true

[[parameters]]
name = "LEVEL"
label = "The level"
default = "3"

[[credentials]]
name = "MINE_TOKEN"
label = "Token"
help = "Create one"
url = "https://example.com/tokens"
`

test('every bundled template is valid, is named as its file, and makes a valid entry without a secret', async () => {
  const { templates, problems } = await readCatalog('/no/such/folder')
  for (const [id, text] of Object.entries(BUNDLED_TEMPLATES)) {
    const outcome = readTemplate(`${id}.toml`, text)
    assert.deepEqual(outcome.ok ? [] : outcome.problems.map(formatIssue), [])
  }
  assert.deepEqual([templates.length, problems], [Object.keys(BUNDLED_TEMPLATES).length, []])
  assert.ok(templates.length >= 80)
  for (const template of templates) {
    const { parameters = [], credentials = [], server } = template
    const values = new Map(parameters.map(({ name }) => [name, ['https://a.example']]))
    for (const available of [new Set<string>(), new Set(credentials.map(({ name }) => name))]) {
      const { entry, status, missing } = planInstallation(template, { ...INPUT, values, available })
      assert.doesNotMatch(JSON.stringify({ ...entry, origin: {} }), /\$\{/, template.id)
      assert.deepEqual(checkMcpEntry('Cannot use it', entry, []), entry)
      assert.equal(status, missing.length === 0 ? 'ready' : 'setup')
    }
    const words = [server['command'], ...((server['args'] as string[]) ?? [])].join(' ')
    if (server['command'] === 'npx') assert.match(words, /^npx -y \S+@\d+\.\d+\.\d+( |$)/, template.id)
    if (server['command'] === 'uvx') assert.match(words, /^uvx .*[a-z]==\d+(\.\d+)+( |$)/, template.id)
    if (server['url'] !== undefined) assert.match(String(server['url']), /^https:/, template.id)
  }
})

test('readTemplate() reports the file, the line and the key of what is wrong', () => {
  const rows: [change: [string, string], expected: RegExp][] = [
    [
      ['[server]\n', '[server]\nsetup = "First."\n'],
      /^mine\.toml:8: unknown key "server\.setup" \(move it above the line \[server\]/,
    ],
    [
      ['[server]\n', '[server]\nname = "x"\n'],
      /^mine\.toml:8: "server\.name" is written by the installation/,
    ],
    [['command =', 'comand ='], /^mine\.toml:8: unknown key "server\.comand" \(did you mean "command"/],
    [
      ['label = "Token"', 'label = "Token"\ntags = ["a"]'],
      /unknown key "credentials\[0\]\.tags" \(move it above/,
    ],
    [[`\${LEVEL}"`, `\${LEVL}"`], /uses \$\{LEVL\}, which is neither a parameter nor a credential/],
    [
      [`--level=\${LEVEL}`, '--level=3'],
      /^mine\.toml:2\d: "parameters\[1\]\.name" is not used: \[server\] has no \$\{LEVEL\}/,
    ],
    [
      ['QUIET = "1"', `QUIET = "a \${MINE_TOKEN}"`],
      /uses the credential MINE_TOKEN in a place where it would be stored/,
    ],
    [
      ['default = "3"', `default = "\${USER}"`],
      /"parameters\[1\]\.default" uses \$\{USER\}, which is none of/,
    ],
    [['name = "LEVEL"', 'name = "DIR"'], /"parameters\[1\]\.name" is declared twice/],
    [[`"\${DIR}"`, `"--dir=\${DIR}"`], /"parameters\[0\]\.many" needs "\$\{DIR\}" as a word of args/],
    [['category = "productivity"\n', ''], /"category" is missing/],
    [['id = "mine"', 'id = mine'], /^mine\.toml:1:\d+: not valid TOML/],
  ]
  for (const [[from, to], expected] of rows) {
    assert.ok(FULL.includes(from), from)
    const outcome = readTemplate('mine.toml', FULL.replace(from, to))
    assert.ok(!outcome.ok, to)
    assert.match(outcome.problems.map(formatIssue).join('\n'), expected)
  }
})

test('readCatalog() adds and replaces templates of the user; a bad file costs only itself', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-catalog-'))
  const write = (name: string, text: string) => writeFile(join(folder.path, name), text)
  await mkdir(join(folder.path, 'more'))
  await write('mine.toml', FULL)
  await write('fetch.toml', FULL.replace('"mine"', '"fetch"'))
  await write('bad.toml', 'id = "bad"\n')
  await write('other.toml', FULL)
  const catalog = await readCatalog(folder.path)
  assert.equal(findTemplate(catalog, 'mine').description, 'Notes of the team')
  assert.equal(findTemplate(catalog, 'fetch').name, 'Mine')
  assert.ok(findTemplate(catalog, 'git'))
  assert.deepEqual(
    [...new Set(catalog.problems.map(({ file }) => file))],
    ['mcp/catalog/bad.toml', 'mcp/catalog/other.toml'],
  )
  assert.throws(() => findTemplate(catalog, 'bad'), {
    kind: 'config',
    message: /mcp\/catalog\/bad\.toml:1: /,
  })
  assert.throws(() => findTemplate(catalog, 'gti'), { kind: 'missing', hint: 'did you mean "git"?' })
  assert.ok(searchTemplates(catalog.templates, 'Browser automation').some(({ id }) => id === 'playwright'))
})

test('planInstallation() fills parameters, and never writes a credential into the entry', () => {
  const template = toTemplate(FULL)
  const { status, entry, missing } = planInstallation(template, { ...INPUT, agent: 'ann' })
  assert.deepEqual(entry, {
    name: 'mine',
    command: 'npx',
    args: ['-y', 'mine@1.0.0', '/work/project', '--level=3'],
    env: { QUIET: '1' },
    env_helper: ['crabtalk', 'vault', 'env', 'MINE_TOKEN'],
    origin: {
      catalog: 'mine',
      version: template.version,
      parameters: { DIR: ['/work/project'], LEVEL: ['3'] },
      canonical: { 'env.MINE_TOKEN': `\${MINE_TOKEN}` },
      entry: entry.origin?.['entry'],
    },
  })
  const [step, ...others] = missing
  assert.deepEqual(
    [status, step?.command, step?.url, others],
    ['setup', 'crabtalk vault set MINE_TOKEN', 'https://example.com/tokens', []],
  )
  const values = new Map([
    ['DIR', ['/a', '/b']],
    ['LEVEL', ['9']],
  ])
  const ready = planInstallation(template, { ...INPUT, values, available: new Set(['MINE_TOKEN']) })
  assert.deepEqual([ready.status, ready.entry.args], ['ready', ['-y', 'mine@1.0.0', '/a', '/b', '--level=9']])
  const plan = (more: [string, string[]][]) => () =>
    planInstallation(template, { ...INPUT, values: new Map(more) })
  assert.throws(plan([['LEVL', ['1']]]), { kind: 'usage', hint: 'its parameters are DIR, LEVEL' })
  assert.throws(plan([['LEVEL', ['1', '2']]]), { kind: 'usage' })
  assert.throws(plan([['MINE_TOKEN', ['s3cret']]]), { kind: 'usage', message: /^(?!.*s3cret)/ })
  const needy = toTemplate(FULL.replace('default = "3"\n', ''))
  assert.throws(() => planInstallation(needy, INPUT), {
    kind: 'usage',
    hint: 'crabtalk mcp install mine LEVEL=…',
  })
})

test('planInstallation() leaves an optional credential out until it exists, and names the command of a login', () => {
  const optional = toTemplate(`${FULL}required = false\n`)
  assert.equal(planInstallation(optional, INPUT).entry.env_helper, undefined)
  assert.equal(planInstallation(optional, INPUT).status, 'ready')
  const remote = toTemplate(
    'id = "far"\nname = "Far"\ndescription = "x"\ncategory = "web"\n[server]\nurl = "https://far.example/mcp"\n[oauth]\nregistration = "manual"\n',
  )
  const { entry, missing } = planInstallation(remote, { ...INPUT, agent: 'ann' })
  assert.deepEqual(entry.auth_helper, ['crabtalk', 'mcp', 'token'])
  assert.equal(missing[0]?.command, 'crabtalk mcp login -a ann far --client-id ID --client-secret')
})

test('findInstalledServers() tells an edited entry from one that is as it was installed, also when values are hidden', () => {
  const template = toTemplate(FULL)
  const { entry } = planInstallation(template, INPUT)
  const shown = redactEntry(entry)
  const states = (one: McpEntry) =>
    findInstalledServers([one], template).map(({ isEdited, isCurrent }) => [isEdited, isCurrent])
  assert.deepEqual(states(shown), [[false, true]])
  assert.deepEqual(states({ ...shown, disabled: true }), [[false, true]])
  assert.deepEqual(states({ ...shown, permissions: { allow: ['read'] } }), [[true, true]])
  const newer = toTemplate(FULL.replace('mine@1.0.0', 'mine@2.0.0'))
  assert.deepEqual(
    findInstalledServers([shown], newer).map(({ isCurrent }) => isCurrent),
    [false],
  )
  assert.deepEqual(keepHiddenValues(planInstallation(newer, INPUT).entry, shown).env, { QUIET: '[secret]' })
  refuseTakenName('crab', [], 'my-server')
  const other = [{ name: 'my_server', command: 'x' }]
  assert.throws(() => refuseTakenName('crab', other, 'my-server'), {
    kind: 'conflict',
    message: /tools of its server "my_server"/,
  })
})

function toTemplate(text: string): Template {
  const outcome = readTemplate('mine.toml', text)
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.value
}
