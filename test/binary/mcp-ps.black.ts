import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manyToolsServer } from '../support/mcp/many-tools.ts'
import { misbehavingEntry, watchedServer } from '../support/mcp/mcp-servers.ts'
import { isRunning, recordFolder } from '../support/mcp/record-folder.ts'
import { mcp, startServing, writeAgents } from '../support/mcp/watched-agents.ts'
import { makeSandbox } from '../support/run-binary.ts'
import { WITH_DAEMON } from '../support/sandbox-daemon.ts'
import { assertFailed } from '../support/talk.ts'
import { until } from '../support/until.ts'

const FEW = { tools: ['few'] } as const

test('mcp ps shows a row for each process, who shares it, and what that saves', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one', env: { TOKEN: 's3cr3t-value' } })
  const other = { ...server.entry, env: { TOKEN: 'another-v4lue' } }
  await writeAgents(box, {
    ann: [server.entry],
    bob: [{ ...server.entry, name: 'uno' }],
    crab: [server.entry],
    dee: [other],
  })
  await using _daemon = await startServing(box, 2)
  await mcp(box, ['call', 'one', 'echo', 'text=x'])
  const { stdout, stderr, code } = await mcp(box, ['ps'])
  assert.deepEqual([stderr, code], ['', 0])
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.match(head!, /^ID +NAME +STATE +AGENTS +PID +MEMORY +CALLS +ERRORS +LATENCY +STARTS +UP$/)
  assert.match(stdout, /^[0-9a-f]{8} +one, uno +connected +3 agents +\d+ +\d+ MB +1 +0 +\d+ ms +1 +\d+[sm]$/m)
  assert.match(stdout, /^[0-9a-f]{8} +one +connected +dee +\d+ +\d+ MB +0 +0 +- +1 +\d+[sm]$/m)
  assert.match(stdout, /\n\n4 agents use 2 processes: 2 processes and about \d+ MB saved\n$/)
  assert.equal(lines.length, 4)
  assert.equal(server.starts().length, 2)
  const rows = JSON.parse((await mcp(box, ['ps', '--json', '-a', 'dee'])).stdout)
  assert.deepEqual(
    rows.map(({ owners, env_names, pid }: Row) => [owners, env_names, server.starts().includes(pid)]),
    [[[{ agent: 'dee', name: 'one' }], ['TOKEN'], true]],
  )
  for (const words of [
    ['ps'],
    ['ps', '--json'],
    ['health', '--all', '--json'],
    ['cost', '--all', '--json'],
  ]) {
    assert.doesNotMatch((await mcp(box, words)).stdout, /s3cr3t|v4lue/, words.join(' '))
  }
  const terminal = box.terminal(['mcp', 'ps'], { columns: 44, env: WITH_DAEMON })
  assert.equal((await terminal.finished).code, 0)
  const shown = terminal.output().split(/\r?\n/)
  assert.ok(
    shown.slice(0, 3).every((line) => [...line].length <= 44),
    terminal.output(),
  )
  assert.match(shown[1]!, /…$/)
})

interface Row {
  owners: unknown
  env_names: string[]
  pid: number
}

test('mcp ps, logs --follow, reconnect and trace need a daemon, and start none', async () => {
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [misbehavingEntry(FEW, { name: 'one' })] })
  for (const words of [
    ['ps'],
    ['ps', '--json'],
    ['logs', '-f', 'one'],
    ['reconnect', 'one'],
    ['trace', '-f'],
  ]) {
    const outcome = await mcp(box, words)
    assertFailed(outcome, 'unavailable', {
      message: /: no daemon is running$/,
      hint: /daemon run/,
    })
    assert.equal(outcome.stdout, '', words.join(' '))
  }
})

test('mcp ps without servers says where to look', async () => {
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [] })
  await using _daemon = await startServing(box, 0)
  const { stdout, stderr, code } = await mcp(box, ['ps'])
  assert.deepEqual([stdout, code], ['', 0])
  assert.match(stderr, /^No servers are running; list the declared ones with crabtalk mcp list --all/)
  assert.match((await mcp(box, ['ps', '-a', 'crab'])).stderr, /^No servers are running for crab; /)
  assertFailed(await mcp(box, ['ps', '-a', 'nosuch']), 'missing', { message: /nosuch/, hint: /./ })
})

test('mcp health says when a killed server is started again, and a call starts it immediately', async () => {
  await using box = await makeSandbox()
  await writeAgents(box, { crab: [misbehavingEntry(FEW, { name: 'good' })] })
  await using _daemon = await startServing(box, 1)
  const [{ pid }] = JSON.parse((await mcp(box, ['ps', '--json'])).stdout) as [Row]
  process.kill(pid, 'SIGKILL')
  const lost = /^good +failed .* in \ds +\S.*SIGKILL$/m
  await until('it is lost', async () => lost.test((await mcp(box, ['health'])).stdout))
  await mcp(box, ['call', 'good', 'echo', 'text=x'])
  assert.match((await mcp(box, ['health'])).stdout, /^good +connected .* - +-$/m)
})

