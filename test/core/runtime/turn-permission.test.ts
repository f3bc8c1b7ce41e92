import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { PERMISSION_ANSWERS } from '../../../src/core/base/permission-answers.ts'
import { turnFolder } from '../../../src/core/policy/class-rights.ts'
import type { QueuedAsk } from '../../../src/core/runtime/asks.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook } from '../../../src/core/runtime/hook.ts'
import type { TurnRequest } from '../../../src/core/runtime/turn-request.ts'
import type { SessionLine } from '../../../src/core/storage/types.ts'
import type { Reply } from '../../support/model-server.ts'
import { findEnd, requestMessages, startTestNode, type TestNode } from '../../support/test-node.ts'
import { toolsHook } from '../../support/tools.ts'

const CLIENT = { settings: { onAsk: 'client' } } as const

test('Runtime.turn() runs a call that a rule allows, and stores that decision before the call', async () => {
  let before: string[] = []
  const shell = shellHook(async (node) => {
    before = decisions(await node.lines())
  })
  await using node = await start(shell, ['npm test'])
  const events = await node.ask('go', { settings: { allow: ['bash(npm *)'] } })
  assert.deepEqual([shell.ran, before], [['npm test'], ['allow by rule bash(npm *) (--allow)']])
  assert.deepEqual(asksIn(events), [])
})

test('Runtime.turn() refuses a call that a rule denies, whatever else allows it', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['rm -rf x'])
  const events = await node.ask('go', {
    settings: { allow: ['bash'], deny: ['bash(rm *)'], onAsk: 'client' },
  })
  assert.deepEqual([shell.ran, asksIn(events)], [[], []])
  assert.equal(denialIn(events)?.by, 'rule')
  assert.match(resultIn(node), /^Not permitted: bash: rm -rf x: /)
  assert.deepEqual(decisions(await node.lines()), ['deny by rule bash(rm *) (--deny)'])
})

test('Runtime.turn() that cannot ask denies, says which rule would allow it, and continues', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  const events = await node.ask('go')
  assert.deepEqual([shell.ran, findEnd(events).stopReason], [[], 'stop'])
  assert.deepEqual(pick(denialIn(events)), ['bash: npm test', ['bash(npm test *)'], 'nobody'])
  assert.match(resultIn(node), /can allow it with the rule bash\(npm test \*\)$/)
  assert.deepEqual(decisions(await node.lines()), ['deny by nobody'])
})

test('Runtime.turn() that must fail instead of asking fails with `denied`', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  const end = findEnd(await node.ask('go', { settings: { onAsk: 'fail' } }))
  assert.deepEqual([shell.ran, end.stopReason, end.error?.kind], [[], 'failed', 'denied'])
  assert.match(end.error?.message ?? '', /permission for bash: npm test/)
  assert.equal(end.error?.hint, "allow it with --allow 'bash(npm test *)'")
  assert.equal(node.server.requests.length, 1)
})

test('Runtime.turn() asks a user, who may allow one call', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test', 'npm test'])
  const { asks, events } = await askAndAnswer(node, [PERMISSION_ANSWERS.once, PERMISSION_ANSWERS.no])
  assert.deepEqual(shell.ran, ['npm test'])
  assert.deepEqual(
    asks.map(({ permission }) => permission?.action),
    ['bash: npm test', 'bash: npm test'],
  )
  assert.deepEqual(closedIn(events), ['ann', 'ann'])
  assert.match(resultIn(node), /the user said no$/)
  assert.deepEqual(decisions(await node.lines()), ['allow by person', 'deny by person'])
})

test('Runtime.turn() remembers what is allowed for a conversation, in later turns of other processes too', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test', 'npm test'])
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.session])
  await using other = await startTestNode(replies(['npm test']), { hooks: [shell], stores: node.stores })
  await copyAgent(node, other)
  await other.ask('again', CLIENT)
  assert.deepEqual([asks.length, shell.ran.length], [1, 3])
})

