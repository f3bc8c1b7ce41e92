import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { entriesToml, misbehavingEntry } from '../support/mcp/mcp-servers.ts'
import { mcp, startServing, writeAgents } from '../support/mcp/watched-agents.ts'
import { makeSandbox } from '../support/run-binary.ts'
import { assertFailed } from '../support/talk.ts'
import { until } from '../support/until.ts'

const FEW = { tools: ['few'] } as const
const ID = 'id = "01JZZZZZZZZZZZZZZZZZZZZZZZ"\n'

interface Server {
  name: string
  effective: boolean
  decided_by: string
}

test('mcp view says who decided which servers an agent gets, without a daemon and without a secret', async () => {
  await using box = await makeSandbox()
  const one = misbehavingEntry(FEW, { name: 'one' })
  const entries = [
    { ...one, env: { TOKEN: 's3cr3t-value' }, exclude: ['add'] },
    { ...one, name: 'two' },
    { ...one, name: 'off', disabled: true },
    { ...one, name: 'hidden', include: ['nothing'] },
  ]
  const agents = join(box.home, 'agents')
  const config = join(box.env['HOME']!, '.config/crabtalk')
  const project = join(box.cwd, '.crabtalk')
  await Promise.all([agents, config, project].map((folder) => mkdir(folder, { recursive: true })))
  const rules = '[permissions]\ndeny = ["mcp__two__*"]\nallow = ["mcp__one__e*"]\n'
  await writeFile(join(agents, 'crab.toml'), `${ID}${rules}${entriesToml(...entries)}`)
  const own = ['mine', 'one', 'shared'].map((name) => `[server.${name}]\ncommand = "true"\n`)
  await writeFile(join(config, 'mcp.toml'), own.join(''))
  await writeFile(
    join(project, 'mcp.toml'),
    `[server.shared]\ncommand = "true"\nenv = { KEY = "$\{UNSET_ONE}" }\n[server.mine]\ndisabled = true\n`,
  )
  await box.run(['mcp', 'ping'])
  const decide = async (env = {}) => {
    const { stdout, stderr } = await box.run(['mcp', 'view', 'crab', '--json'], { env })
    const { mode, running, servers } = JSON.parse(stdout)
    assert.deepEqual([running, stderr], [false, ''])
    const decided = servers.map(({ name, effective, decided_by: by }: Server) => {
      return `${name} ${effective ? 'yes' : 'no'} ${by.replaceAll(/\/.*\//g, '')}`
    })
    return { mode, decided }
  }
  const before = await decide()
  assert.equal(before.mode, 'only one of its own 4 servers and 2 servers of files')
  assert.deepEqual(before.decided, [
    'one yes agents/crab.toml:5',
    'two no denied by the rule mcp__two__* of agents/crab.toml:3',
    'off no disabled = true in agents/crab.toml:19',
    'hidden no no tool is left: include does not have it',
    'mine yes mcp.toml',
    "one no the agent's own one of agents/crab.toml:5",
    'shared yes mcp.toml',
    'shared no not trusted: you have not trusted its file yet',
    'mine no not trusted: you have not trusted its file yet',
  ])
  await box.run(['trust', '--yes'])
  const after = await decide()
  assert.equal(after.mode, 'only one of its own 4 servers')
  assert.deepEqual(after.decided.slice(4), [
    'mine no disabled = true in mcp.toml',
    "one no the agent's own one of agents/crab.toml:5",
    'shared no invalid: mcp.toml:1: UNSET_ONE is not set',
    'mine no replaced by mcp.toml',
    'shared no replaced by mcp.toml',
  ])
  const none = await decide({ CRABTALK_NO_MCP: '1' })
  assert.equal(none.mode, 'none: CRABTALK_NO_MCP turns them off')
  assert.ok(none.decided.every((line: string) => / no CRABTALK_NO_MCP$/.test(line)))
  const { stdout, stderr } = await box.run(['mcp', 'view', 'crab'])
  assert.equal(stderr, 'crabtalk: not running: no daemon; this is what would be used\n')
  assert.match(
    stdout,
    /^crab: only one of its own 4 servers \(generation 0\)\n\nNAME +STATE +USED +DECIDED BY/,
  )
  assert.match(stdout, /^one +idle +yes +its entry +agents\/crab\.toml:5$/m)
  assert.match(stdout, /\n\none\n {2}starts .*\n {2}env +TOKEN\n {2}tools +1 of 2\n/)
  assert.match(
    stdout,
    /\n +echo: allow by mcp__one__e\* of agents\/crab\.toml:4\n +add: hidden, exclude has add\n/,
  )
  assert.doesNotMatch(stdout, /s3cr3t/)
  assertFailed(await box.run(['mcp', 'view', 'carb']), 'missing', { message: /carb/, hint: /crab/ })
})

