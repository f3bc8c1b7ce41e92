import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSandbox, type Sandbox } from '../support/run-binary.ts'
import { assertFailed, makeTalk, modesUnder } from '../support/talk.ts'

test('agent list creates the default agent, and prints a table in a pipe and on a terminal, or JSON', async () => {
  await using box = await makeSandbox()
  const { stdout, stderr, code } = await box.run(['agent', 'list'])
  assert.deepEqual([stderr, code], ['', 0])
  assert.match(
    stdout,
    /^NAME +MODEL +TOOLS +MCP +DESCRIPTION\ncrab +\(default\) +all +none +A capable local assistant\n$/,
  )
  const narrow = box.terminal(['agent', 'list'], { columns: 30 })
  assert.deepEqual(await narrow.finished, { code: 0, signal: 0 })
  assert.match(narrow.output(), /^NAME.{25}…\r\ncrab.{25}…\r\n$/)
  const [agent, ...more] = await listed(box)
  assert.deepEqual([agent?.['name'], agent?.['max_iterations'], more], ['crab', 100, []])
})

test('agent create writes two private files, and agent show prints their content', async () => {
  await using box = await makeSandbox()
  const options = [
    '--description',
    'Reads.',
    '--model',
    'm-1',
    '--prompt',
    'You review.',
    '--set',
    'max_iterations=3',
  ]
  const { stdout, stderr, code } = await box.run(['agent', 'create', 'reviewer', ...options])
  assert.deepEqual([stdout, stderr, code], ['created reviewer\n', '', 0])
  const made = (await modesUnder(box.home)).filter((row) => row.includes('agents'))
  assert.deepEqual(made, ['700 agents', '600 agents/reviewer.md', '600 agents/reviewer.toml'])
  const agent = JSON.parse((await box.run(['agent', 'show', 'reviewer', '--json'])).stdout)
  assert.match(agent.id, /^[0-9A-Z]{26}$/)
  assert.deepEqual(
    [agent.description, agent.model, agent.prompt, agent.max_iterations],
    ['Reads.', 'm-1', 'You review.', 3],
  )
  const shown = (await box.run(['agent', 'show', 'reviewer'])).stdout
  assert.match(shown, /^# reviewer \([0-9A-Z]{26}\)\n\n(.*\n)*max_iterations = 3\n(.*\n)*\nYou review\.\n$/)
})

test('agent create reads its prompt from a file or standard input', async () => {
  await using box = await makeSandbox()
  await writeFile(join(box.cwd, 'p.md'), 'From a file.\n')
  await box.run(['agent', 'create', 'one', '--prompt', '@p.md'])
  await box.shell('printf "From a pipe." | crabtalk agent create two --prompt @-')
  const prompts = (await listed(box)).slice(1).map(({ prompt }) => prompt)
  assert.deepEqual(prompts, ['From a file.\n', 'From a pipe.'])
  const finished = await box.run(['agent', 'create', 'three', '--prompt', '@nosuch'])
  assertFailed(finished, 'no-input', { message: /^Cannot read nosuch for --prompt: it does not exist$/ })
})

test('agent create rejects invalid names, keys and values, and existing names in any letter case', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'one'])
  const taken = { message: /^Cannot create the agent "(one|ONE)": an agent of that name exists$/, hint: /./ }
  for (const name of ['one', 'ONE']) assertFailed(await box.run(['agent', 'create', name]), 'conflict', taken)
  for (const name of ['a/b', '..', '.x', 'a b', '-x', 'x'.repeat(65)]) {
    assertFailed(await box.run(['agent', 'create', '--', name]), 'invalid', {
      message: /a name is 1 to 64 letters/,
    })
  }
  const wrong = {
    'nokey=1': /unknown key "nokey"$/,
    'max_iterations=lots': /must be a number, not a string$/,
  }
  for (const [set, message] of Object.entries(wrong)) {
    assertFailed(await box.run(['agent', 'create', 'two', '--set', set]), 'invalid', { message })
  }
  assertFailed(await box.run(['agent', 'create']), 'usage', {
    message: /(is|are) missing$/,
    hint: /<name>$/,
  })
  assert.equal((await listed(box)).length, 2)
})

