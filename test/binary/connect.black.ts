import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'smol-toml'
import { followTerminal, type Session } from '../support/chat-session.ts'
import { findDeadPort, startKeyServer } from '../support/key-server.ts'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { startSandboxDaemon, WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed, makeTalk, writeConfig } from '../support/talk.ts'

const KEY = 'sk-good-key-0123456789'
const MODELS = ['claude-haiku-4-5', 'claude-sonnet-5-5', 'other-1']

test('connect reads a key from a pipe, tries it, and answers from then on', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY, { models: MODELS })
  await writeConfig(box.home, '# mine\n\n[daemon]\non_demand = false # kept\n')
  const env = { ANTHROPIC_BASE_URL: server.url }
  const wrong = await box.run(['connect', 'anthropic', '--key-stdin'], {
    stdin: 'sk-wrong-key-1111111\n',
    env,
  })
  assertFailed(wrong, 'credentials', {
    message: /^Cannot connect Anthropic: the key was refused: invalid x-api-key \(401\)$/,
    hint: /^hint: check the key/,
  })
  assert.equal(
    await readFile(join(box.home, 'config.toml'), 'utf8'),
    '# mine\n\n[daemon]\non_demand = false # kept\n',
  )
  const connected = await box.run(['connect', 'anthropic', '--key-stdin', '--json'], {
    stdin: `${KEY}\n`,
    env,
  })
  assert.equal(connected.code, 0, connected.stderr)
  assert.deepEqual(JSON.parse(connected.stdout), {
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    key: 'vault',
    checked: true,
    config: join(box.home, 'config.toml'),
  })
  assert.equal((await stat(join(box.home, 'config.toml'))).mode & 0o777, 0o600)
  assert.match(
    await readFile(join(box.home, 'config.toml'), 'utf8'),
    /key_helper = \["crabtalk", "vault", "key", "anthropic"\]/,
  )
  assert.match(
    await readFile(join(box.home, 'config.toml'), 'utf8'),
    /^# mine\n[\s\S]*on_demand = false # kept/,
  )
  assert.equal((await box.run(['send', 'hi'])).stdout, 'hello from the model\n')
  assert.deepEqual(await findKey(box, KEY), [])
  assert.doesNotMatch(connected.stdout + connected.stderr + wrong.stderr, /sk-good|sk-wrong/)
})

test('connect names what is wrong by its exit code, and writes nothing', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY, { models: MODELS })
  const dead = `http://127.0.0.1:${await findDeadPort()}`
  const run = (args: readonly string[], stdin = '') => box.run(['connect', ...args], { stdin })
  assertFailed(await run([]), 'usage', { message: /no provider is named/, hint: /--key-stdin$/ })
  assertFailed(await run(['antropic']), 'usage', { message: /"antropic"/, hint: /anthropic/ })
  assertFailed(await run(['openai']), 'credentials', { message: /no key is given$/, hint: /OPENAI_API_KEY/ })
  assertFailed(await run(['openai', '--key-stdin']), 'credentials', { message: /standard input is empty$/ })
  assertFailed(await run(['--base-url', dead]), 'unavailable', {
    message: /connection refused$/,
    hint: /address$/,
  })
  const unknown = ['--base-url', server.url, '--key-stdin', '--model', 'other-2']
  assertFailed(await run(unknown, KEY), 'missing', { message: /does not list it$/, hint: /other-1/ })
  assertFailed(await run(['openai', '--key', KEY]), 'usage', { message: /--key/, hint: /--key-stdin/ })
  assert.equal(existsSync(join(box.home, 'config.toml')), false)
  const saved = await run(
    ['--base-url', `${server.url}/`, '--key-stdin', '--model', 'other-2', '--no-check'],
    KEY,
  )
  assert.match(saved.stdout, /^Saved without a check: http/)
  assert.equal((await box.run(['send', 'hi'])).stdout, 'hello from the model\n')
})

