import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModelServer } from '../support/model-server.ts'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed, modesUnder, readSessions, writeConfig } from '../support/talk.ts'

const NOTICE =
  /^crabtalk: No model connected\. Answers come from the built-in demo\. Connect one: crabtalk connect\n$/

test('on a fresh machine the demo answers, streams, calls a real tool, and introduces itself once', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['send', 'What can you do?'])
  assert.equal(code, 0)
  assert.match(stdout, /^I am crabtalk's demo model/)
  assert.match(stderr, NOTICE)
  const reads = await box.shell('printf "one\\ntwo\\n" >notes.txt; crabtalk send -v "Please read notes.txt"')
  assert.match(reads.stdout, /^I called read and got 2 lines back:\none\ntwo\n$/)
  assert.match(reads.stderr, /^crabtalk: No model connected[^\n]*\n✓ read notes\.txt · \d+ ms\n$/)
  const quiet = await box.run(['send', '-q', 'hello'])
  assert.equal(quiet.stderr, '')
  assert.equal((await box.run(['send', '-q', 'hello'])).stdout, quiet.stdout)
})

test('config.toml comes before the environment, and the environment before the demo', async () => {
  await using box = await makeSandbox()
  await using configured = await startModelServer(() => ({ parts: ['configured'] }))
  await using keyed = await startModelServer(() => ({ parts: ['keyed'] }))
  const keys = [
    { ANTHROPIC_API_KEY: 'sk-a', ANTHROPIC_BASE_URL: keyed.url },
    { OPENAI_API_KEY: 'sk-o', OPENAI_BASE_URL: keyed.url, OPENAI_MODEL: '' },
    { GEMINI_API_KEY: 'sk-g', GEMINI_BASE_URL: keyed.url },
    { GOOGLE_API_KEY: 'sk-g', GEMINI_BASE_URL: keyed.url },
    { OPENROUTER_API_KEY: 'sk-r', OPENROUTER_BASE_URL: keyed.url },
    { GROQ_API_KEY: 'sk-q', GROQ_BASE_URL: keyed.url },
    { MISTRAL_API_KEY: 'sk-m', MISTRAL_BASE_URL: keyed.url },
    { XAI_API_KEY: 'sk-x', XAI_BASE_URL: keyed.url },
    { DEEPSEEK_API_KEY: 'sk-d', DEEPSEEK_BASE_URL: keyed.url },
  ]
  for (const env of keys) {
    const { stdout, stderr } = await box.run(['send', 'hello'], { env })
    assert.deepEqual([stdout, stderr], ['keyed\n', ''], JSON.stringify(env))
    const { headers, path } = keyed.requests.at(-1) ?? assert.fail()
    const key = Object.values(env)[0]
    const shown = headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.slice(7)
    assert.equal(shown, key, path)
  }
  await writeConfig(box.home, `[llm]\nbase_url = "${configured.url}"\nmodel = "scripted"\n`)
  assert.equal((await box.run(['send', 'hello'], { env: keys[0]! })).stdout, 'configured\n')
  await writeConfig(box.home, '# nothing yet\n')
  assert.match((await box.run(['send', 'hello'])).stderr, NOTICE)
})

test('a server without a model name is asked for its models, and the first one answers', async () => {
  await using box = await makeSandbox()
  await using server = await startModelServer(() => ({ parts: ['ok'] }), { models: ['first', 'second'] })
  await writeConfig(box.home, `[llm]\nbase_url = "${server.url}"\n`)
  assert.equal((await box.run(['send', 'hello'])).stdout, 'ok\n')
  assert.equal(server.requests[0]?.json['model'], 'first')
})

test('--model with an unknown model exits 78 and suggests the nearest', async () => {
  await using box = await makeSandbox()
  const models =
    '[[providers]]\nname = "x"\nkind = "openai-compatible"\nbase_url = "http://127.0.0.1:1"\nmodels = ["claude", "gpt"]\n'
  await writeConfig(box.home, models)
  assertFailed(await box.run(['send', '-m', 'cluade', 'hello']), 'config', {
    message: /^Cannot find model "cluade"/,
    hint: /did you mean "claude"\?$/,
  })
  assertFailed(
    await box.run(['send', '-m', 'nosuch', 'hello'], { env: { CRABTALK_HOME: `${box.home}2` } }),
    'config',
    {
      message: /^Cannot find model "nosuch"/,
      hint: /ANTHROPIC_API_KEY/,
    },
  )
  assert.deepEqual(await readSessions(box.home), [])
})

test('a malformed config.toml exits 78 with file and line, and nothing is sent or stored', async () => {
  await using box = await makeSandbox()
  const wrong: [string, RegExp, RegExp?][] = [
    ['[llm]\nmodle = "x"\n', /^config\.toml:2: unknown key "llm\.modle"$/, /did you mean "model"\?$/],
    ['[llm\n', /^config\.toml:1:\d+: not valid TOML: /],
    ['\n\n[llm]\nmodel = 5\n', /^config\.toml:4: "llm\.model" must be a string, not a number$/],
    [
      '[[providers]]\nname = "a"\nkind = "opnai"\n',
      /^config\.toml:3: "providers\[0\]\.kind" must be one of /,
    ],
  ]
  for (const [text, message, hint] of wrong) {
    await writeConfig(box.home, text)
    assertFailed(await box.run(['send', 'hello']), 'config', { message, ...(hint && { hint }) })
  }
  assert.deepEqual(await readSessions(box.home), [])
})

test("a home with another program's layout is named with a hint, and left unchanged", async () => {
  await using box = await makeSandbox()
  const { stdout: before } = await box.shell(
    'mkdir -p "$CRABTALK_HOME/local/agents"; echo "[provider]" >"$CRABTALK_HOME/Crab.toml"; find "$CRABTALK_HOME" | sort',
  )
  for (const args of [
    ['send', 'hello'],
    ['agent', 'list'],
    ['conversation', 'list'],
    ['config', 'show'],
  ]) {
    const finished = await box.run(args)
    assertFailed(finished, 'config', { message: /./, hint: /./ })
  }
  const { stdout: after } = await box.shell('find "$CRABTALK_HOME" | sort')
  assert.equal(after, before)
  assert.equal((await modesUnder(box.home)).length, 3)
})
