import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed, modesUnder, writeConfig } from '../support/talk.ts'

const CONFIG = `model = "fast"

[[providers]]
name = "main"
kind = "anthropic"
api_key = "sk-s3cr3t-0123456789"
models = ["fast", { name = "slow", context = 1000, input_usd = 1, output_usd = 2 }]
timeout_ms = 5000

[env]
TOKEN = "also-s3cr3t"
`

test('config path prints where the file is, whether it exists or not', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['config', 'path'])
  assert.deepEqual([stdout, stderr, code], [`${join(box.home, 'config.toml')}\n`, '', 0])
  const { stdout: byDefault } = await box.run(['config', 'path'], { env: { CRABTALK_HOME: undefined } })
  assert.equal(byDefault, `${join(box.env['HOME']!, '.crabtalk/config.toml')}\n`)
  assert.deepEqual(await modesUnder(box.home), [])
})

test('config show prints the active configuration as TOML, or as JSON with the keys of the file, without secrets', async () => {
  await using box = await makeSandbox()
  await writeConfig(box.home, CONFIG)
  const toml = await box.run(['config', 'show'])
  assert.deepEqual([toml.stderr, toml.code], ['', 0])
  const json = await box.run(['config', 'show', '--json'])
  for (const { stdout } of [toml, json]) assert.ok(stdout.includes('[secret]') && !stdout.includes('s3cr3t'))
  const shown = JSON.parse(json.stdout)
  assert.equal(shown.model, 'fast')
  const [{ where, ...provider }] = shown.providers
  assert.equal(where, 'config.toml:3')
  const inToml = { ...shown, providers: [provider] }
  assert.deepEqual(JSON.parse(JSON.stringify(parse(toml.stdout))), inToml)
  assert.deepEqual(provider, {
    name: 'main',
    kind: 'anthropic',
    api_key: '[secret]',
    models: [{ name: 'fast' }, { name: 'slow', context: 1000, input_usd: 1, output_usd: 2 }],
    timeout_ms: 5000,
  })
  assert.deepEqual(Object.keys(shown.env), ['TOKEN'])
})

test('config show without a file prints the defaults', async () => {
  await using box = await makeSandbox()
  const { stdout, code } = await box.run(['config', 'show', '--json'])
  const { providers, model, daemon } = JSON.parse(stdout)
  assert.deepEqual([code, providers, model, daemon.on_demand], [0, [], null, true])
})

test('config check reports every problem of the configuration and the agents with file and line', async () => {
  await using box = await makeSandbox()
  const fine = await box.run(['config', 'check'])
  assert.deepEqual([fine.stdout, fine.stderr, fine.code], ['no problems\n', '', 0])
  await box.run(['agent', 'create', 'one'])
  await writeConfig(box.home, '[llm]\nmodle = "x"\nbase_url = "nowhere"\n')
  await writeFile(join(box.home, 'agents/one.toml'), '# mine\nmax_iterations = "many"\n')
  const { stdout, stderr, code } = await box.run(['config', 'check'])
  assert.deepEqual([stderr, code], ['', 78])
  assert.match(stdout, /^config\.toml:2: unknown key "llm\.modle"\n {2}hint: did you mean "model"\?$/m)
  assert.match(stdout, /^config\.toml:3: "llm\.base_url" must be an http:\/\/ or https:\/\/ address$/m)
  assert.match(stdout, /^agents\/one\.toml:2: "max_iterations" must be a number, not a string$/m)
  const json = await box.run(['config', 'check', '--json'])
  const problems: { file: string; line: number }[] = JSON.parse(json.stdout)
  assert.deepEqual(problems.map(({ file, line }) => `${file}:${line}`).toSorted(), [
    'agents/one.toml:2',
    'config.toml:2',
    'config.toml:3',
  ])
  assert.equal(json.code, 78)
  const shown = await box.run(['config', 'show'])
  assert.match(
    shown.stderr,
    /^crabtalk: error\[config\]: config\.toml:2: .*\nconfig\.toml:3: .*\n(hint: .*\n)?$/,
  )
  assert.deepEqual([shown.stdout, shown.code], ['', 78])
})

test('groups and their commands have help, and wrong names suggest the nearest', async () => {
  await using box = await makeSandbox()
  for (const group of ['agent', 'conversation', 'config']) {
    const alone = await box.run([group])
    assertFailed(alone, 'usage', {
      message: new RegExp(`^Cannot run "crabtalk ${group}" alone: name one of `),
      hint: /--help$/,
    })
    assert.match(
      (await box.run([group, '--help'])).stdout,
      new RegExp(`^Usage: crabtalk ${group} <command>`, 'm'),
    )
  }
  assertFailed(await box.run(['config', 'shwo']), 'usage', {
    message: /^Unknown command "config shwo"$/,
    hint: /config show/,
  })
  assertFailed(await box.run(['conversation', 'lst']), 'usage', { message: /./, hint: /conversation list/ })
  assertFailed(await box.run(['agent', 'list', '--jsn']), 'usage', { message: /--jsn$/, hint: /--json\?$/ })
  assertFailed(await box.run(['config', 'path', 'more']), 'usage', {
    message: /it takes no/,
    hint: /crabtalk config path$/,
  })
  for (const words of [
    ['agent', 'create'],
    ['conversation', 'export'],
    ['config', 'check'],
  ]) {
    assert.match((await box.run([...words, '--help'])).stdout, /\nExamples:\n {2}/)
  }
})

test('config check reports the problems of config/crons.toml, and cron list exits with 78 as well', async () => {
  await using box = await makeSandbox()
  await mkdir(join(box.home, 'config'), { recursive: true })
  const file = join(box.home, 'config/crons.toml')
  const entry = '[[cron]]\nid = 1\nschedule = "often"\ncontent = "x"\nagent = "crab"\n'
  for (const [text, place] of [
    [entry, 'config/crons.toml:3: "schedule" is invalid'],
    ['[[cron]\n', 'config/crons.toml:1:8: not valid TOML'],
  ] as const) {
    await writeFile(file, text)
    const check = await box.run(['config', 'check'])
    assert.deepEqual([check.code, check.stdout.startsWith(place)], [78, true], check.stdout)
    const list = await box.run(['cron', 'list'])
    assert.deepEqual([list.code, list.stderr.includes(place)], [78, true], list.stderr)
  }
})
