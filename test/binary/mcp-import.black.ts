import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { FOREIGN_KINDS, KIND_TITLES } from '../../src/edge/import/foreign-kinds.ts'
import { foreignSamples } from '../support/mcp/foreign-files.ts'
import { makeSandbox, type RunOptions, type Sandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'

/** The answer of `mcp import --json`. */
interface Imported {
  servers: {
    entry: Record<string, unknown> & { name: string }
    secrets: string[]
    existing: { name: string; source: string }[]
    missing: string[]
    notices: string[]
  }[]
  skipped: { name: string; why: string }[]
  notices: { text: string }[]
}

const ENV = { CITY: 'Kiel', TRACKER_TEAM: 'core' }
const PAGE = resolve(import.meta.dirname, '../../docs/mcp-import.md')

test('mcp import takes servers of eleven programs, and mcp export gives them back without secrets', async (t) => {
  await using box = await makeSandbox()
  const run = (args: readonly string[], options: RunOptions = {}) =>
    box.run(args, { env: environment(box), ...options })
  const samples = foreignSamples(box.cwd)
  const secrets = Object.values(samples).flatMap((sample) => sample.secrets)
  await writeSamples(box)
  await mkdir(join(box.home, 'agents'), { recursive: true })
  const printed: string[] = []
  const rows: string[] = []
  for (const kind of FOREIGN_KINDS) {
    await writeFile(join(box.home, 'agents', `${kind}.toml`), `# ${kind}\nmodel = "m"\n`)
    const done = await run(['mcp', 'import', '--from', kind, '-a', kind, '--yes', '--json'])
    assert.equal(done.code, 0, done.stderr)
    const imported: Imported = JSON.parse(done.stdout)
    assert.ok(imported.servers.length > 0, kind)
    const text = await readFile(join(box.home, 'agents', `${kind}.toml`), 'utf8')
    assert.deepEqual(
      (parse(text)['mcps'] as { name: string }[]).map(({ name }) => name),
      imported.servers.map(({ entry }) => entry.name),
    )
    assert.ok(text.startsWith(`# ${kind}\n`))
    const exported = await run(['mcp', 'export', '-a', kind, '--format', kind])
    assert.equal(exported.code, 0, exported.stderr)
    const file = join(box.cwd, `exported-${kind}`)
    await writeFile(file, exported.stdout)
    const again = await run(['mcp', 'import', '--from', file, '-a', kind, '--dry-run', '--json'])
    const { skipped, servers, notices }: Imported = JSON.parse(again.stdout)
    assert.deepEqual([servers, notices], [[], []], kind)
    const isThere = new RegExp(`^${kind} has it already$`)
    for (const { name, why } of skipped) {
      if (!imported.servers.find(({ entry }) => entry.name === name)?.entry['disabled'])
        assert.match(why, isThere)
    }
    printed.push(done.stdout, done.stderr, exported.stdout, exported.stderr, again.stdout, again.stderr)
    rows.push(
      `| ${KIND_TITLES[kind]} | ${describeTaken(imported)} | ${describeReported(imported, exported.stderr)} |`,
    )
  }
  assertFailed(await run(['mcp', 'enable', '-a', 'zed', 'postgres']), 'invalid', {
    message: /contains \$\{POSTGRES_PASSWORD\}/,
    hint: /--scope user/,
  })
  await assertHidden(box, printed, secrets)
  const stored = JSON.parse((await run(['vault', 'list', '--json'])).stdout) as { name: string }[]
  const { stdout: values } = await run(['vault', 'env', ...stored.map(({ name }) => name)])
  const left = secrets.filter((secret) => !values.includes(secret))
  assert.deepEqual(left, ['zed-4711-linear']) // of a server that could not be taken
  const table = ['| Program | Kept | Reported |', '|---|---|---|', ...rows].join('\n')
  t.diagnostic(`\n${table}`)
  const page = await readFile(PAGE, 'utf8')
  assert.ok(page.includes(table), `docs/mcp-import.md has another table than:\n${table}`)
})

test('mcp import asks first, writes all or nothing, and takes no server twice', async () => {
  await using box = await makeSandbox()
  const run = (args: readonly string[]) => box.run(['mcp', 'import', ...args], { env: environment(box) })
  const empty = await run([])
  assert.deepEqual([empty.stdout, empty.stderr], ['', 'No servers of other programs found\n'])
  assertFailed(await run(['--from', 'zed']), 'no-input', { message: /Zed/, hint: /settings\.json/ })
  assertFailed(await run(['--from', 'cursr']), 'no-input', { message: /cursr/, hint: /cursor/ })
  await writeSamples(box)
  const list = await run([])
  assert.match(list.stdout, /^FROM +FILE +SERVERS\nclaude +.*\.mcp\.json +notes\n/)
  assert.match(list.stdout, /\ncodex +.*config\.toml +tracker, cloud\n/)

  const dry = await run(['--from', 'claude', '--dry-run'])
  assert.match(
    dry.stdout,
    / {2}\+ github\n {6}runs npx -y @modelcontextprotocol\/server-github\n {6}env_helper = .*\n {6}into the vault: github\/GITHUB_P/,
  )
  const refused = await run(['--from', 'claude'])
  assert.deepEqual(
    [refused.code, /no terminal to ask.*--yes/s.test(refused.stderr)],
    [4, true],
    refused.stderr,
  )
  assertFailed(await run(['--from', 'claude', 'githib']), 'missing', { message: /githib/, hint: /github/ })
  const agent = join(box.home, 'agents', 'crab.toml')
  const text = () => readFile(agent, 'utf8').catch(() => '')
  assert.doesNotMatch(await text(), /mcps/)
  await assert.rejects(readFile(join(box.home, 'vault')), { code: 'ENOENT' })

  const terminal = box.terminal(['mcp', 'import', '--from', 'claude'], { env: environment(box) })
  await terminal.shows(/Add 2 servers to crab\? \[y\/N\] /)
  terminal.type('y\r')
  assert.equal((await terminal.finished).code, 0)
  assert.match(await text(), /name = "github"/)
  const again = await run(['--from', 'claude', '--yes'])
  assert.match(again.stdout, / - github: left out: crab has it already\n/)
  assert.match(again.stdout, /\nnothing to import into crab\n$/)

  const scoped = await run(['--from', 'zed', '--scope', 'user', '--yes', '--json'])
  const { scope, file, servers }: Imported & { scope: string; file: string } = JSON.parse(scoped.stdout)
  assert.deepEqual([scope, servers[0]?.secrets], ['user', ['postgres/POSTGRES_PASSWORD']], scoped.stderr)
  const user = await readFile(file, 'utf8')
  assert.match(user, /^\[server\.postgres\]\ncommand = .*\$\{POSTGRES_PASSWORD\}/s)
  assert.doesNotMatch(user, /disabled|origin/)
  const table = await box.run(['mcp', 'list'], { env: environment(box) })
  assert.doesNotMatch(table.stdout + table.stderr, /POSTGRES_PASSWORD (?:is|are) not set/)
  assert.match(table.stdout, /postgres/)

  await writeFile(agent, `${await text()}\n[[mcps]]\nname = "bad"\ncommand = "x"\nurl = "https://h"\n`)
  const before = await text()
  const failed = await run(['--from', 'windsurf', '--yes'])
  assertFailed(failed, 'config', { message: /its server "bad" is invalid/, hint: /config check/ })
  assert.equal(await text(), before)
  const { stdout } = await box.run(['vault', 'list'], { env: environment(box) })
  assert.doesNotMatch(stdout, /ISSUES_TOKEN/)
})

test('mcp import names the credentials that exist, and leaves the vault as it was when the agent cannot be written', async () => {
  await using box = await makeSandbox()
  const env = environment(box)
  await writeSamples(box)
  await mkdir(join(box.home, 'agents'), { recursive: true })
  const agent = join(box.home, 'agents', 'crab.toml')
  await writeFile(agent, `# ${'x'.repeat(400_000)}\nmodel = "m"\n`)
  await box.run(['vault', 'set', 'OTHER'], { env, stdin: 'other' })
  const line = 'ulimit -f 500; exec crabtalk mcp import --from windsurf --yes' // blocks of 512 bytes: too few
  const failed = await box.shell(line, { env: { ...env, PATH: box.env['PATH'] } })
  assertFailed(failed, 'storage', { stdout: failed.stdout, message: /crab\.toml/ })
  const names = async () => JSON.parse((await box.run(['vault', 'list', '--json'], { env })).stdout)
  assert.deepEqual(
    (await names()).map(({ name }: { name: string }) => name),
    ['OTHER'],
  )
  await box.run(['vault', 'set', 'ISSUES_TOKEN'], {
    env,
    stdin: foreignSamples(box.cwd).windsurf.secrets[0]!,
  })
  const dry = await box.run(['mcp', 'import', '--from', 'windsurf', '--dry-run', '--json'], { env })
  const [{ secrets, existing } = assert.fail()] = (JSON.parse(dry.stdout) as Imported).servers
  assert.deepEqual([secrets, existing], [[], [{ name: 'ISSUES_TOKEN', source: 'vault' }]])
})

function environment(box: Sandbox): Record<string, string> {
  return { ...ENV, PATH: join(box.env['PATH']!.split(':')[0]!) } // without a keychain
}

async function writeSamples(box: Sandbox): Promise<void> {
  for (const { files } of Object.values(foreignSamples(box.cwd))) {
    for (const [name, text] of Object.entries(files)) {
      const path = name.startsWith('~') ? join(box.env['HOME']!, name.slice(2)) : join(box.cwd, name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
  }
}

function describeTaken({ servers }: Imported): string {
  return servers
    .map(({ entry, secrets }) => {
      const keys = Object.keys(entry).filter((key) => !['name', 'origin'].includes(key))
      return `${entry.name}: ${keys.join(', ')}${secrets.length > 0 ? ` (into the vault: ${secrets.join(', ')})` : ''}`
    })
    .join('; ')
}

function describeReported({ servers, notices, skipped }: Imported, exported: string): string {
  const all = [
    ...servers.flatMap(({ entry, missing, notices }) => [
      ...missing.map((name) => `${entry.name}: ${name} is missing`),
      ...notices.map((text) => `${entry.name}: ${text}`),
    ]),
    ...skipped.map(({ name, why }) => `${name}: ${why}`),
    ...notices.map(({ text }) => text),
    ...exported
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `export: ${line.replace(/^crabtalk: /, '')}`),
  ]
  return all.join('; ').replaceAll('|', '\\|') || 'nothing'
}

/** Fails when a secret is printed, or in a file of the home. */
async function assertHidden(
  box: Sandbox,
  printed: readonly string[],
  secrets: readonly string[],
): Promise<void> {
  const findIn = (text: string) => secrets.filter((secret) => text.includes(secret))
  for (const text of printed) assert.deepEqual(findIn(text), [], text)
  for (const entry of await readdir(box.home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    assert.deepEqual(findIn(await readFile(path, 'latin1')), [], path)
  }
}
