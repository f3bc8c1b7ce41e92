import assert from 'node:assert/strict'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../src/core/base/permission-answers.ts'
import { type ExplainPolicy, OnAsk, PolicyEffect } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request, streamTurn } from '../../src/core/protocol/dispatch.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { misbehavingEntry } from '../support/mcp/mcp-servers.ts'
import type { TestDispatch } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'
const { ALLOW, ASK, DENY } = PolicyEffect

test('policy_explain names the deciding rule, where it is written, and every other rule that matches', async () => {
  await using node = await startMcpNode([], { config: '\n[permissions]\nallow = ["bash"]\n' })
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n[permissions]\ndeny = ["bash(rm *)"]\n`)
  const decision = await explain(node, 'bash', { command: 'rm -rf build' })
  const denial = { effect: DENY, pattern: 'bash(rm *)', source: 'agents/crab.toml:4' }
  const { effect, rule, matched, trust, action } = decision
  assert.deepEqual([effect, rule, trust, action], [DENY, denial, 'local', 'bash: rm -rf build'])
  assert.deepEqual(matched.map(({ pattern }) => pattern).toSorted(), ['bash', 'bash(rm *)'])
  assert.match(decision.reason, /agents\/crab\.toml:4/)
  assert.equal((await explain(node, 'bash', { command: 'ls' })).effect, ALLOW)
})

test('policy_explain suggests rules for a call that no rule matches', async () => {
  await using node = await startMcpNode([])
  const decision = await explain(node, 'bash', { command: 'npm test && git push' })
  assert.deepEqual([decision.effect, decision.rule, decision.matched], [ASK, undefined, []])
  assert.deepEqual(decision.suggestions, ['bash(npm test *)', 'bash(git push)'])
  const allowed = await explain(node, 'bash', { command: 'npm test' }, { allow: ['bash(npm *)'] })
  assert.deepEqual([allowed.effect, allowed.rule?.source, allowed.suggestions], [ALLOW, '--allow', []])
  const denied = await explain(
    node,
    'bash',
    { command: 'npm test' },
    { allow: ['bash'], deny: ['bash(npm *)'] },
  )
  assert.deepEqual([denied.effect, denied.rule?.source], [DENY, '--deny'])
  const explained = await explain(
    node,
    'bash',
    { command: 'npm test' },
    { allow: ['bash'], ask: ['bash(npm *)'] },
  )
  assert.deepEqual([explained.effect, explained.rule?.source], [ASK, '--ask'])
  await assert.rejects(explain(node, 'bash', { command: 'ls' }, { allow: ['bash('] }), { kind: 'invalid' })
})

test('policy_explain follows links, and requires only the path of a call', async () => {
  await using node = await startMcpNode([])
  const work = join(node.home.paths.home, 'work')
  await mkdir(work)
  await symlink('/etc', join(work, 'link'))
  const at = { cwd: work }
  assert.equal((await explain(node, 'read', { path: 'a.ts' }, at)).effect, ALLOW)
  const outside = await explain(node, 'read', { path: 'link/hostname' }, at)
  assert.deepEqual([outside.effect, outside.action], [ASK, 'read /etc/hostname'])
  for (const tool of ['edit', 'write']) {
    const { effect, suggestions } = await explain(node, tool, { path: 'a.ts' }, at)
    assert.deepEqual([effect, suggestions], [ASK, ['edit(a.ts)']])
  }
  assert.equal((await explain(node, 'grep', {}, at)).effect, ALLOW)
  await assert.rejects(explain(node, 'read', {}, at), { kind: 'invalid' })
  await assert.rejects(explain(node, 'read', { path: 'x' }, { cwd: join(work, 'none') }), { kind: 'missing' })
})

test('policy_explain says that no rule can allow the files of crabtalk itself', async () => {
  await using node = await startMcpNode([])
  const path = node.home.paths.config
  const { effect, reason, suggestions, action } = await explain(node, 'read', { path })
  assert.deepEqual([effect, suggestions, action], [DENY, [], `read ${path}`])
  assert.match(reason, /no rule can change that$/)
})

test('policy_explain accepts servers by name, whether or not they ever ran', async () => {
  await using node = await startMcpNode([])
  const entry =
    '[[mcps]]\nname = "my_fs"\ncommand = "none"\npermissions = { allow = ["read_*"], deny = ["*_all"] }\n'
  await node.home.write('agents/crab.toml', `id = "${ID}"\n\n${entry}`)
  const explainEffect = async (tool: string) => (await explain(node, tool, { path: 'x' })).effect
  assert.equal(await explainEffect('mcp__my_fs__read_file'), ALLOW)
  assert.equal(await explainEffect('mcp__my_fs__read_all'), DENY)
  assert.equal(await explainEffect('mcp__my_fs__write'), ASK)
  assert.equal(await explainEffect('mcp__other__read_file'), ASK)
})

test('policy_explain judges a listed tool by its own name, however the caller writes it', async () => {
  await using node = await startMcpNode([])
  const entry = misbehavingEntry({ tools: ['odd', 'few'] }, { name: 'one' })
  const allow = ['read/file', 'x'.repeat(120), 'add']
  const config = JSON.stringify({ ...entry, permissions: { allow } })
  await request(node.dispatch, 'upsertMcp', { agent: 'crab', config, verify: true }, NEVER)
  const { agents } = await request(node.dispatch, 'mcpView', { agent: 'crab' }, NEVER)
  const tools = agents[0]!.servers[0]!.tools.filter(({ hidden }) => hidden === '')
  assert.ok(tools.length > allow.length)
  for (const { name, remoteName } of tools) {
    const { effect, action } = await explain(node, name, {})
    assert.deepEqual([effect, action], [allow.includes(remoteName) ? ALLOW : ASK, name], remoteName)
  }
  assert.equal((await explain(node, 'add', {})).action, 'mcp__one__add')
})

test('policy_explain knows which tools are read-only, and which do not exist', async () => {
  await using node = await startMcpNode([])
  const { effect, action } = await explain(node, 'ask_user', {})
  assert.deepEqual([effect, action], [ALLOW, 'ask_user'])
  assert.equal((await explain(node, 'tools_select', {})).effect, ALLOW)
  await assert.rejects(explain(node, 'ask_usr', {}), { kind: 'missing', hint: 'did you mean "ask_user"?' })
  await assert.rejects(explain(node, 'frobnicate', {}), { kind: 'missing', hint: /read, .*bash/ })
})

test('policy_explain says that an agent does not have a tool', async () => {
  await using node = await startMcpNode([])
  await node.home.write('agents/crab.toml', `id = "${ID}"\ntools = ["read"]\n`)
  assert.equal((await explain(node, 'read', { path: 'a.ts' })).effect, ALLOW)
  const { effect, reason } = await explain(node, 'bash', { command: 'ls' }, { allow: ['bash'] })
  assert.equal(effect, DENY)
  assert.match(
    reason,
    /^Cannot call bash: the agent.s file does not list it under tools; no rule can change that$/,
  )
})

test('policy_explain derives the class of the turn from its sender', async () => {
  await using node = await startMcpNode([])
  const remote = { sender: 'tg:1' }
  const decision = await explain(node, 'bash', { command: 'ls' }, remote)
  assert.deepEqual([decision.effect, decision.trust], [DENY, 'remote'])
  for (const tool of ['remember', 'forget', 'recall']) {
    const effects = [(await explain(node, tool, {})).effect, (await explain(node, tool, {}, remote)).effect]
    assert.deepEqual([tool, ...effects], [tool, ALLOW, DENY])
  }
})

test('policy_explain says what a turn is told', async () => {
  const calls = [
    { tool: 'write', args: { path: 'a.txt', content: 'b' } },
    { tool: 'read', args: { path: '/etc/hostname' } },
    { tool: 'read', args: { path: 'none.txt' } },
  ]
  await using node = await startMcpNode((_, index) => {
    const parts = calls.map(({ tool, args }, i) => ({
      call: `c${i}`,
      name: tool,
      args: JSON.stringify(args),
    }))
    return { parts: index === 0 ? parts : ['done'] }
  })
  const results = (await node.ask('go')).flatMap((event) =>
    event.$case === 'toolResult' ? [event.value] : [],
  )
  for (const [i, { tool, args }] of calls.entries()) {
    const { effect, reason, suggestions } = await explain(node, tool, args, { sender: 'ann' })
    const denial = results.find(({ callId }) => callId === `c${i}`)?.denial
    assert.equal(denial === undefined, effect === ALLOW, tool)
    if (denial) assert.deepEqual([denial.rules, denial.reason.startsWith(reason)], [suggestions, true])
  }
})

test('policy_explain includes what was allowed for a conversation', async () => {
  const args = JSON.stringify({ path: 'a.txt', content: 'x' })
  await using node = await startMcpNode((_, index) => ({
    parts: index === 0 ? [{ call: 'c1', name: 'write', args }] : ['done'],
  }))
  const options = { onAsk: OnAsk.CLIENT }
  for await (const { event } of streamTurn(
    node.dispatch,
    { agent: 'crab', sender: 'ann', content: 'go', options },
    NEVER,
  )) {
    if (event?.$case !== 'askUser') continue
    const { askId, questions } = event.value
    const content = JSON.stringify({ [questions[0]!.question]: PERMISSION_ANSWERS.session })
    await request(node.dispatch, 'replyToAsk', { agent: 'crab', sender: 'ann', askId, content }, NEVER)
  }
  const inside = await explain(node, 'edit', { path: 'a.txt' }, { sender: 'ann' })
  assert.deepEqual([inside.effect, inside.rule?.source], [ALLOW, 'this conversation'])
  assert.equal((await explain(node, 'edit', { path: 'a.txt' }, { sender: 'bob' })).effect, ASK)
})

function explain(
  { dispatch }: { dispatch: Dispatch } | TestDispatch,
  tool: string,
  args: object,
  more: Partial<ExplainPolicy> = {},
) {
  const body = { agent: 'crab', tool, arguments: JSON.stringify(args), ...more }
  return request(dispatch, 'policyExplain', body, NEVER)
}
