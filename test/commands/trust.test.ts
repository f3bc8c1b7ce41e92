import assert from 'node:assert/strict'
import { mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { CommandHandler } from '../../src/cli/command.ts'
import { parseOptions } from '../../src/cli/parse.ts'
import { resolvePaths } from '../../src/cli/paths.ts'
import { trustServersCommand } from '../../src/commands/trust/servers.ts'
import { TRUST_COMMANDS } from '../../src/commands/trust/table.ts'
import {
  addTrustedFolderCommand,
  listTrustedFoldersCommand,
  removeTrustedFolderCommand,
} from '../../src/commands/trust/trust.ts'
import { TrustStore } from '../../src/core/trust/trust-store.ts'
import { makeTestHost, type TestHost } from '../support/test-host.ts'

test('trust add and remove apply to the whole repository of a folder, and list shows it', async () => {
  await using one = await makeTestHost()
  await mkdir(join(one.folder, 'app', '.git'), { recursive: true })
  await mkdir(join(one.folder, 'app', 'src'))
  const app = await realpath(join(one.folder, 'app'))
  await run(one, 'add', addTrustedFolderCommand, ['app/src'])
  await run(one, 'remove', removeTrustedFolderCommand, ['app'])
  await run(one, 'add', addTrustedFolderCommand, ['./app/../app'])
  assert.equal(one.stdout(), `trusted: ${app}\nnot trusted: ${app}\ntrusted: ${app}\n`)
  await run(one, 'list', listTrustedFoldersCommand, [])
  assert.match(
    one.stdout(),
    new RegExp(`\nSTATE +SINCE +PATH +FILES\ntrusted +\\d{4}-\\d\\d-\\d\\d +${app} +all\n$`),
  )
})

test('trust remove --forget makes a folder new again, even one that was removed', async () => {
  await using one = await makeTestHost()
  await mkdir(join(one.folder, 'app'))
  await run(one, 'add', addTrustedFolderCommand, ['app'])
  await run(one, 'remove', removeTrustedFolderCommand, ['app', '--forget'])
  await run(one, 'remove', removeTrustedFolderCommand, ['app', '--forget'])
  await assert.rejects(run(one, 'remove', removeTrustedFolderCommand, ['none']), {
    kind: 'missing',
    message: /it is not in the list/,
  })
  await run(one, 'add', addTrustedFolderCommand, ['app'])
  await rm(join(one.folder, 'app'), { recursive: true })
  await run(one, 'remove', removeTrustedFolderCommand, [
    await realpath(one.folder).then((folder) => join(folder, 'app')),
  ])
  await assert.rejects(run(one, 'add', addTrustedFolderCommand, ['app']), {
    kind: 'missing',
    message: /Cannot trust app: it does not exist/,
  })
  await writeFile(join(one.folder, 'file'), '')
  await assert.rejects(run(one, 'add', addTrustedFolderCommand, ['file']), {
    kind: 'missing',
    message: 'Cannot trust file: it is not a directory',
  })
  await symlink('circle', join(one.folder, 'circle'))
  await assert.rejects(run(one, 'add', addTrustedFolderCommand, ['circle']), {
    kind: 'failed',
    message: 'Cannot trust circle: its links form a loop',
  })
  await run(one, 'list', listTrustedFoldersCommand, [])
  assert.match(one.stderr(), /No directories yet\n$/)
})

test('trust list shows every file once, in its last state', async () => {
  await using one = await makeTestHost()
  const path = await realpath(one.folder)
  const notices = ['AGENTS.md: it is not read: it is a named pipe', 'Crab.md', 'AGENTS.md']
  await mkdir(join(one.folder, 'run'), { recursive: true })
  const store = new TrustStore({
    path: resolvePaths(one.host).trust,
    lock: async () => ({ [Symbol.asyncDispose]: async () => undefined }),
    now: () => 0,
  })
  await store.addNotices(path, notices, AbortSignal.timeout(10_000))
  await run(one, 'list', listTrustedFoldersCommand, [])
  assert.match(one.stdout(), / AGENTS\.md, Crab\.md\n$/)
  const before = one.stdout()
  await runTrust(one, ['--list'])
  assert.equal(one.stdout(), before + before)
  for (const more of ['.', '--yes', '--revoke'])
    await assert.rejects(runTrust(one, ['--list', more]), { kind: 'usage' })
})

test('trust says which file is not valid; --revoke without such a file records nothing; list shows what changed', async () => {
  await using one = await makeTestHost()
  const cwd = await realpath(one.folder)
  const file = join(cwd, '.mcp.json')
  assert.equal(await runTrust(one, ['--revoke']), 0)
  assert.equal(one.stderr(), 'No file of this project declares MCP servers\n')
  await run(one, 'list', listTrustedFoldersCommand, [])
  assert.match(one.stderr(), /No directories yet\n$/)
  await writeFile(file, '{"mcpServers": {,,}}')
  assert.equal(await runTrust(one, []), 78)
  assert.match(one.stderr(), /\.mcp\.json:1:17: it is not valid JSON\n {2}hint: [^\n]*\n$/)
  await writeFile(file, '{"mcpServers": {"a": {"command": "a"}}}')
  const states = async () => {
    const before = one.stdout().length
    await run(one, 'list', listTrustedFoldersCommand, ['--json'])
    return JSON.parse(one.stdout().slice(before)).map((row: { state: string }) => row.state)
  }
  assert.equal(await runTrust(one, ['--yes']), 0)
  assert.deepEqual(await states(), ['trusted'])
  await writeFile(file, '{"mcpServers": {"b": {"command": "b"}}}')
  assert.deepEqual(await states(), ['changed'])
  await rm(file)
  assert.deepEqual(await states(), ['gone'])
})

async function runTrust(at: TestHost, argv: string[]): Promise<number> {
  return await run(at, undefined, trustServersCommand, argv)
}

async function run(
  { host }: TestHost,
  verb: string | undefined,
  command: CommandHandler,
  argv: string[],
): Promise<number> {
  const row = TRUST_COMMANDS.find(({ path }) => path[1] === verb)!
  const options = parseOptions({ program: 'crabtalk', command: row }, argv)
  const { path } = row
  const { signal } = new AbortController()
  const code = await command({ program: 'crabtalk', commands: TRUST_COMMANDS, path, options, host, signal })
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  return code
}