test('connect asks on a terminal, hides the key, and asks again after a wrong one', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY, { models: MODELS })
  const terminal = box.terminal(['connect'], { env: { ANTHROPIC_BASE_URL: server.url } })
  await terminal.shows(/Number: /)
  terminal.type('1\r')
  await terminal.shows(/Key for Anthropic \(not shown\): /)
  terminal.type('sk-wrong-key-1111111\r')
  await terminal.shows(/the key was refused[\s\S]*Enter tries again, s saves it anyway: /)
  terminal.type('\r')
  await terminal.shows(/anyway: [\s\S]*Key for Anthropic/)
  terminal.type(`${KEY}\r`)
  await terminal.shows(/Model \[claude-sonnet-5-5\]: /)
  terminal.type('claude-haiku-4-5\r')
  assert.equal((await terminal.finished).code, 0, terminal.output())
  assert.match(terminal.output(), /Connected Anthropic, default model claude-haiku-4-5/)
  assert.doesNotMatch(terminal.output(), /sk-/)
  const again = box.terminal(['connect', 'anthropic'])
  await again.shows(/Key for Anthropic \(not shown; Enter keeps the one it has\): /)
  again.type('\r')
  assert.equal((await again.finished).code, 0, again.output())
  assert.match(again.output(), /Connected anthropic \(.*config\.toml, the key in the vault\)/)
  assert.equal(server.requests.at(-1)?.key, KEY)
})

test('the first start of the chat offers to connect, and /connect leads from an empty home to an answer', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY, { models: MODELS })
  const env = { ANTHROPIC_BASE_URL: server.url, TERM: 'xterm-256color' }
  await using chat = followTerminal(box.terminal([], { env }), {})
  await chat.shows('No model yet. Connect one:')
  await chat.shows('or just type')
  chat.press('enter')
  await chat.shows('Key for Anthropic:')
  chat.paste(`${KEY}x\n`)
  await chat.shows('•••')
  chat.press('enter')
  await chat.shows('the key was refused')
  chat.press('enter')
  await chat.shows('Key for Anthropic:')
  chat.type(KEY)
  chat.press('enter')
  await chat.shows('Model of Anthropic:')
  chat.press('enter')
  await chat.shows('Connected Anthropic. Model: claude-sonnet-5-5')
  await say(chat, 'hello')
  await chat.shows('hello from the model')
  await chat.shows(/crab · claude-sonnet-5-5 ·/)
  await chat.shows('> Ask anything')
  chat.press('ctrl+d')
  await chat.finished
  assert.doesNotMatch(chat.bytes(), /sk-good/)
  assert.deepEqual(await findKey(box, KEY), [])
  assert.equal((await stat(join(box.home, 'config.toml'))).mode & 0o777, 0o600)
})

