import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { stringify } from 'smol-toml'
import type { JsonObject } from '../../src/core/base/message.ts'
import {
  type DeepPartial,
  type ExplainPolicy,
  McpActionKind,
  PolicyEffect,
} from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { CREDENTIALS } from '../support/mcp/credentials.ts'
import { startMcpNode } from '../support/mcp/mcp-node.ts'
import { type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import type { Script } from '../support/model-server.ts'
import { findEvent, startTestDispatch, type TestDispatch, type WireEvent } from '../support/test-dispatch.ts'
import { answersIn, type ToolCall } from '../support/tool-talk.ts'

const TOKEN = CREDENTIALS['a GitHub token']!
const ALL = { permissions: { allow: ['*'] } }

/**
 * Starts an agent with the servers `one` and `two`, and another with the server `other`; each records what
 * reaches it.
 */
interface CallNode extends TestDispatch {
  one: WatchedServer
  two: WatchedServer
  other: WatchedServer
  /**
   * Runs a turn of the first agent in which the model makes these calls in one step; returns the result of
   * each.
   */
  act(calls: readonly ToolCall[]): Promise<string[]>
  turn(calls: readonly ToolCall[]): Promise<{ events: WireEvent[]; answers: string[] }>
}

describe('calls of tools in a turn', { concurrency: 2 }, () => {
  test('a hidden, foreign or missing tool is refused by any name, before its server is asked', async () => {
    await using node = await startCallNode({ one: { ...ALL, exclude: ['add'] } })
    const args = { a: 1, b: 2, text: 'x' }
    const names = 'mcp__one__add add mcp__other__echo mcp__one__nothing mcp__none__echo one__echo'.split(' ')
    await node.act([['mcp__two__echo', args]]) // the servers run in any case
    const answers = await node.act(names.map((name) => [name, args]))
    for (const [i, answer] of answers.entries()) {
      // the bare name `add` matches one that the agent does have
      if (names[i] !== 'add') assert.match(answer, /^Cannot call \S+: no tool has that name/, `${names[i]}`)
    }
    assert.deepEqual(node.one.messages('tools/call'), [])
    assert.deepEqual(node.other.received(), [])
    assert.deepEqual(
      node.two.messages('tools/call').map(({ params }) => params?.['name']),
      ['echo', 'add'],
    )
  })

  test('a missing tool is reported first, then a missing permission, then a secret', async () => {
    await using node = await startCallNode({ one: { permissions: { deny: ['add'] } }, two: ALL })
    const secret = { text: TOKEN, password: 'hunter2' }
    const answers = await node.act([
      ['mcp__one__add', { a: 1, token: TOKEN }],
      ['mcp__one__add', { a: 1, b: 2, token: TOKEN }],
      ['mcp__two__echo', secret],
    ])
    assert.equal(answers[0], 'Cannot call add: "b" is missing')
    assert.match(answers[1]!, /^Not permitted: mcp__one__add: .* denies mcp__one__add/)
    assert.match(answers[2]!, /the argument text looks like a credential, so nothing was sent/)
    for (const server of [node.one, node.two]) assert.deepEqual(server.messages('tools/call'), [])
  })

  test("stored calls name the server and the server's own tool name", async () => {
    await using node = await startCallNode({ one: ALL })
    const { events } = await node.turn([['mcp__one__echo', { text: 'hello' }]])
    const [call] = findEvent(events, 'toolStart').value.calls
    assert.deepEqual([call!.name, call!.server, call!.tool], ['mcp__one__echo', 'one', 'echo'])
    const lines = await readLines(node)
    const permission = lines.find(({ event }) => event === 'permission')!
    const result = lines.find(({ event }) => event === 'tool_result')!
    for (const line of [permission, result]) assert.deepEqual([line['server'], line['tool']], ['one', 'echo'])
    assert.equal(permission['effect'], 'allow')
  })

  test('a call that a user makes directly is not scanned for secrets', async () => {
    await using node = await startCallNode({ one: ALL })
    const args = JSON.stringify({ text: TOKEN })
    const body = { agent: 'crab', name: 'one', action: McpActionKind.CALL, tool: 'echo', arguments: args }
    assert.equal((await request(node.dispatch, 'mcpAction', body, NEVER)).output, TOKEN)
  })

  test('the view of the context leaves out tools that a rule denies, because they are not sent', async () => {
    await using node = await startCallNode({ one: { permissions: { deny: ['add'] } }, two: ALL })
    await node.act([['mcp__two__echo', { text: 'x' }]])
    const { sessionId: session } = findEvent((await node.turn([])).events, 'start').value
    const { parts } = await request(node.dispatch, 'contextView', { session }, NEVER)
    const counts = Object.fromEntries(
      parts.filter(({ name }) => name !== '').map((part) => [part.name, part.count]),
    )
    const sent = (server: string) =>
      new Set(node.server.requests.at(-1)!.text.match(new RegExp(`"mcp__${server}__\\w+"`, 'g'))).size
    assert.deepEqual(counts, { one: sent('one'), two: sent('two') })
    assert.equal(counts['one'], counts['two']! - 1)
  })

  test('a call of a built-in tool names no server', async () => {
    await using node = await startCallNode({})
    await node.act([['bash', { command: 'true' }]])
    for (const line of (await readLines(node)).filter(({ kind }) => kind === 'event')) {
      assert.ok(!('server' in line) && !('tool' in line))
    }
  })

  const levels = ['entry', 'agent', 'config', 'flags'] as const
  const strengths = ['deny', 'ask', 'allow'] as const
  test('deny beats ask and ask beats allow, whichever level says it', async () => {
    for (const [i, first] of levels.entries()) {
      for (const second of levels.filter((_, j) => j !== i)) {
        for (const [strong, weak] of [
          ['deny', 'allow'],
          ['deny', 'ask'],
          ['ask', 'allow'],
        ] as const) {
          const decided = await decide({ [first]: strong, [second]: weak })
          assert.equal(decided, strong, `${strong} of the ${first}, ${weak} of the ${second}`)
        }
      }
    }
    for (const level of levels) {
      for (const effect of strengths) assert.equal(await decide({ [level]: effect }), effect)
    }
  })
})

/** Returns the decision about a call when each of these levels has one rule about it. */
async function decide(
  rules: Partial<Record<'entry' | 'agent' | 'config' | 'flags', Strength>>,
): Promise<Strength> {
  const { entry, agent, config, flags } = rules
  const table = (effect: Strength | undefined, pattern: string) =>
    effect ? { permissions: { [effect]: [pattern] } } : {}
  const rule = 'mcp__one__add'
  await using node = await startTestDispatch([], { config: `\n${stringify(table(config, rule))}` })
  const mcps = [{ name: 'one', command: 'none', start: 'lazy', ...table(entry, 'add') }]
  await node.home.write('agents/crab.toml', stringify({ id: ID, ...table(agent, rule), mcps }))
  const query: DeepPartial<ExplainPolicy> = { tool: rule, ...(flags && { [flags]: [rule] }) }
  const { effect } = await request(node.dispatch, 'policyExplain', query, NEVER)
  return EFFECTS[effect as keyof typeof EFFECTS]
}

type Strength = 'allow' | 'ask' | 'deny'
const EFFECTS = {
  [PolicyEffect.ALLOW]: 'allow',
  [PolicyEffect.ASK]: 'ask',
  [PolicyEffect.DENY]: 'deny',
} as const
const NEVER = new AbortController().signal
const ID = '01JZZZZZZZZZZZZZZZZZZZZZZZ'

async function startCallNode(entries: Partial<Record<'one' | 'two', JsonObject>>): Promise<CallNode> {
  const folder = await recordFolder()
  const server = (name: string) => watchedServer(folder.path, { tools: ['few'] }, { name })
  const [one, two, other] = [server('one'), server('two'), server('other')]
  let calls: readonly ToolCall[] = []
  const script: Script = (request) => {
    const parts = calls.map(([name, args], i) => ({ call: `c${i}`, name, args: JSON.stringify(args) }))
    return { parts: answersIn(request).length === 0 ? parts : ['Done.'] }
  }
  const node = await startMcpNode(script)
  const mcps = [
    { ...one.entry, ...entries.one },
    { ...two.entry, ...ALL, ...entries.two },
  ]
  await node.home.write('agents/crab.toml', stringify({ id: ID, mcps }))
  await node.home.write(
    'agents/other.toml',
    stringify({ id: ID.replace('Z', 'Y'), mcps: [{ ...other.entry, ...ALL }] }),
  )
  const turn: CallNode['turn'] = async (given) => {
    calls = given
    const events = await node.ask('go')
    return { events, answers: answersIn(node.server.requests.at(-1)!) }
  }
  return {
    ...node,
    one,
    two,
    other,
    turn,
    act: async (given) => (await turn(given)).answers,
    async [Symbol.asyncDispose]() {
      await node[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Returns the lines of the only session. */
async function readLines({ home }: TestDispatch): Promise<JsonObject[]> {
  const folder = join(home.paths.home, 'sessions')
  const [name] = await readdir(folder)
  const text = await readFile(join(folder, name!), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
