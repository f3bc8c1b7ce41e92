import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { startKeyServer } from '../support/key-server.ts'
import { readOtherFiles } from '../support/planted-secrets.ts'
import { makeSandbox, type RunOptions, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, writeConfig } from '../support/talk.ts'

const KEY = 'sk-planted-key-0123456789'
const NEXT = 'sk-planted-next-9876543210'
const NO_VAULT = { CRABTALK_VAULT_KEY_HELPER: 'false' }

test('connect moves a key of config.toml into the vault, and keeps everything else', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY)
  const before = configWith(server.url, `api_key = "${KEY}" # mine`)
  await writeConfig(box.home, before)
  const shown = await box.run(['model', 'list'])
  assert.match(shown.stdout, /^small-1 \* .* config\.toml:4$/m)
  const moved = await box.run(['connect', 'work', '--json'])
  assert.equal(moved.code, 0, moved.stderr)
  assert.deepEqual([JSON.parse(moved.stdout).key, JSON.parse(moved.stdout).model], ['vault', null])
  assert.match(moved.stderr, /^crabtalk: created .*vault; its key is /)
  assert.match(moved.stderr, /the key of work is in the vault now, and no longer in config\.toml\n/)
  const text = await readConfig(box)
  assert.match(text, /^# top\nmodel = "small-1"\n/)
  assert.match(text, /timeout_ms = 20000 # patient\n[\s\S]*\n\[daemon\]\non_demand = false # kept\n$/)
  const [provider] = parse(text)['providers'] as Record<string, unknown>[]
  assert.deepEqual(provider?.['key_helper'], ['crabtalk', 'vault', 'key', 'work'])
  assert.equal((await box.run(['send', 'hi'])).stdout, 'hello from the model\n')
  const again = await box.run(['connect', 'work'])
  assert.deepEqual([again.code, again.stderr], [0, ''])
  assert.equal(await readConfig(box), text)
  const list = await box.run(['model', 'list', '--json'])
  assert.deepEqual(JSON.parse(list.stdout)[0].key, 'the vault')
  assert.match((await box.run(['doctor'])).stdout, /small-1 from provider work .*; its key is from the vault/)
  await assertHidden(box, [moved, again, list])
})

test('connect stores a key in config.toml where it must, and says so', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY)
  const connect = (more: readonly string[], env: RunOptions['env'] = {}) =>
    box.run(['connect', '--base-url', server.url, '--key-stdin', ...more], { stdin: KEY, env })
  const refused = await connect(['--store', 'vault'], NO_VAULT)
  assertFailed(refused, 'credentials', { message: /CRABTALK_VAULT_KEY_HELPER exited with code 1$/ })
  await assert.rejects(readConfig(box), { code: 'ENOENT' })
  const plain = await connect([], NO_VAULT)
  assert.equal(plain.code, 0, plain.stderr)
  assert.match(plain.stderr, /^crabtalk: the key is stored in config\.toml: cannot get the key of .*\n$/)
  assert.match(await readConfig(box), /api_key = "sk-planted/)
  assert.equal((await box.run(['send', 'hi'])).stdout, 'hello from the model\n')
  await connect(['--store', 'vault'])
  assert.doesNotMatch(await readConfig(box), /sk-planted/)
  const chosen = await connect(['--store', 'config'])
  assert.deepEqual([chosen.code, chosen.stderr], [0, ''])
  assert.match(await readConfig(box), /api_key = "sk-planted/)
  assert.doesNotMatch(await readConfig(box), /key_helper/)
  await writeConfig(box.home, 'broken')
  const name = ['127.0.0.1', new URL(server.url).port].join('-')
  const before = await box.run(['vault', 'key', name])
  const lost = await connect(['--store', 'vault', '--no-check'])
  assert.equal(lost.code, 78, lost.stderr)
  assert.equal((await box.run(['vault', 'key', name])).stdout, before.stdout)
  await box.run(['vault', 'remove', `provider:${name}`])
  assert.equal((await connect(['--store', 'vault', '--no-check'])).code, 78)
  assert.equal((await box.run(['vault', 'list', '--json'])).stdout, '[]\n')
  await writeConfig(box.home, configWith(server.url, `api_key = "${KEY}"\nkey_helper = ["pass", "x"]`))
  const { stdout } = await box.run(['config', 'check'])
  assert.match(stdout, /config\.toml:\d+: .*key_helper.* cannot be combined with api_key/)
})