test("Runtime.turn() remembers a tool of a project's server for that file with that content only", async () => {
  const shell = shellHook()
  const describe: Hook['describe'] = async (_, { args: { command } }) => {
    const project = { file: '/p/.mcp.json', sha256: String(command) }
    return { kind: 'mcp', name: 'bash', server: 'pj', tool: 'who', project }
  }
  await using node = await start(Object.assign(shell, { describe }), ['one', 'one', 'two'])
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.session, PERMISSION_ANSWERS.no])
  const [first] = asks[0]!.questions
  assert.deepEqual(
    first!.options.map(({ label }) => label),
    [PERMISSION_ANSWERS.no, PERMISSION_ANSWERS.once, PERMISSION_ANSWERS.session],
  )
  assert.match(first!.options[2]!.description, /until this conversation ends, or \/p\/\.mcp\.json changes$/)
  assert.deepEqual(shell.ran, ['one', 'one'])
  node.goOn(['one', 'two'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.no])
  assert.deepEqual(shell.ran, ['one', 'one', 'one'])
})

test('Runtime.turn() asks again in another conversation', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.session])
  node.goOn(['npm test'])
  const events = await node.ask('go', { sender: 'bob', settings: { onAsk: 'deny' } })
  assert.equal(denialIn(events)?.by, 'nobody')
})

test("Runtime.turn() writes what is always allowed into the agent's file", async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.always])
  const file = await readFile(join(node.home.paths.agents, 'crab.toml'), 'utf8')
  assert.match(file, /allow = \[\s*"bash\(npm test \*\)"\s*\]/)
  node.goOn(['npm test'])
  await node.ask('go', { sender: 'bob' })
  assert.equal(shell.ran.length, 2)
  assert.deepEqual(decisions(await node.lines('bob')), [
    `allow by rule bash(npm test *) (agents/crab.toml:${findLine(file, 'bash(npm test *)')})`,
  ])
})

test('Runtime.turn() passes the reason of a refusal to the model', async () => {
  await using node = await start(shellHook(), ['rm x'])
  await askAndAnswer(node, ['use git rm instead'])
  assert.match(resultIn(node), /the user said no: use git rm instead$/)
})

test('Runtime.turn() asks about the calls of a step one after the other, and one answer may apply to all', async () => {
  const shell = shellHook()
  const calls = ['npm test', 'npm test', 'npm test'].map((command, at) => call(`c${at}`, command))
  await using node = await startTestNode([{ parts: calls }, { parts: ['ok'] }], { hooks: [shell] })
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.session])
  assert.deepEqual([asks.length, shell.ran.length], [1, 3])
})

test('Runtime.turn() offers code for this conversation only', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['node -e 1'])
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.session])
  const labels = asks[0]?.questions[0]?.options.map(({ label }) => label)
  assert.deepEqual(labels, ['Deny', 'Allow once', 'Allow in this conversation'])
  assert.equal(asks[0]?.permission?.reason, 'no lasting rule: node -e runs any code')
  node.goOn(['node -e 1', 'node -e 2'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.always])
  assert.deepEqual(shell.ran, ['node -e 1', 'node -e 1'])
  assert.match(resultIn(node), /the user said no: Always allow$/)
})

test('Runtime.turn() offers no lasting answer for a command that no narrow rule can match', async () => {
  await using node = await start(shellHook(), ['echo $(id)'])
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.once])
  const labels = asks[0]?.questions[0]?.options.map(({ label }) => label)
  assert.deepEqual([labels, asks[0]?.permission?.rules], [['Deny', 'Allow once'], []])
})

test('Runtime.turn() says which offered and matching rules permit nearly anything', async () => {
  await using node = await start(shellHook(), ['cp "a\nb" c && sh -c ls'])
  const settings = { onAsk: 'client', allow: ['bash(sh *)'] } as const
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.no], { settings })
  const { rules, warnings } = asks[0]!.permission!
  assert.deepEqual(rules, ["bash(cp 'a'*'b' c)"])
  assert.deepEqual(warnings, [
    `${rules[0]} would permit overwriting any file, such as ~/.bashrc, without asking; write the whole line, or allow edit(src/**)`,
    '--allow: allow bash(sh *) permits any command without asking; allow the commands themselves, as in bash(npm test *)',
  ])
})

test('Runtime.turn() treats an unanswered question as a no', async () => {
  const shell = shellHook()
  const script = [{ parts: [call('a', 'npm test')] }, { parts: ['ok'] }]
  await using node = await startTestNode(script, { hooks: [shell], askTimeoutMs: 1 })
  const events = await node.ask('go', CLIENT)
  assert.deepEqual([shell.ran, closedIn(events)], [[], ['timeout']])
  assert.match(denialIn(events)?.reason ?? '', /no one answered$/)
})

