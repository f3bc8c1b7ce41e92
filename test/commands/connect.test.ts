import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { parseOptions } from '../../src/cli/parse.ts'
import { resolvePaths } from '../../src/cli/paths.ts'
import { connectCommand } from '../../src/commands/connect/connect.ts'
import { CONNECT_COMMANDS } from '../../src/commands/connect/table.ts'
import { findConnectChoice } from '../../src/core/connect/choices.ts'
import { toConnection } from '../../src/core/connect/connection.ts'
import { saveConnection } from '../../src/core/connect/save-connection.ts'
import { makeTestHost, type TestHost } from '../support/test-host.ts'

const NEVER = new AbortController().signal
const ENV = { PATH: process.env['PATH'], ANTHROPIC_API_KEY: 'sk-of-the-shell' }

test('connect without a new key keeps the helper and the address of a provider', async () => {
  await using one = await makeTestHost({ env: ENV })
  const table = (helper: string) => ({
    name: 'anthropic',
    kind: 'anthropic',
    base_url: 'http://127.0.0.1:9',
    key_helper: helper.split(' '),
  })
  const write = (helper: string) =>
    writeProviders(
      one,
      `[[providers]]\nname = "anthropic"\nkind = "anthropic"\nbase_url = "http://127.0.0.1:9"\nkey_helper = ${JSON.stringify(helper.split(' '))}\n`,
    )
  await write('printf sk-own')
  await run(one, ['anthropic', '--no-check'])
  assert.deepEqual(await readProviders(one), [table('printf sk-own')])

  for (const helper of ['false', 'crabtalk vault key anthropic']) {
    await write(helper)
    await assert.rejects(run(one, ['anthropic', '--no-check']), { kind: 'credentials' })
    const connection = toConnection(
      { choice: findConnectChoice('anthropic', ENV) },
      { ...ENV, ANTHROPIC_BASE_URL: 'http://127.0.0.1:7' },
    )
    const home = { paths: resolvePaths(one.host), env: ENV, lock: async () => NO_LOCK }
    await saveConnection(home, { connection, model: undefined }, NEVER) // the user typed no key, and saved anyway
    assert.deepEqual(await readProviders(one), [table(helper)])
  }
})

test('connect names the variable that services need to open the vault', async () => {
  const key = 'c'.repeat(64)
  const cases = { CRABTALK_VAULT_KEY: key, CRABTALK_VAULT_KEY_HELPER: `printf ${key}` }
  for (const [name, value] of Object.entries(cases)) {
    await using one = await makeTestHost({ env: { ...ENV, [name]: value }, stdin: 'sk-new' })
    const { serviceEnv } = resolvePaths(one.host)
    await run(one, ['anthropic', '--no-check', '--key-stdin'])
    const warning = `crabtalk: services cannot open the vault: add the line ${name}=… of this shell to ${serviceEnv}, or use --store config\n`
    assert.ok(one.stderr().endsWith(warning), one.stderr())
    await writeFile(serviceEnv, `${name}='${value}'\n`, { mode: 0o600 })
    await run(one, ['anthropic', '--no-check'])
    assert.equal(one.stderr().split(warning).length, 2, 'no second warning')
    assert.doesNotMatch(one.stderr(), /ccc|sk-new/)
  }
})

async function writeProviders({ host }: TestHost, text: string): Promise<void> {
  const { config } = resolvePaths(host)
  await mkdir(dirname(config), { recursive: true })
  await writeFile(config, text)
}

async function readProviders({ host }: TestHost): Promise<unknown> {
  return structuredClone({ ...parse(await readFile(resolvePaths(host).config, 'utf8')) })['providers']
}

async function run({ host }: TestHost, argv: string[]): Promise<void> {
  const [command] = CONNECT_COMMANDS
  const options = parseOptions({ program: 'crabtalk', command: command! }, argv)
  const { path } = command!
  await connectCommand({
    program: 'crabtalk',
    commands: CONNECT_COMMANDS,
    path,
    options,
    host,
    signal: NEVER,
  })
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
}

const NO_LOCK = { async [Symbol.asyncDispose]() {} }
