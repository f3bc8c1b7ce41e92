import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ChangeRule, PolicyEffect, RuleScope } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const { ALLOW, ASK, DENY } = PolicyEffect
const { CONVERSATION, AGENT, CONFIG, SERVER } = RuleScope

test('list_rules lists the rules of a conversation, an agent, its servers and config.toml, each with its place', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['ok'] }), {
    config: '\n[permissions]\ndeny = ["read(.env)"]\nread_only_commands = false\n',
  })
  await node.home.write(
    'agents/crab.toml',
    `[permissions]
allow = ["bash(npm test *)"]

[permissions.remote]
allow = ["recall"]

[[mcps]]
name = "fs"
command = "fs-server"
permissions = { deny = ["move_file"] }
`,
  )
  await node.ask('hello')
  await change(node.dispatch, { scope: CONVERSATION, effect: ALLOW, pattern: 'bash(make)' })
  assert.deepEqual(await list(node.dispatch), [
    'allow bash(make) this conversation',
    'allow bash(npm test *) agents/crab.toml:4',
    'allow recall agents/crab.toml:7 remote',
    'deny mcp__fs__move_file agents/crab.toml:12 server',
    'deny read(.env) config.toml:7',
    'ask read_only_commands config.toml:8',
  ])
  assert.ok((await list(node.dispatch, '')).every((line) => !line.includes('this conversation')))
})

test('change_rule adds and removes rules in files, and keeps their comments', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['ok'] }))
  const { dispatch, home } = node
  await home.write('agents/crab.toml', '# mine\nmodel = "scripted" # fast\n')
  await change(dispatch, { scope: AGENT, effect: DENY, pattern: 'read(.env)' })
  await change(dispatch, { scope: AGENT, effect: DENY, pattern: 'read(.env)' }) // it is there already
  await change(dispatch, { scope: AGENT, effect: ALLOW, pattern: 'edit', trust: 'unattended' })
  await change(dispatch, { scope: CONFIG, effect: ASK, pattern: 'bash(git push *)' })
  const file = await readFile(join(home.paths.agents, 'crab.toml'), 'utf8')
  assert.match(file, /^# mine\nmodel = "scripted" # fast\n/)
  assert.deepEqual((await list(dispatch)).map(withoutPlace), [
    'deny read(.env)',
    'allow edit unattended',
    'ask bash(git push *)',
  ])
  await change(dispatch, { scope: AGENT, effect: ALLOW, pattern: 'edit', trust: 'unattended', remove: true })
  await change(dispatch, { scope: CONFIG, effect: ASK, pattern: 'bash(git push *)', remove: true })
  const rules = await change(dispatch, { scope: AGENT, effect: DENY, pattern: 'read(.env)', remove: true })
  assert.deepEqual(rules, [])
  assert.match(await readFile(home.paths.config, 'utf8'), /^\[llm\]\nbase_url/)
})

test('change_rule switches the read-only commands off and on, and the next call is judged by that', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['ok'] }))
  const { dispatch, home } = node
  const judge = async () => {
    const call = { agent: 'crab', sender: 'ann', cwd: home.paths.home, tool: 'bash' }
    const args = { ...call, arguments: '{"command":"pwd"}' }
    return (await request(dispatch, 'policyExplain', args, NEVER)).effect
  }
  assert.equal(await judge(), ALLOW)
  const off = { scope: CONFIG, effect: ASK, pattern: 'read_only_commands' }
  await change(dispatch, off)
  assert.equal(await judge(), ASK)
  await change(dispatch, { ...off, remove: true })
  assert.equal(await judge(), ALLOW)
})

test('a rule that is taken back from a conversation no longer applies, also after it is read again', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['ok'] }))
  const { dispatch } = node
  await node.ask('hello')
  for (const pattern of ['bash(make)', 'edit'])
    await change(dispatch, { scope: CONVERSATION, effect: ALLOW, pattern })
  await change(dispatch, { scope: CONVERSATION, effect: ALLOW, pattern: 'edit', remove: true })
  await node.ask('again')
  assert.deepEqual(await list(dispatch), ['allow bash(make) this conversation'])
})

test('change_rule refuses what makes no sense', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['ok'] }))
  const { dispatch } = node
  await node.home.write('agents/crab.toml', '')
  const refused: [Partial<ChangeRule>, string][] = [
    [{ scope: AGENT, effect: ALLOW, pattern: 'bash(' }, 'invalid'],
    [{ scope: AGENT, pattern: 'edit' }, 'invalid'],
    [{ effect: ALLOW, pattern: 'edit' }, 'invalid'],
    [{ scope: SERVER, effect: ALLOW, pattern: 'edit' }, 'invalid'],
    [{ scope: AGENT, effect: ALLOW, pattern: 'edit', trust: 'nobody' }, 'invalid'],
    [{ scope: AGENT, effect: ALLOW, pattern: 'edit', remove: true }, 'missing'],
    [{ scope: CONFIG, effect: ALLOW, pattern: 'edit', remove: true }, 'missing'],
    [{ scope: CONVERSATION, effect: ALLOW, pattern: 'edit' }, 'missing'],
    [{ scope: CONVERSATION, effect: DENY, pattern: 'edit' }, 'invalid'],
    [{ agent: 'nope', scope: AGENT, effect: ALLOW, pattern: 'edit' }, 'missing'],
  ]
  for (const [body, kind] of refused)
    await assert.rejects(change(dispatch, body), { kind }, JSON.stringify(body))
})

async function change(dispatch: Dispatch, body: Partial<ChangeRule>): Promise<string[]> {
  const message = { agent: 'crab', sender: 'ann', ...body }
  const { rules } = await request(dispatch, 'changeRule', message, NEVER)
  return rules.map(toLine)
}

async function list(dispatch: Dispatch, sender = 'ann'): Promise<string[]> {
  const { rules } = await request(dispatch, 'listRules', { agent: 'crab', sender }, NEVER)
  return rules.map(toLine)
}

function toLine({
  rule,
  scope,
  trust,
}: Awaited<ReturnType<typeof request<'listRules'>>>['rules'][number]): string {
  const { effect, pattern, source } = rule!
  const name = effect === ALLOW ? 'allow' : effect === ASK ? 'ask' : 'deny'
  const marks = [...(scope === SERVER ? ['server'] : []), ...(trust === '' ? [] : [trust])]
  return [name, pattern, source, ...marks].join(' ')
}

function withoutPlace(line: string): string {
  return line.replace(/ (agents\/crab|config)\.toml:\d+/, '')
}
