import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RecordedRequest } from '../support/model-server.ts'
import { assertFailed, lastPrompt, makeTalk, modesUnder, type Talk } from '../support/talk.ts'

test('every send without a sender is its own conversation, private and in its directory', async () => {
  await using talk = await makeNumbered()
  await talk.send(['one'])
  await talk.send(['two'])
  const [first, second, ...more] = await talk.sessions()
  assert.deepEqual(
    [first?.said, second?.said, more],
    [['user: one', 'assistant: 0'], ['user: two', 'assistant: 1'], []],
  )
  for (const session of [first, second]) {
    assert.match(String(session?.header['created_by']), /^sh:[0-9A-Z]{26}$/)
    assert.equal(session?.header['cwd'], talk.cwd)
  }
  assert.deepEqual(userMessages(talk.server.requests[1]), ['two'])
})

test('all files in the home are private, and no temporary file stays', async () => {
  await using talk = await makeNumbered()
  await talk.shell('umask 000; crabtalk send one; crabtalk agent create helper')
  const modes = (await modesUnder(talk.home)).filter((row) => !row.includes(' run/'))
  assert.deepEqual(
    modes.map((row) => row.replace(/[0-9a-f]{16}-[0-9A-Z]{26}/, 'SESSION')),
    [
      '700 agents',
      '600 agents/crab.md',
      '600 agents/crab.toml',
      '600 agents/helper.md',
      '600 agents/helper.toml',
      '600 config.toml',
      '700 run',
      '700 sessions',
      '600 sessions/SESSION.jsonl',
    ],
  )
  assert.deepEqual(
    (await modesUnder(talk.home)).filter((row) => /tmp|run\/proc\/./.test(row)),
    [],
  )
})

test('--sender continues or starts the conversation of that name, byte for byte, from any directory', async () => {
  await using talk = await makeNumbered()
  for (const name of ['me', 'Me', '../me', 'a/b', 'ü', 'u\u0308'])
    await talk.send(['-s', name, `for ${name}`])
  assert.equal((await talk.sessions()).length, 6)
  assertFailed(await talk.send(['-s', 'me ', 'x']), 'usage', {
    message: /starts or ends with a space/,
    hint: /leave/,
  })
  await mkdir(join(talk.cwd, 'elsewhere'))
  await talk.send(['--sender=me', 'again'], { cwd: join(talk.cwd, 'elsewhere') })
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['for me', 'again'])
  assert.equal((await talk.sessions()).length, 6)
})

test('--continue continues the last conversation of this agent in this directory', async () => {
  await using talk = await makeNumbered()
  await mkdir(join(talk.cwd, 'other'))
  const other = { cwd: join(talk.cwd, 'other') }
  assertFailed(await talk.send(['-c', 'hello']), 'missing', {
    message: /^Cannot continue: no conversation of crab in .*work exists$/,
    hint: /leave out the option/,
  })
  await talk.send(['one'])
  await talk.send(['-s', 'me', 'two'])
  await talk.send(['three'], other)
  await talk.run(['agent', 'create', 'helper'])
  await talk.send(['-a', 'helper', 'four'])
  await talk.send(['-c', 'more'])
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['two', 'more'])
  await talk.send(['-c', 'more'], other)
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['three', 'more'])
  await talk.send(['-a', 'helper', '-c', 'more'])
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['four', 'more'])
})

test('--fork continues in a copy and leaves the original unchanged', async () => {
  await using talk = await makeNumbered()
  await talk.send(['-s', 'me', 'one'])
  const [original] = await talk.sessions()
  await talk.send(['-s', 'me', '--fork', 'two'])
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['one', 'two'])
  const [same, copy, ...more] = await talk.sessions()
  assert.deepEqual(same, original)
  assert.deepEqual(copy?.said, ['user: one', 'assistant: 0', 'user: two', 'assistant: 1'])
  assert.ok(original?.path.includes(String(copy?.header['forked_from'])))
  await talk.send(['-c', '--fork', 'three'])
  assert.deepEqual(userMessages(talk.server.requests.at(-1)), ['one', 'two', 'three'])
  assert.deepEqual([more, (await talk.sessions()).length], [[], 3])
})

test('--no-save answers without writing a file in the home, which need not exist', async () => {
  await using talk = await makeNumbered()
  const key = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: talk.server.url }
  const env = { CRABTALK_HOME: join(talk.cwd, 'fresh'), ...key }
  const ways = [[], ['-f', 'secret.txt'], ['--buffer'], ['--max-turns', '3']]
  await writeFile(join(talk.cwd, 'secret.txt'), 'secret')
  for (const [index, args] of ways.entries()) {
    const { stdout, stderr, code } = await talk.send(['--no-save', ...args, 'secret'], { env })
    assert.deepEqual([stdout, stderr, code], [`${index}\n`, '', 0])
  }
  assert.deepEqual(await modesUnder(env.CRABTALK_HOME), [])
  assert.equal((await talk.send(['--no-save', 'secret'])).stdout, '4\n')
  assert.deepEqual(await modesUnder(talk.home), ['600 config.toml'])
})

test('options that name different conversations are rejected together', async () => {
  await using talk = await makeNumbered()
  const combinations: [string[], RegExp][] = [
    [['-s', 'me', '-c'], /^Cannot combine --sender and --continue$/],
    [['-s', 'me', '--no-save'], /^Cannot combine --sender and --no-save$/],
    [['-c', '--no-save'], /^Cannot combine --continue and --no-save$/],
    [['--fork'], /^Cannot fork a conversation that does not exist yet$/],
    [['-s', ''], /^Cannot use an empty --sender$/],
  ]
  for (const [args, message] of combinations)
    assertFailed(await talk.send([...args, 'hello']), 'usage', { message })
  assertFailed(await talk.send(['-s', 'nobody', '--fork', 'hello']), 'missing', {
    message: /named "nobody" exists$/,
  })
  assert.deepEqual([talk.server.requests, await talk.sessions()], [[], []])
})

test('--agent chooses the agent, with its own model and prompt', async () => {
  await using talk = await makeNumbered()
  await talk.run(['agent', 'create', 'poet', '--prompt', 'You rhyme.', '--model', 'verse'])
  await talk.send(['-a', 'poet', 'hello'])
  assert.equal(talk.server.requests[0]?.json['model'], 'verse')
  assert.match(talk.server.requests[0]?.text ?? '', /You rhyme\./)
  assertFailed(await talk.send(['-a', 'peot', 'hello']), 'missing', {
    message: /^Cannot find the agent "peot"$/,
    hint: /did you mean "poet"/,
  })
})

/** Makes a talk that answers with the number of the request. */
function makeNumbered(): Promise<Talk> {
  return makeTalk((_, index) => ({ parts: [String(index)] }))
}

/** Returns the user messages of a request, oldest first. */
function userMessages(request: RecordedRequest | undefined): string[] {
  const messages = (request?.json['messages'] ?? []) as { role: string; content: string }[]
  assert.equal(lastPrompt(request), messages.at(-1)?.content)
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content)
}
