import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'

const CONFIG = `# my models
model = "big" # the best

[[providers]]
name = "gateway"
kind = "openai-compatible"
base_url = "http://127.0.0.1:9/v1"
api_key = "sk-very-secret-key"
`

async function makeConfig(): Promise<Sandbox & { read(): Promise<string> }> {
  const box = await makeSandbox()
  const path = join(box.home, 'config.toml')
  await mkdir(box.home, { recursive: true })
  await writeFile(path, CONFIG, { mode: 0o600 })
  return { ...box, read: () => readFile(path, 'utf8') }
}

test('config set writes any key, keeps comments and the mode, and config unset removes it', async () => {
  await using box = await makeConfig()
  for (const [key, value] of [
    ['tui.theme', 'dark'],
    ['tui.status', '["agent", "model"]'],
    ['tui.keys.redraw', '["alt+x"]'],
    ['daemon.on_demand', 'false'],
    ['providers.gateway.timeout_ms', '5000'],
  ] as const) {
    const { code, stderr, stdout } = await box.run(['config', 'set', key, value])
    assert.deepEqual([code, stderr, stdout], [0, '', `set ${key}\n`])
  }
  const text = await box.read()
  assert.match(text, /^# my models\nmodel = "big" # the best\n/)
  assert.match(
    text,
    /\n\[tui\]\ntheme = "dark"\nstatus = \["agent", "model"\]\nkeys = \{ redraw = \["alt\+x"\] \}\n/,
  )
  assert.match(text, /timeout_ms = 5000/)
  assert.equal((await stat(join(box.home, 'config.toml'))).mode & 0o777, 0o600)
  assert.equal((await box.run(['config', 'get', 'tui.theme'])).stdout, 'dark\n')
  assert.equal((await box.run(['config', 'unset', 'tui.theme'])).code, 0)
  assert.equal((await box.run(['config', 'get', 'tui.theme'])).stdout, 'auto\n')
})

test('config set refuses a value that is not valid, and changes nothing', async () => {
  await using box = await makeConfig()
  const refused = await box.run(['config', 'set', 'tui.theme', 'drak'])
  assert.notEqual(refused.code, 0)
  assert.match(
    refused.stderr,
    /Cannot change config\.toml: "tui\.theme" must be one of .*\n.*did you mean "dark"\?/,
  )
  assert.notEqual((await box.run(['config', 'set', 'providers.nope.name', 'x'])).code, 0)
  assert.equal(await box.read(), CONFIG)
})

test('config get hides secrets, and - reads a value from standard input', async () => {
  await using box = await makeConfig()
  const set = await box.run(['config', 'set', 'providers.gateway.api_key', '-'], {
    stdin: 'sk-another-key\n',
  })
  assert.deepEqual([set.code, set.stderr], [0, ''])
  assert.match(await box.read(), /api_key = "sk-another-key"/)
  const shown = await box.run(['config', 'get', 'providers.gateway.api_key'])
  assert.equal(shown.stdout, '[secret]\n')
  assert.ok(!(await box.run(['config', 'get', 'providers', '--json'])).stdout.includes('sk-'))
})

test('config edit saves only a file that is valid', async () => {
  await using box = await makeConfig()
  const edit = (script: string) =>
    box.terminal(['config', 'edit'], { env: { EDITOR: `sh -c '${script}' x` } })
  const unchanged = edit('true')
  assert.equal((await unchanged.finished).code, 0)
  assert.match(unchanged.output(), /no changes/)
  const broken = edit('echo "[tui]\ntheme = 1" >> "$1"')
  await broken.shows(/config\.toml:\d+: "tui\.theme" must be one of[\s\S]*Edit again\?/)
  broken.type('n\r')
  assert.equal((await broken.finished).code, 78)
  assert.equal(await box.read(), CONFIG)
  const rejected = join(box.home, 'config.toml.rejected')
  assert.match(broken.output(), /your text is in .*config\.toml\.rejected/)
  assert.equal(await readFile(rejected, 'utf8'), `${CONFIG}[tui]\ntheme = 1\n`)
  assert.equal((await stat(rejected)).mode & 0o777, 0o600)
  const taken = edit(`echo "# mine" >> "$1"; echo "# theirs" >> "${join(box.home, 'config.toml')}"`)
  assert.equal((await taken.finished).code, 1)
  assert.match(taken.output(), /it has changed since[\s\S]*your text is in .*config\.toml\.rejected-2/)
  assert.equal(await readFile(`${rejected}-2`, 'utf8'), `${CONFIG}# mine\n`)
  await writeFile(join(box.home, 'config.toml'), CONFIG)
  const valid = edit('echo "[tui]\nnotify = \\"bell\\"" >> "$1"')
  assert.equal((await valid.finished).code, 0)
  assert.match(await box.read(), /notify = "bell"\n$/)
})

test('config check reports unknown names and conflicts of keys with their lines', async () => {
  await using box = await makeConfig()
  await writeFile(
    join(box.home, 'config.toml'),
    '[tui.keys]\nsubmitt = ["alt+s"]\nundo = ["alt+x"]\nredo = ["alt+x"]\n',
  )
  const { stderr, code } = await box.run(['config', 'check'])
  assert.equal(code, 0)
  assert.match(stderr, /config\.toml:2: unknown action "submitt"\n {2}hint: did you mean "submit"\?/)
  assert.match(stderr, /config\.toml:4: "alt\+x" is also the key of "undo"/)
})
