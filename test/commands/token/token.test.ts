import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseOptions } from '../../../src/cli/parse.ts'
import { resolvePaths } from '../../../src/cli/paths.ts'
import { listKind } from '../../../src/commands/completions/list-kind.ts'
import { TOKEN_COMMANDS } from '../../../src/commands/token/table.ts'
import { addToken, hashToken, readTokens, renameTokenAgent } from '../../../src/core/tokens/token-file.ts'
import { makeTestHost, type TestHost } from '../../support/test-host.ts'

const NEVER = new AbortController().signal

test('token new prints only the token on standard output, and its rights on standard error', async () => {
  await using one = await makeTestHost()
  assert.equal(await run(one, ['new', 'phone', '--agent', 'CRAB']), 0)
  assert.match(one.stdout(), /^crabtalk_[\w-]{43}\n$/)
  assert.match(one.stderr(), /may talk to the agent crab, as senders that start with "phone:"/)
  const { run: folder } = resolvePaths(one.host)
  const { tokens } = await readTokens(folder)
  assert.equal(tokens[0]?.hash, hashToken(one.stdout().trim()))
  assert.equal((await stat(join(folder, 'tokens.json'))).mode & 0o777, 0o600)
})

test('token new rejects reserved, taken and invalid names, and unknown agents', async () => {
  await using one = await makeTestHost()
  for (const name of [
    'sh',
    'cron',
    'event',
    'delegate',
    'user',
    'Phone',
    '-x',
    '_x',
    'a:b',
    '',
    'é',
    'x'.repeat(33),
  ]) {
    await assert.rejects(run(one, ['new', '--', name]), { kind: 'usage' }, name)
  }
  await run(one, ['new', 'x'.repeat(32)])
  await run(one, ['new', 'phone'])
  await assert.rejects(run(one, ['new', 'phone']), { kind: 'conflict', hint: /crabtalk token revoke phone/ })
  await assert.rejects(run(one, ['new', 'tcp']), { kind: 'conflict', hint: 'choose another name' })
  await assert.rejects(run(one, ['new', 'web', '--agent', 'crap']), {
    kind: 'missing',
    hint: 'did you mean "crab"?',
  })
  assert.equal((await readTokens(resolvePaths(one.host).run)).tokens.length, 2)
})

test('token list shows names and times, never a token; token revoke removes one', async () => {
  await using one = await makeTestHost()
  assert.equal(await run(one, ['list']), 0)
  assert.match(one.stderr(), /no tokens yet/)
  await run(one, ['new', 'phone'])
  const token = one.stdout().trim()
  await run(one, ['list'])
  assert.match(one.stdout(), /\nNAME +AGENT +CREATED +LAST USE\nphone +any +now +never\n$/)
  assert.equal(one.stdout().split(token).length, 2) // printed once, when it was created
  const listed = await listKind('token', { host: one.host, agent: undefined, typed: '' }, NEVER)
  assert.deepEqual(listed, [{ value: 'phone', description: 'any agent' }])
  assert.equal(await run(one, ['revoke', 'phone']), 0)
  for (const name of ['phone', 'tcp']) {
    await assert.rejects(
      run(one, ['revoke', name]),
      { kind: 'missing', hint: 'crabtalk token list shows all tokens' },
      name,
    )
  }
})

test('concurrent token commands lose no token, and a broken file is never overwritten', async () => {
  await using one = await makeTestHost()
  const names = Array.from({ length: 12 }, (_, at) => `t${at}`)
  await Promise.all(names.map((name) => run(one, ['new', name])))
  const { run: folder } = resolvePaths(one.host)
  assert.deepEqual((await readTokens(folder)).tokens.map(({ name }) => name).toSorted(), names.toSorted())
  await writeFile(join(folder, 'tokens.json'), 'broken')
  await assert.rejects(run(one, ['new', 'more']), { kind: 'config', message: /tokens\.json/ })
  await assert.rejects(run(one, ['list']), { kind: 'config' })
})

test('renameTokenAgent() changes the tokens of that agent only', async () => {
  await using one = await makeTestHost()
  const { run: folder } = resolvePaths(one.host)
  const at = { run: folder, lock: async () => ({ async [Symbol.asyncDispose]() {} }) }
  for (const agent of ['Clerk', 'crab'])
    await addToken(at, { name: agent.toLowerCase(), agent, created: 'x' }, NEVER)
  await renameTokenAgent(at, { from: 'clerk', to: 'scribe' }, NEVER)
  assert.deepEqual(
    (await readTokens(folder)).tokens.map(({ agent }) => agent),
    ['scribe', 'crab'],
  )
})

async function run({ host }: TestHost, words: readonly string[]): Promise<number> {
  const command = TOKEN_COMMANDS.find(({ path }) => path[1] === words[0])!
  const options = parseOptions({ program: 'crabtalk', command }, words.slice(1))
  const { path } = command
  const code = await (await command.load())({
    ...{ program: 'crabtalk', commands: TOKEN_COMMANDS, path, options, host, signal: NEVER },
  })
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  return code
}