test('mcp health shows failures and retry times, exits 69, and ignores disabled servers', async () => {
  await using box = await makeSandbox()
  const bad = misbehavingEntry({ at: { initialize: 'crash' } }, { name: 'bad' })
  await writeAgents(box, { crab: [misbehavingEntry(FEW, { name: 'good' })], ann: [bad] })
  const daemon = await startServing(box, 1)
  await until('the other has failed', async () => (await mcp(box, ['health', '--all'])).code === 69)
  const all = await mcp(box, ['health', '--all'])
  assert.match(all.stdout, /^AGENT +NAME +STATE +SINCE +LAST OK +FAILURES +RETRY +LAST ERROR\n/)
  assert.match(all.stdout, /^ann +bad +failed +- +- +1 +(in \d+s|now) +.*cannot open the database/m)
  assert.match(all.stdout, /^crab +good +connected +\S.* +- +0 +- +-$/m)
  const good = await mcp(box, ['health', 'good'])
  assert.deepEqual([good.stderr, good.code], ['', 0])
  await mcp(box, ['call', 'good', 'echo', 'text=x'])
  const [row] = JSON.parse((await mcp(box, ['health', 'good', '--json'])).stdout)
  assert.deepEqual(
    [row.name, row.state, row.ok, row.failures, row.error],
    ['good', 'connected', true, 0, null],
  )
  assert.ok(Date.parse(row.last_ok_at) >= Date.parse(row.connected_at))
  await daemon[Symbol.asyncDispose]()
  const later = await box.run(['mcp', 'health', '-a', 'ann', '--json'])
  const [failed] = JSON.parse(later.stdout)
  assert.deepEqual([failed.ok, failed.state, later.code], [false, 'failed', 69])
  assert.match(failed.error, /cannot open the database/)
  await box.run(['mcp', 'disable', '-a', 'ann', 'bad'])
  assert.equal((await box.run(['mcp', 'health', '--all'])).code, 0)
  assertFailed(await box.run(['mcp', 'health', 'none']), 'missing', { message: /"none"/, hint: /good/ })
})

test('mcp cost shows the cost of tools, highest first, without starting anything', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const many = watchedServer(records.path, {}, { name: 'many' })
  await writeAgents(box, { crab: [misbehavingEntry(FEW, { name: 'few' }), many.entry] })
  const unknown = await box.run(['mcp', 'cost'])
  assert.match(
    unknown.stdout,
    /^SERVER +TOOLS +TOKENS\nfew +- +-\nmany +- +-\n\n0 tools cost crab about 0 tokens/,
  )
  assert.match(unknown.stderr, /the tools of many are not known yet: run crabtalk mcp ping many -a crab\n/)
  await box.run(['mcp', 'ping'])
  const starts = many.starts().length
  const { stdout, stderr, code } = await box.run(['mcp', 'cost'])
  assert.deepEqual([stderr, code], ['', 0])
  assert.match(
    stdout,
    /^SERVER +TOOLS +TOKENS\nmany +\d+ +[\d,]+\nfew +2 +\d+\n\n\d+ tools cost crab about [\d,]+ tokens in every request\n$/,
  )
  const one = await box.run(['mcp', 'cost', 'few'])
  assert.match(
    one.stdout,
    /^TOOL +TOKENS\nmcp__few__\w+ +\d+\nmcp__few__\w+ +\d+\n\n2 tools of few cost crab about \d+ tokens/,
  )
  const [agent] = JSON.parse((await box.run(['mcp', 'cost', '--json'])).stdout)
  const sum = agent.servers.reduce((total: number, { tokens }: { tokens: number }) => total + tokens, 0)
  assert.deepEqual([agent.agent, agent.grouped, agent.tokens], ['crab', false, sum])
  assert.equal(
    agent.servers[0].tokens,
    agent.servers[0].tools.reduce((total: number, tool: { tokens: number }) => total + tool.tokens, 0),
  )
  assert.equal(many.starts().length, starts)
})

test('mcp cost shows the cost of groups for an agent with more than 40 tools', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const many = ['web', 'db'].map((name) => manyToolsServer(records.path, { name, count: 22 }))
  await writeAgents(box, { crab: many.map(({ entry }) => entry) })
  await box.run(['mcp', 'ping'])
  const { stdout } = await box.run(['mcp', 'cost'])
  assert.match(
    stdout,
    /\n\ncrab has more than 40 MCP tools and starts with groups of them: about [\d,]+ tokens in every request, where all 44 tools would cost about [\d,]+ tokens\n$/,
  )
  assert.match(
    (await box.run(['mcp', 'cost', 'web'])).stdout,
    /\n22 tools of web cost crab about [\d,]+ tokens, once it selects them\n$/,
  )
  const [agent] = JSON.parse((await box.run(['mcp', 'cost', '--json'])).stdout)
  assert.ok(agent.grouped && agent.tokens < agent.servers[0].tokens, JSON.stringify(agent).slice(0, 200))
})

test('mcp reconnect gives every agent a new process, even of a server in its retry delay', async () => {
  await using records = await recordFolder()
  await using box = await makeSandbox()
  const server = watchedServer(records.path, FEW, { name: 'one' })
  const bad = watchedServer(records.path, { at: { initialize: 'crash' } }, { name: 'bad' })
  await writeAgents(box, { crab: [server.entry, bad.entry], ann: [server.entry] })
  await using _daemon = await startServing(box, 1)
  const [before] = server.starts()
  const { stdout, stderr, code } = await mcp(box, ['reconnect', 'one'])
  const [, after] = server.starts()
  assert.deepEqual([stdout, stderr, code], [`reconnected one: 2 tools, pid ${after}, for 2 agents\n`, '', 0])
  assert.deepEqual([isRunning(before!), isRunning(after!)], [false, true])
  const [row] = JSON.parse((await mcp(box, ['ps', '--json', '-a', 'ann'])).stdout)
  assert.deepEqual([row.pid, row.starts], [after, 2])
  const json = JSON.parse((await mcp(box, ['reconnect', 'one', '--json'])).stdout)
  assert.deepEqual([json.name, json.tools, json.pid], ['one', 2, server.starts()[2]])
  const starts = bad.starts().length
  assertFailed(await mcp(box, ['reconnect', 'bad']), 'unavailable', {
    message: /"bad".*cannot open the database/,
  })
  assert.ok(bad.starts().length > starts)
})