test('Runtime.turn() waits as long as its client is connected, and says which commands of a line it asks about', async () => {
  const shell = shellHook()
  const script = [{ parts: [call('a', 'npm test && echo ok')] }, { parts: ['ok'] }]
  await using node = await startTestNode(script, { hooks: [shell], askTimeoutMs: 1 })
  const settings = { onAsk: 'client', isAttended: true, allow: ['bash(echo *)'] } as const
  for await (const event of node.turn('go', { settings })) {
    if (event.type !== 'ask') continue
    const commands = event.ask.permission?.commands.map(({ text, asks }) => [text, asks])
    assert.deepEqual(commands, [
      ['npm test', true],
      ['echo ok', false],
    ])
    await node.asks.wait({ ...OTHER, hasTimeLimit: true }, new AbortController().signal) // as long as others may wait
    const content = JSON.stringify({ [event.ask.questions[0]!.question]: PERMISSION_ANSWERS.once })
    node.asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: event.ask.id }, content)
  }
  assert.deepEqual(shell.ran, ['npm test && echo ok'])
})

test('Runtime.turn() that is cancelled while it asks ends immediately, and its question is removed', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  const stop = new AbortController()
  const seen: AgentEvent[] = []
  for await (const event of node.turn('go', CLIENT, stop.signal)) {
    seen.push(event)
    if (event.type === 'ask') stop.abort()
  }
  assert.deepEqual([closedIn(seen), findEnd(seen).stopReason], [['cancelled'], 'cancelled'])
  assert.deepEqual([node.asks.list(''), shell.ran], [[], []])
})

test('a tool can ask a user, and is told when none is available', async () => {
  const question = { question: 'Which?', header: 'Pick', options: [], multiSelect: false }
  const asker = toolsHook({ ask: async (at) => JSON.stringify(await at.ask([question], 'question')) })
  const parts = [{ call: 'a', name: 'ask', args: '{}' }]
  const script = () => [{ parts }, { parts: ['ok'] }]
  await using node = await startTestNode([...script(), ...script()], { hooks: [asker] })
  await askAndAnswer(node, ['blue'])
  assert.equal(resultIn(node), '{"Which?":"blue"}')
  await node.ask('again')
  assert.match(resultIn(node), /Cannot ask: no user is available to answer/)
})

/** A question of another turn. */
const OTHER: Omit<QueuedAsk, 'hasTimeLimit'> = {
  agent: 'crab',
  sender: 'bob',
  trust: 'local',
  session: 's',
  runId: 'r',
  openedAt: 0,
  ask: { id: 'other', kind: 'question', questions: [], permission: undefined },
}

/** A `bash` that runs nothing and records its commands. */
function shellHook(onRun: (node: TestNode) => Promise<void> = async () => {}) {
  const ran: string[] = []
  const at: { node?: TestNode } = {}
  const tools = toolsHook({
    async bash({ args }) {
      await onRun(at.node!)
      ran.push(String(args['command']))
      return 'done'
    },
  })
  const describe: Hook['describe'] = async (_, { args }) => ({
    kind: 'bash',
    command: String(args['command']),
  })
  return Object.assign({ ...tools, describe }, { ran, at })
}

/** Starts a node whose model calls `bash` with each of these commands, one per step. */
async function start(shell: ReturnType<typeof shellHook>, commands: readonly string[]) {
  const script = replies(commands)
  const node = await startTestNode(script, { hooks: [shell] })
  shell.at.node = node
  return Object.assign(node, { goOn: (more: readonly string[]) => void script.push(...replies(more)) })
}

function replies(commands: readonly string[]): Reply[] {
  return [...commands.map((command, at) => ({ parts: [call(`c${at}`, command)] })), { parts: ['ok'] }]
}

/** Runs a turn and gives these answers to its questions, in order. */
async function askAndAnswer(node: TestNode, answers: readonly string[], more: Partial<TurnRequest> = CLIENT) {
  const left = [...answers]
  const events: AgentEvent[] = []
  for await (const event of node.turn('go', more)) {
    events.push(event)
    if (event.type !== 'ask') continue
    const content = JSON.stringify({ [event.ask.questions[0]!.question]: left.shift() })
    node.asks.reply({ agent: 'crab', sender: 'ann', trust: 'local', id: event.ask.id }, content)
  }
  assert.deepEqual(left, [], 'every answer was asked for')
  return { events, asks: asksIn(events) }
}

async function copyAgent(from: TestNode, to: TestNode): Promise<void> {
  await to.home.write('agents/crab.toml', await readFile(join(from.home.paths.agents, 'crab.toml'), 'utf8'))
}