test('a daemon runs key helpers, again after a refusal, and after the user has stored another key', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY)
  const key = join(box.cwd, 'key')
  const helper = ['/bin/sh', '-c', `printf x >>'${key}.runs'; cat '${key}'`]
  await writeFile(key, `${KEY}\n`)
  const text = configWith(server.url, `key_helper = ${JSON.stringify(helper)}`)
  const other = `[[providers]]\nname = "home"\nkind = "openai-compatible"\nbase_url = "${server.url}"\napi_key = "x"\n`
  await writeConfig(box.home, `${text}\n${other}models = ["large-1"]\n`)
  await box.run(['connect', 'home', '--key-stdin', '--no-check'], { stdin: KEY })
  const outputs: { stdout: string; stderr: string }[] = []
  {
    await using _daemon = await startSandboxDaemon(box)
    const send = async (model: string) => {
      const sent = await box.run(['send', '-m', model, 'hi', '--output', 'stream-json'], { env: WITH_DAEMON })
      outputs.push(sent)
      assert.equal(sent.code, 0, sent.stdout + sent.stderr)
      return server.requests.at(-1)?.key
    }
    const runs = async () => (await readFile(`${key}.runs`, 'utf8')).length
    assert.deepEqual([await send('small-1'), await send('home/large-1')], [KEY, KEY])
    await send('small-1')
    assert.equal(await runs(), 1)
    server.accept(NEXT)
    await writeFile(key, NEXT)
    assert.deepEqual([await send('small-1'), await runs()], [NEXT, 2])
    const stored = await box.run(['connect', 'home', '--key-stdin', '--no-check'], { stdin: NEXT })
    const before = server.requests.length
    assert.equal(await send('home/large-1'), NEXT)
    assert.equal(server.requests.slice(before).filter((one) => one.key === KEY).length, 0)
    outputs.push(stored, { stdout: await readCommandLines(), stderr: '' })
    for (const words of [
      ['config', 'show', '--json'],
      ['model', 'list', '--json'],
      ['doctor', '--deep', '--json'],
      ['events', 'list', '--json'],
      ['vault', 'list', '--json'],
      ['vault', 'status', '--json'],
      ['daemon', 'status', '--json'],
      ['conversation', 'list', '--json'],
    ])
      outputs.push(await box.run(words, { env: WITH_DAEMON }))
    await box.run(['vault', 'remove', 'provider:home'])
    const lost = await box.run(['send', '-m', 'home/large-1', 'hi'], { env: WITH_DAEMON })
    assertFailed(lost, 'credentials', {
      message:
        /^Cannot use provider "home" \(config\.toml:\d+\): its key helper failed: .*Cannot find the key of home/,
      hint: /crabtalk connect home$/,
    })
  }
  await assertHidden(box, outputs)
})

/** Returns a configuration with comments, and a provider with these lines. */
function configWith(url: string, key: string): string {
  return `# top
model = "small-1"

[[providers]]
name = "work"
kind = "openai-compatible"
base_url = "${url}"
models = ["small-1"]
${key}
timeout_ms = 20000 # patient

[daemon]
on_demand = false # kept
`
}

function readConfig({ home }: Sandbox): Promise<string> {
  return readFile(join(home, 'config.toml'), 'utf8')
}

/** Asserts that no key is in an output or in a file of the home, except the encrypted vault. */
async function assertHidden(
  box: Sandbox,
  outputs: readonly { stdout: string; stderr: string }[],
): Promise<void> {
  const files = await readOtherFiles(box.home)
  const all = [
    ...files.flat(),
    await readConfig(box),
    ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr]),
  ]
  assert.deepEqual(
    all.filter((text) => /sk-planted/.test(text)),
    [],
  )
}

/** Reads the command lines of all processes of the machine. */
async function readCommandLines(): Promise<string> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')), // it has ended
  )
  return lines.join('\n')
}
