import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compositeHook } from '../../../src/core/runtime/composite-hook.ts'
import type { AgentEvent } from '../../../src/core/runtime/events.ts'
import type { Hook, ToolDispatch } from '../../../src/core/runtime/hook.ts'
import { AGENT } from '../../support/agents.ts'

const NEVER = new AbortController().signal
const CALL: ToolDispatch = {
  callId: 'a',
  args: {},
  agent: AGENT,
  sender: 'ann',
  session: 's',
  cwd: '/',
  env: {},
}

test('compositeHook() of nothing, and of hooks that do nothing, does nothing', async () => {
  for (const hook of [compositeHook([]), compositeHook([{}, {}])]) {
    assert.deepEqual(hook.schema?.(), [])
    assert.equal(hook.systemPrompt?.(), undefined)
    assert.equal(await hook.context?.('/'), undefined)
    assert.equal(hook.onBuildAgent?.(AGENT), AGENT)
    assert.equal(await hook.preprocess?.(AGENT, 'hi'), undefined)
    assert.deepEqual(hook.scopedTools?.(AGENT), { tools: [] })
    assert.equal(hook.dispatch?.('read', CALL, NEVER), undefined)
  }
})

test('compositeHook() shows the tools of all hooks in order; a name belongs to the first', async () => {
  const hook = compositeHook([toolHook('first', ['read']), toolHook('second', ['grep', 'read'])])
  assert.deepEqual(
    hook.schema?.().map(({ name, description }) => [name, description]),
    [
      ['read', 'first'],
      ['grep', 'second'],
    ],
  )
  assert.deepEqual(await hook.dispatch?.('read', CALL, NEVER), { output: 'first read', isError: false })
  assert.deepEqual(await hook.dispatch?.('grep', CALL, NEVER), { output: 'second grep', isError: false })
  assert.equal(hook.dispatch?.('bash', CALL, NEVER), undefined)
})

test('compositeHook() scopes by what each hook allows of its own tools, with all the lines', () => {
  const narrow: Hook = {
    ...toolHook('narrow', ['edit', 'read']),
    scopedTools: () => ({ tools: ['read'], scope: 'read only' }),
  }
  const silent: Hook = { scopedTools: () => ({ tools: [] }) }
  const lined: Hook = { scopedTools: () => ({ tools: [], scope: 'skills: review' }) }
  assert.deepEqual(compositeHook([narrow, silent, toolHook('wide', ['grep']), lined]).scopedTools?.(AGENT), {
    tools: ['read', 'grep'],
    scope: 'read only\n\nskills: review',
  })
})

test('compositeHook() lets no other hook allow a tool that its owner does not', () => {
  const owner: Hook = { ...toolHook('owner', ['edit']), scopedTools: () => ({ tools: [] }) }
  const hook = compositeHook([owner, toolHook('other', ['edit', 'grep'])])
  assert.deepEqual(hook.scopedTools?.(AGENT).tools, ['grep'])
})

test('compositeHook() joins standing instructions and contexts in order, without empty ones', async () => {
  const hook = compositeHook([
    { systemPrompt: () => 'one', context: async (cwd) => `in ${cwd}` },
    { systemPrompt: () => '', context: async () => undefined },
    {},
    { systemPrompt: () => 'two', context: async () => 'and more' },
  ])
  assert.equal(hook.systemPrompt?.(), 'one\n\ntwo')
  assert.equal(await hook.context?.('/work'), 'in /work\n\nand more')
})

test('compositeHook() builds an agent, and rewrites a message, hook after hook', async () => {
  const add = (suffix: string): Hook => ({
    onBuildAgent: (config) => ({ ...config, prompt: config.prompt + suffix }),
    preprocess: async (_, content) => content + suffix,
  })
  const hook = compositeHook([add('1'), {}, { preprocess: async () => undefined }, add('2')])
  assert.equal(hook.onBuildAgent?.(AGENT).prompt, `${AGENT.prompt}12`)
  assert.equal(await hook.preprocess?.(AGENT, '/x'), '/x12')
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
