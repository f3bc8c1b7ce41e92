import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compositeHook } from '../../../src/core/runtime/composite-hook.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook, ToolsTurn, UserMessage } from '../../../src/core/runtime/hook.ts'
import { AGENT } from '../../support/agents.ts'
import { CONTEXT_TURN } from '../../support/context-turn.ts'
import { toolDispatch, toolRequest } from '../../support/dispatches.ts'

const NEVER = new AbortController().signal
const CALL = toolDispatch()
const TURN: ToolsTurn = { emit() {}, signal: NEVER }

const toMessage = (content: string): UserMessage => {
  return { agent: AGENT, content, trust: 'local', spillDir: '/spill', notice() {}, attach() {} }
}

test('compositeHook() of nothing, and of empty hooks, does nothing', async () => {
  for (const hook of [compositeHook([]), compositeHook([{}, {}])]) {
    assert.deepEqual(await hook.schema?.(AGENT, TURN), [])
    assert.equal(
      hook.systemPrompt?.(() => true),
      undefined,
    )
    assert.equal(await hook.context?.('/', CONTEXT_TURN), undefined)
    assert.equal(hook.onBuildAgent?.(AGENT), AGENT)
    assert.equal(await hook.preprocess?.(toMessage('hi'), NEVER), undefined)
    assert.equal(hook.scope?.(AGENT), undefined)
    assert.equal(hook.describe?.('read', toolRequest()), undefined)
    assert.equal(hook.dispatch?.('read', CALL, NEVER), undefined)
  }
})

test('compositeHook() offers the tools of all hooks in order; a name belongs to the first', async () => {
  const hook = compositeHook([toolHook('first', ['read']), toolHook('second', ['grep', 'read'])])
  const tools = await hook.schema?.(AGENT, TURN)
  assert.deepEqual(
    tools?.map(({ name, description }) => [name, description]),
    [
      ['read', 'first'],
      ['grep', 'second'],
    ],
  )
  assert.deepEqual(await hook.dispatch?.('read', CALL, NEVER), { output: 'first read', isError: false })
  assert.deepEqual(await hook.dispatch?.('grep', CALL, NEVER), { output: 'second grep', isError: false })
  assert.equal(hook.dispatch?.('bash', CALL, NEVER), undefined)
})

test('compositeHook() waits for the tools of all hooks in parallel', async () => {
  const gates = ['a', 'b'].map((name) => ({ name, ...Promise.withResolvers<void>() }))
  const slow = gates.map(
    ({ name, promise }): Hook => ({
      schema: async (...at) => {
        await promise
        return (await toolHook(name, [name]).schema?.(...at)) ?? []
      },
    }),
  )
  const tools = compositeHook(slow).schema?.(AGENT, TURN)
  for (const { resolve } of gates.toReversed()) resolve()
  assert.deepEqual(
    (await tools)?.map(({ name }) => name),
    ['a', 'b'],
  )
})

test('compositeHook() has the groups of all hooks, and the first reason why a tool cannot be called', () => {
  const group = (id: string) => ({ id, title: id, description: '', tools: [] })
  const hook = compositeHook([
    { groups: () => [group('a')], whyNot: () => undefined },
    {},
    { groups: () => [group('b'), group('c')], whyNot: (name) => `not ${name}` },
  ])
  assert.deepEqual(
    hook.groups?.(AGENT).map(({ id }) => id),
    ['a', 'b', 'c'],
  )
  assert.equal(hook.whyNot?.('x', NEVER), 'not x')
})

test('compositeHook() joins the scopes of all hooks', () => {
  const hook = compositeHook([{ scope: () => 'read only' }, {}, { scope: () => 'skills: review' }])
  assert.equal(hook.scope?.(AGENT), 'read only\n\nskills: review')
})

test('compositeHook() lets the owner of a name describe its calls', async () => {
  const describer = (label: string, owned: string): Hook => ({
    describe: (name) => (name === owned ? Promise.resolve({ kind: 'bash', command: label }) : undefined),
  })
  const hook = compositeHook([
    describer('first', 'bash'),
    describer('second', 'bash'),
    describer('third', 'sh'),
  ])
  assert.deepEqual(await hook.describe?.('bash', toolRequest()), { kind: 'bash', command: 'first' })
  assert.deepEqual(await hook.describe?.('sh', toolRequest()), { kind: 'bash', command: 'third' })
})

test('compositeHook() joins standing instructions and contexts in order, without empty ones', async () => {
  const hook = compositeHook([
    { systemPrompt: () => 'one', context: async (cwd) => `in ${cwd}` },
    { systemPrompt: () => '', context: async () => undefined },
    {},
    { systemPrompt: () => 'two', context: async () => 'and more' },
  ])
  assert.equal(
    hook.systemPrompt?.(() => true),
    'one\n\ntwo',
  )
  assert.equal(await hook.context?.('/work', CONTEXT_TURN), 'in /work\n\nand more')
})

test('compositeHook() builds an agent, and rewrites a message, hook after hook', async () => {
  const add = (suffix: string): Hook => ({
    onBuildAgent: (config) => ({ ...config, prompt: config.prompt + suffix }),
    preprocess: async ({ content }) => content + suffix,
  })
  const hook = compositeHook([add('1'), {}, { preprocess: async () => undefined }, add('2')])
  assert.equal(hook.onBuildAgent?.(AGENT).prompt, `${AGENT.prompt}12`)
  assert.equal(await hook.preprocess?.(toMessage('/x'), NEVER), '/x12')
})

test('compositeHook() registers in order, unregisters in reverse, and shows every hook every event', async () => {
  const log: string[] = []
  const logger = (name: string): Hook => ({
    async onRegisterAgent({ id }) {
      log.push(`${name} + ${id}`)
    },
    async onUnregisterAgent({ id }) {
      log.push(`${name} - ${id}`)
    },
    onEvent: (agent, session, { type }) => log.push(`${name} ${agent} ${session} ${type}`),
  })
  const hook = compositeHook([logger('a'), {}, logger('b')])
  const event: AgentEvent = { type: 'tools-complete' }
  await hook.onRegisterAgent?.(AGENT)
  hook.onEvent?.('crab', 's1', event)
  await hook.onUnregisterAgent?.(AGENT)
  const { id } = AGENT
  assert.deepEqual(log, [
    `a + ${id}`,
    `b + ${id}`,
    'a crab s1 tools-complete',
    'b crab s1 tools-complete',
    `b - ${id}`,
    `a - ${id}`,
  ])
})

function toolHook(label: string, names: readonly string[]): Hook {
  return {
    schema: () => names.map((name) => ({ name, description: label, parameters: { type: 'object' } })),
    dispatch: (name) =>
      names.includes(name) ? Promise.resolve({ output: `${label} ${name}`, isError: false }) : undefined,
  }
}