test('/connect replaces the key of a connected provider, and stores what its list says', async () => {
  await using box = await makeSandbox()
  await using server = await startKeyServer(KEY, { contexts: { 'large-1': 64_000, 'small-1': 8_000 } })
  await using chat = followTerminal(box.terminal([], { env: { TERM: 'xterm-256color' } }), {})
  await chat.shows('or just type')
  chat.press('esc')
  await chat.shows('> Ask anything')
  await say(chat, '/connect other')
  await chat.shows('Address of')
  chat.type(`127.0.0.1:${server.port}\r`)
  await chat.shows('Key for OpenAI-compatible server:')
  chat.paste(KEY)
  chat.press('enter')
  await chat.shows('Model of OpenAI-compatible server:')
  chat.press('down')
  await chat.shows('› large-1')
  chat.press('enter')
  await chat.shows('Model: large-1')
  const file = join(box.home, 'config.toml')
  const saved = await readFile(file, 'utf8')
  assert.match(saved, /context = \{ large-1 = 64000 \}/)
  assert.ok(saved.includes(`base_url = "http://127.0.0.1:${server.port}"`))
  const plain = saved.replace(/key_helper = .*/, 'api_key = "sk-wrong-key-1111111"')
  assert.notEqual(plain, saved)
  await writeFile(file, plain)
  await say(chat, 'hello')
  await chat.shows(/invalid x-api-key/)
  await say(chat, '/connect')
  await chat.shows(/› 1 {2}127\.0\.0\.1-\d+: replace the key +in config\.toml · http/)
  chat.press('enter')
  await chat.shows(/Key for 127\.0\.0\.1-\d+:/)
  chat.paste(KEY)
  chat.press('enter')
  await chat.shows(/Replaced the key of 127\.0\.0\.1-\d+/)
  await chat.shows(/the key in the vault/)
  assert.deepEqual(parse(await readFile(file, 'utf8')), parse(saved))
  await say(chat, 'hello again')
  await chat.shows('hello from the model')
  const name = `127.0.0.1-${server.port}`
  const refused = await box.run(['connect', name, '--key-stdin'], { stdin: 'sk-wrong-key-2222222' })
  assertFailed(refused, 'credentials', { message: /the key was refused/ })
  const renewed = await box.run(['connect', name, '--key-stdin'], { stdin: KEY })
  assert.match(renewed.stdout, new RegExp(`^Connected ${name} \\(`))
  assert.deepEqual(parse(await readFile(file, 'utf8')), parse(saved))
  assert.equal((await box.run(['model', 'use', 'small-1'])).code, 0)
  assert.match(await readFile(file, 'utf8'), /context = \{ large-1 = 64000, small-1 = 8000 \}/)
})

test('text typed while the offer is open goes into the prompt, and the offer comes once', async () => {
  await using box = await makeSandbox()
  const env = { TERM: 'xterm-256color' }
  await using chat = followTerminal(box.terminal([], { env }), {})
  await chat.shows('or just type')
  await chat.shows((screen) => screen.lines().some((line) => line.startsWith('› 1')))
  for (const letter of '2 words') chat.type(letter)
  await chat.shows('> 2 words')
  chat.press('enter')
  await chat.shows('No model connected. Answers come from the built-in demo. Connect one: /connect')
  await chat.shows('I received 2 words')
  await chat.shows('> Ask anything')
  chat.press('ctrl+d')
  await chat.finished
  await using again = followTerminal(box.terminal([], { env }), {})
  await again.shows(/crab · demo ·/)
  await say(again, 'hello')
  await again.shows('I received 1 word')
  assert.doesNotMatch(again.screen.text().join('\n'), /No model yet/)
})

test('/connect can be left at every step, and saves an unreachable server only on request', async () => {
  await using box = await makeSandbox()
  const dead = `http://127.0.0.1:${await findDeadPort()}`
  await writeConfig(box.home, 'model = "demo"\n')
  await using chat = followTerminal(box.terminal([], { env: { TERM: 'xterm-256color' } }), {})
  await chat.shows(/crab · demo ·/)
  await say(chat, '/connect other')
  await chat.shows('Address of OpenAI-compatible server:')
  chat.press('esc')
  await chat.shows('> Ask anything')
  await say(chat, '/connect other')
  await chat.shows('Address of')
  chat.type('gateway')
  chat.press('enter')
  await chat.shows('That is not an http address')
  await chat.shows('Address of OpenAI-compatible server: gateway')
  chat.press('ctrl+u')
  await chat.shows((screen) => !screen.text().includes('That is not an http address'))
  chat.type(dead.replace('http://', ''))
  chat.press('enter')
  await chat.shows('Key for OpenAI-compatible server:')
  chat.press('enter')
  await chat.shows(/connection refused/)
  assert.equal(await readFile(join(box.home, 'config.toml'), 'utf8'), 'model = "demo"\n')
  chat.type('4')
  await chat.shows('› 4  Save anyway')
  chat.press('enter')
  await chat.shows('Model of OpenAI-compatible server:')
  chat.type('local-1')
  chat.press('enter')
  await chat.shows('Connected')
  assert.match(await readFile(join(box.home, 'config.toml'), 'utf8'), /^model = "local-1"$/m)
})