function call(id: string, command: string) {
  return { call: id, name: 'bash', args: JSON.stringify({ command }) }
}

function asksIn(events: readonly AgentEvent[]) {
  return events.flatMap((event) => (event.type === 'ask' ? [event.ask] : []))
}

function closedIn(events: readonly AgentEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'ask-closed' ? [event.by] : []))
}

function denialIn(events: readonly AgentEvent[]) {
  return events.flatMap((event) => (event.type === 'tool-result' && event.denial ? [event.denial] : []))[0]
}

function pick(denial: ReturnType<typeof denialIn>) {
  return [denial?.action, denial?.rules, denial?.by]
}

/** Returns the last tool result that the model read. */
function resultIn(node: TestNode): string {
  return String(
    requestMessages(node.server.requests.at(-1)).findLast(({ role }) => role === 'tool')?.['content'],
  )
}

function decisions(lines: readonly SessionLine[]): string[] {
  return lines.flatMap((line) => {
    if (line.kind !== 'event' || line.event !== 'permission') return []
    const { effect, by, rule, source } = line
    return [`${effect} by ${by}${by === 'rule' ? ` ${rule} (${source})` : ''}`]
  })
}

function findLine(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split('\n').length
}

test("Runtime.turn() gives remote and unattended turns folders of their own, whatever the conversation's directory", async () => {
  const cwds: string[] = []
  const look = toolsHook({ look: ({ cwd }) => String(cwds.push(cwd)) }, { readOnly: true })
  const describe: Hook['describe'] = async (_, { cwd }) => ({ kind: 'read', path: cwd, shown: '.' })
  const script = (_: unknown, index: number) => ({
    parts: index % 2 === 0 ? [{ call: 'a', name: 'look', args: '{}' }] : ['ok'],
  })
  await using node = await startTestNode(script, { hooks: [{ ...look, describe }] })
  const { home, workspace } = node.home.paths
  await node.ask('go')
  await node.ask('go', { trust: 'remote' }) // the same conversation, which works in the home
  await node.ask('go', { trust: 'unattended' })
  await node.ask('go', { trust: 'remote', cwd: home })
  await node.ask('go', { sender: 'tg:1', trust: 'remote' })
  await node.ask('go')
  const { id: agentId } = await node.agents.get('crab')
  const folder = (sender: string) => turnFolder(workspace, { agent: 'crab', agentId, sender }, 'remote')
  assert.deepEqual(cwds, [
    home,
    folder('ann'),
    join(workspace, 'crab', 'unattended'),
    folder('ann'),
    folder('tg:1'),
    home,
  ])
  for (const cwd of cwds.slice(1, -1)) assert.equal((await stat(cwd)).mode & 0o777, 0o700)
})

test('a remote or unattended turn has no grant of the conversation, and its client is not asked for permission', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.session])
  for (const trust of ['unattended', 'remote'] as const) {
    node.goOn(['npm test'])
    const events = await node.ask('again', { trust, settings: { onAsk: 'client' } })
    assert.deepEqual(asksIn(events), [])
  }
  node.goOn(['npm test'])
  await node.ask('again')
  assert.equal(shell.ran.length, 2)
})

test('a permission that an unattended turn parks is given once, by the user', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  const { asks } = await askAndAnswer(node, [PERMISSION_ANSWERS.once], {
    trust: 'unattended',
    settings: { onAsk: 'park' },
  })
  assert.deepEqual([asks[0]?.permission?.rules, shell.ran.length], [[], 1])
})

test('an unreadable grant grants nothing, and stops no turn', async () => {
  const shell = shellHook()
  await using node = await start(shell, ['npm test'])
  await askAndAnswer(node, [PERMISSION_ANSWERS.once])
  const { id: agentId } = await node.agents.get('crab')
  const session = await node.stores.storage.activeSession({ agentId, sender: 'ann' })
  const { cursor } = await node.stores.storage.read(session!)
  const decision = { call_id: 'x', name: 'bash', effect: 'allow', by: 'person', reason: 'ann' } as const
  const line = {
    kind: 'event',
    event: 'permission',
    ...decision,
    grant: 'session',
    rules: ['grep(x', 'bash'],
  } as const
  await node.stores.storage.append(session!, cursor, [{ ...line, rules: [...line.rules] }])
  node.goOn(['npm test'])
  assert.equal(findEnd(await node.ask('again')).stopReason, 'stop')
  assert.equal(shell.ran.length, 2)
})
