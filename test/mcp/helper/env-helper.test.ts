import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { McpEntry } from '../../../src/core/config/mcp-entry.ts'
import { parseVariablesOutput } from '../../../src/mcp/helper/env-helper.ts'
import { writeTellingServer } from '../../support/mcp/telling-server.ts'
import { until } from '../../support/until.ts'
import { agentWith, type McpNode, mcpNode, NEVER, offer, untilState } from '../mcp-node.ts'

const TOKEN = 'tok-of-helper-0123456789'

test('a server gets the variables of its env helper, which runs once per start and is shown nowhere', async () => {
  await using node = await mcpNode()
  const agent = agentWith([await makeEntry(node, { TOKEN, OTHER: 'x' })])
  assert.deepEqual((await offer(node, agent)).names, ['mcp__told__tell'])
  const call = { agent, name: 'told', tool: 'tell', args: {}, spillDir: node.folder }
  const { output } = await node.servers.call(call, NEVER)
  assert.match(output, /^\[secret\] has 24$/)
  await node.servers.call(call, NEVER)
  assert.equal(await readRuns(node), 1)
  const [shown] = node.servers.view(agent).servers
  const logs = node.servers.logs(agent, 'told')
  assert.ok(
    logs.some((line) => line.includes('started with [secret]')),
    logs.join('\n'),
  )
  assert.doesNotMatch(JSON.stringify([shown, logs, node.events, node.servers.peers()]), /tok-of-helper/)
})

test('a server whose env helper fails needs credentials, says why, and is tried again when they have changed', async () => {
  await using node = await mcpNode()
  const fail =
    'crabtalk: error[credentials]: Cannot find TOKEN: nothing has it\nhint: crabtalk vault set TOKEN\n'
  const entry = await makeEntry(node, undefined, fail)
  const agent = agentWith([entry])
  const { notices } = await offer(node, agent)
  assert.match(
    notices.join(),
    /its env helper failed: it exited with code 77: Cannot find TOKEN: nothing has it; .*\(crabtalk vault set TOKEN\)/,
  )
  assert.equal(node.servers.peers()[0]!.state, 'needs_auth')
  await writeVariables(node, { TOKEN })
  node.servers.renewCredentials()
  await untilState(node, 'connected')
  assert.deepEqual((await offer(node, agent)).names, ['mcp__told__tell'])

  await writeVariables(node, { TOKEN })
  node.servers.renewCredentials() // the same value: the server keeps running
  await writeVariables(node, { TOKEN: `${TOKEN}+new` })
  node.servers.renewCredentials()
  const call = { agent, name: 'told', tool: 'tell', args: {}, spillDir: node.folder }
  await until('it has the new value', async () => {
    const answer = await node.servers.call(call, NEVER).catch(() => undefined) // it is being restarted
    return answer?.output === '[secret] has 28'
  })
  assert.doesNotMatch(node.servers.logs(agent, 'told').join('\n'), /tok-of-helper/)
})

test('a server with a call under way is restarted with its new variables after the call', async () => {
  await using node = await mcpNode()
  const entry = await makeEntry(node, { TOKEN })
  const agent = agentWith([entry, { ...entry, name: 'idle', args: [...entry.args!, '2'] }])
  const tell = (args: Record<string, unknown>, name = 'told') =>
    node.servers.call({ agent, name, tool: 'tell', args, spillDir: node.folder }, NEVER)
  await tell({})
  await tell({}, 'idle')
  const slow = tell({ until: 'answer' })
  await writeVariables(node, { TOKEN: `${TOKEN}+new` })
  node.servers.renewCredentials()
  await until('the other one has the new value', async () => {
    const answer = await tell({}, 'idle').catch(() => undefined) // it is being restarted
    return answer?.output.endsWith(' has 28') === true
  })
  assert.match((await tell({})).output, / has 24$/)
  await writeFile(join(node.folder, 'answer'), '')
  assert.match((await slow).output, / has 24$/)
  await until('it has the new value', async () => {
    const answer = await tell({}).catch(() => undefined) // it is being restarted
    return answer?.output.endsWith(' has 28') === true
  })
})