test('a running daemon uses a new connection for the next message; Esc cancels a server that never answers', async () => {
  await using box = await makeSandbox()
  await using _daemon = await startSandboxDaemon(box)
  await using silent = await startKeyServer(KEY, { mood: 'silent' })
  await using server = await startKeyServer(KEY, { models: ['only-1'] })
  const env = { ...WITH_DAEMON, TERM: 'xterm-256color' }
  await using chat = followTerminal(box.terminal([], { env }), {})
  await chat.shows('or just type')
  chat.press('esc')
  await chat.shows('> Ask anything')
  await say(chat, '/connect other')
  await chat.shows('Address of')
  chat.type(silent.url)
  chat.press('enter')
  await chat.shows('Key for')
  chat.press('enter')
  await chat.shows('Trying http')
  chat.press('esc')
  await chat.shows('> Ask anything')
  await say(chat, '/connect other')
  await chat.shows('Address of')
  chat.type(server.url)
  chat.press('enter')
  await chat.shows('Key for')
  chat.type(KEY)
  chat.press('enter')
  await chat.shows('Model of')
  chat.press('enter')
  await chat.shows('Connected OpenAI-compatible server. Model: only-1')
  await say(chat, 'hello')
  await chat.shows('hello from the model')
  assert.deepEqual(await findKey(box, KEY), [])
})

test('model list and model use show and set models and effort, which send and chat can override', async () => {
  await using talk = await makeTalk(
    () => ({ parts: ['ok'] }),
    (url) => `[[providers]]
name = "test"
kind = "openai"
base_url = "${url}"
models = ["gpt-6-sol", "plain-1"]
`,
  )
  const sent = () => talk.server.requests.at(-1)?.json['reasoning_effort']
  const used = await talk.run(['model', 'use', 'gpt-6-sol', '--effort', 'high'])
  assert.deepEqual([used.stdout, used.code], ['default: gpt-6-sol, effort high\n', 0])
  const { stdout } = await talk.run(['model', 'list'])
  assert.match(stdout, /^gpt-6-sol \* +test +1050000 +2 +10 +low medium high xhigh max +-$/m)
  const [first] = JSON.parse((await talk.run(['model', 'list', '--json'])).stdout)
  assert.deepEqual([first.name, first.default, first.efforts.length], ['gpt-6-sol', true, 5])
  await talk.send(['--tools', 'none', 'hi'])
  assert.equal(sent(), 'high')
  await talk.send(['--tools', 'none', '--effort', 'low', 'hi'])
  assert.equal(sent(), 'low')
  await talk.run(['model', 'use', '--agent', 'crab', '--effort', 'medium'])
  await talk.send(['--tools', 'none', 'hi'])
  assert.equal(sent(), 'medium')
  await talk.send(['--tools', 'none', '-m', 'plain-1', 'hi'])
  assert.equal(sent(), undefined, 'a model without known levels gets none by itself')
  await talk.run(['model', 'use', '--agent', 'crab', '--effort', 'default'])
  await talk.run(['model', 'use', '--effort', 'default'])
  await talk.send(['--tools', 'none', 'hi'])
  assert.equal(sent(), undefined)
  assertFailed(await talk.run(['model', 'use', 'gpt-7']), 'missing', {
    message: /"gpt-7"/,
    hint: /gpt-6-sol/,
  })
  assertFailed(await talk.run(['model', 'use']), 'usage', {
    message: /neither a name nor --effort/,
    hint: /model list/,
  })
  assertFailed(await talk.send(['--effort', 'much', 'hi']), 'usage', { message: /effort/, hint: /./ })
})

/** Sends a line of the chat. */
async function say(chat: Session, line: string): Promise<void> {
  chat.type(line)
  await chat.shows(`> ${line}`)
  chat.press('enter')
}

/** Returns the files of a home that contain a text, by their paths in it. */
async function findKey({ home }: Pick<Sandbox, 'home'>, text: string): Promise<string[]> {
  const names = await readdir(home, { recursive: true, withFileTypes: true })
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const found = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)))
  return files.filter((_, at) => found[at]).map((file) => file.slice(home.length + 1))
}