test('agent rename keeps id, files and conversations, and rejects names that are taken', async () => {
  await using talk = await makeTalk(() => ({ parts: ['ok'] }))
  await talk.run(['agent', 'create', 'old', '--prompt', 'P'])
  await talk.send(['-a', 'old', '-s', 'me', 'hello'])
  const [before] = (await listed(talk)).slice(-1)
  assert.equal((await talk.run(['agent', 'rename', 'old', 'new'])).stdout, 'renamed old to new\n')
  assert.deepEqual((await listed(talk)).slice(-1), [{ ...before, name: 'new' }])
  await talk.send(['-a', 'new', '-s', 'me', 'again'])
  assert.equal((await talk.sessions()).length, 1)
  const files = (await modesUnder(talk.home)).filter((row) => row.includes('agents/'))
  assert.deepEqual(
    files.map((row) => row.slice(4)),
    ['agents/crab.md', 'agents/crab.toml', 'agents/new.md', 'agents/new.toml'],
  )
  assertFailed(await talk.run(['agent', 'rename', 'new', 'CRAB']), 'conflict', {
    message: /that name exists$/,
  })
  assertFailed(await talk.run(['agent', 'rename', 'old', 'other']), 'missing', { message: /"old"$/ })
  assertFailed(await talk.run(['agent', 'rename', 'new']), 'usage', { message: /(is|are) missing$/ })
})

test('agent delete removes the files and keeps the conversations; during a turn it is a conflict', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  await using talk = await makeTalk(() => ({ parts: ['begun', promise] }))
  await talk.run(['agent', 'create', 'one'])
  const running = talk.startSend(['-a', 'one', 'hello'])
  await running.prints(/^begun$/)
  assertFailed(await talk.run(['agent', 'delete', 'one', '--yes']), 'conflict', { message: /one/ })
  resolve()
  assert.equal((await running.finished).code, 0)
  assertFailed(await talk.run(['agent', 'delete', 'one']), 'denied', {
    message: /^Cannot delete one: there is no terminal to ask for confirmation$/,
    hint: /--yes/,
  })
  const no = talk.terminal(['agent', 'delete', 'one'])
  await no.shows(/Permanently delete the agent one, [^?]*\? Its conversations stay\. \[y\/N\] /)
  no.type('\r')
  assert.equal((await no.finished).code, 4)
  assert.equal((await listed(talk)).length, 2)
  const { stdout } = await talk.run(['agent', 'delete', 'one', '-y'])
  assert.equal(stdout, 'deleted one; its conversations stay\n')
  assert.deepEqual(
    (await listed(talk)).map(({ name }) => name),
    ['crab'],
  )
  assert.equal((await talk.sessions()).length, 1)
  assertFailed(await talk.run(['agent', 'delete', 'one']), 'missing', {
    message: /"one"$/,
    hint: /agent list/,
  })
})

test('agent list reports a broken agent file with file and line, lists the others, and exits 78', async () => {
  await using box = await makeSandbox()
  await box.run(['agent', 'create', 'good'])
  await box.run(['agent', 'create', 'bad'])
  await writeFile(join(box.home, 'agents/bad.toml'), 'description = "x"\nmodle = "y"\n')
  const { stdout, stderr, code } = await box.run(['agent', 'list'])
  assert.match(stdout, /^good /m)
  assert.doesNotMatch(stdout, /^bad /m)
  assert.match(stderr, /^crabtalk: agents\/bad\.toml:2: unknown key "modle" \(did you mean "model"\?\)$/m)
  assert.equal(code, 78)
  assertFailed(await box.run(['send', '-a', 'bad', 'hello']), 'config', {
    message: /^agents\/bad\.toml:2: unknown key "modle"$/,
    hint: /did you mean "model"\?$/,
  })
})

test('agent commands do not print secrets', async () => {
  await using box = await makeSandbox()
  const mcp = 'mcps=[{ name = "fs", command = "npx", env = { TOKEN = "s3cr3t-value" } }]'
  await box.run(['agent', 'create', 'one', '--set', mcp])
  for (const args of [
    ['show', 'one'],
    ['show', 'one', '--json'],
    ['list', '--json'],
  ]) {
    const { stdout } = await box.run(['agent', ...args])
    assert.ok(stdout.includes('[secret]') && !stdout.includes('s3cr3t'), args.join(' '))
  }
})

async function listed(box: Sandbox): Promise<Record<string, unknown>[]> {
  return JSON.parse((await box.run(['agent', 'list', '--json'])).stdout)
}