test('a helper called crabtalk is this program, with the whole environment and the home', async () => {
  await using node = await mcpNode()
  const script = join(node.folder, 'program.mjs')
  await writeFile(
    script,
    `const { CRABTALK_HOME, MARK } = process.env
console.log(JSON.stringify({ TOKEN: [process.argv.slice(2), CRABTALK_HOME, MARK].join(' ') }))`,
  )
  await using other = await node.openAnother({
    env: { ...process.env, MARK: 'of-the-process' },
    ownCommand: async () => [process.execPath, script],
  })
  const entry = await makeEntry(node, {})
  const agent = agentWith([{ ...entry, env_helper: ['crabtalk', 'vault', 'env', 'TOKEN'] }])
  const call = { agent, name: 'told', tool: 'tell', args: {}, spillDir: node.folder }
  const { output } = await other.servers.call(call, NEVER)
  assert.equal(output, `[secret] has ${`vault,env,TOKEN ${node.folder} of-the-process`.length}`)
})

test('a server never gets the key of a model provider from this program, which is not even started', async () => {
  await using node = await mcpNode()
  const script = join(node.folder, 'program.mjs')
  const started = join(node.folder, 'started')
  await writeFile(
    script,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(started)}, '')`,
  )
  await using other = await node.openAnother({ ownCommand: async () => [process.execPath, script] })
  const env_helper = ['crabtalk', 'vault', 'key', 'anthropic']
  const { notices } = await offer(other, agentWith([{ ...(await makeEntry(node, {})), env_helper }]))
  assert.match(
    notices.join(),
    /its "env_helper" must not be a command of crabtalk other than crabtalk vault env/,
  )
  await assert.rejects(readFile(started), { code: 'ENOENT' })
})

test('the output of an env helper is a JSON object of texts, or lines of KEY=VALUE', () => {
  assert.deepEqual(parseVariablesOutput('{"A":"1","B_2":""}\n'), { A: '1', B_2: '' })
  assert.deepEqual(parseVariablesOutput("# mine\nexport A='1'\nB=2"), { A: '1', B: '2' })
  for (const output of ['', 's3cret', '{"A":1}', '{"A-B":"s3cret"}', '{"A":"s3cret"', '{"A":"\\u0000"}']) {
    assert.throws(
      () => parseVariablesOutput(output),
      ({ kind, message }: { kind: string; message: string }) =>
        kind === 'failed' && !message.includes('s3cret'),
      output,
    )
  }
})

/** Returns the entry of a server whose env helper prints what writeVariables() wrote last, or fails with a text. */
async function makeEntry(
  node: McpNode,
  variables: Record<string, string> | undefined,
  failure = '',
): Promise<McpEntry> {
  const [server, helper, runs] = ['server.cjs', 'helper.mjs', 'runs'].map((name) => join(node.folder, name))
  await writeTellingServer(server!)
  if (variables) await writeVariables(node, variables)
  const code = `import { appendFileSync, readFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(runs)}, '.')
try {
  process.stdout.write(readFileSync(${JSON.stringify(join(node.folder, 'variables'))}))
} catch {
  process.stderr.write(${JSON.stringify(failure)})
  process.exitCode = 77
}`
  await writeFile(helper!, code)
  const node26 = process.execPath
  return { name: 'told', command: node26, args: [server!], env_helper: [node26, helper!] }
}

async function readRuns(node: McpNode): Promise<number> {
  return (await readFile(join(node.folder, 'runs'))).length
}

async function writeVariables(node: McpNode, variables: Record<string, string>): Promise<void> {
  await writeFile(join(node.folder, 'variables'), JSON.stringify(variables))
}
