import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { KnownAgents } from '../../../src/core/runtime/known-agents.ts'
import { AGENT } from '../../support/agents.ts'

test('register() reports each version of an agent once, also to concurrent callers', async () => {
  const { known, told: calls } = watched()
  await Promise.all([known.register(AGENT), known.register({ ...AGENT })])
  await known.register({ ...AGENT, thinking: !AGENT.thinking })
  await known.register({ ...AGENT, thinking: !AGENT.thinking })
  assert.deepEqual(calls, [`+${AGENT.name}`, `+${AGENT.name}`])
})

test('unregister() runs after earlier reports, and a later register() after it', async () => {
  const gate = Promise.withResolvers<void>()
  const { known, told: calls } = watched(() => gate.promise)
  const all = [known.register(AGENT), known.unregister(AGENT.id), known.register(AGENT)]
  assert.deepEqual(calls, [])
  gate.resolve()
  await Promise.all(all)
  assert.deepEqual(calls, [`+${AGENT.name}`, `-${AGENT.name}`, `+${AGENT.name}`])
  assert.deepEqual(known.all(), [AGENT])
})

test('unregister() does nothing for an agent that is not registered', async () => {
  const { known, told: calls } = watched()
  await known.register(AGENT)
  await known.unregister(AGENT.id)
  await known.unregister(AGENT.id)
  await known.unregister('another')
  assert.deepEqual(calls, [`+${AGENT.name}`, `-${AGENT.name}`])
  assert.deepEqual(known.all(), [])
})

test('register() retries what failed', async () => {
  let isBroken = true
  const { known, told: calls } = watched(async () => {
    if (isBroken) throw new Error('no')
  })
  await assert.rejects(known.register(AGENT), /no/)
  assert.deepEqual(known.all(), [])
  isBroken = false
  await known.register(AGENT)
  assert.deepEqual([calls, known.all()], [[`+${AGENT.name}`], [AGENT]])
})

function watched(before: () => Promise<void> = async () => {}) {
  const calls: string[] = []
  const tell = (sign: string) => async (agent: AgentConfig) => {
    await before()
    calls.push(`${sign}${agent.name}`)
  }
  const known = new KnownAgents({ onRegisterAgent: tell('+'), onUnregisterAgent: tell('-') })
  return { known, told: calls }
}