test('mcp view shows each process with its owners, and how it is', async () => {
  await using box = await makeSandbox()
  const one = misbehavingEntry(FEW, { name: 'one', env: { TOKEN: 's3cr3t-value' } })
  const bad = misbehavingEntry({ at: { initialize: 'crash' } }, { name: 'bad' })
  await writeAgents(box, { ann: [{ ...one, name: 'uno' }, bad], bob: [], crab: [one] })
  await using _daemon = await startServing(box, 1)
  await mcp(box, ['call', 'one', 'echo', 'text=x'])
  const view = async (...args: string[]) => await mcp(box, ['view', ...args])
  await until('the other has failed', async () => / failed +ann\/bad /.test((await view()).stdout))
  const all = await view()
  assert.deepEqual([all.stderr, all.code], ['', 0])
  assert.match(all.stdout, /^ID +STATE +OWNERS +TOOLS +LAST OK +FAILURES +STARTS\n/)
  assert.match(all.stdout, /^[0-9a-f]{8} +connected +ann\/uno, crab\/one +2 +now +0 +\S/m)
  assert.match(all.stdout, /^[0-9a-f]{8} +failed +ann\/bad +- +- +\d+ +\S/m)
  assert.match(
    all.stdout,
    /\n\nann: all of its own servers \(generation \d+\)\nbob: none \(generation \d+\)\ncrab: all/,
  )
  const { stdout } = await view('ann')
  assert.match(stdout, /\n {2}process +[0-9a-f]{8}, pid \d+, connected (now|\d+s ago), 1 call, 0 errors\n/)
  assert.match(
    stdout,
    /\n {2}owners +ann\/uno, crab\/one\n {2}last good +(now|\d+s ago)\n {2}failures +0 in a row\n/,
  )
  assert.match(stdout, /\n {2}last error +(now|\d+s ago): .*cannot open the database: /)
  assert.match(stdout, /\n {2}failures +\d+ in a row(, next retry .*)?\n/)
  const doctor = await mcp(box, ['doctor'])
  assert.equal(doctor.code, 1)
  assert.match(doctor.stdout, /ok {7}one of crab runs in the daemon, answered in \d+ ms, 2 tools\n/)
  assert.match(doctor.stdout, /problem {2}bad of ann: it exited with code 1: .*cannot open the database/)
  const union = JSON.parse((await view('--json')).stdout)
  assert.equal(union.running, true)
  assert.deepEqual(
    union.processes.map(({ owners, state }: { owners: unknown[]; state: string }) => [owners.length, state]),
    [
      [2, 'connected'],
      [1, 'failed'],
    ],
  )
  const { health, env_names: names } = JSON.parse((await view('crab', '--json')).stdout).servers[0]
  assert.ok(Date.parse(health.last_ok_at) >= Date.parse(health.connected_at))
  assert.deepEqual([health.failures, health.next_retry_at, names], [0, null, ['TOKEN']])
  for (const { stdout } of [all, await view('crab'), await view('--json')])
    assert.doesNotMatch(stdout, /s3cr3t/)
})
