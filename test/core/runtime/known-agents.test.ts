import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { KnownAgents } from '../../../src/core/runtime/known-agents.ts'
import { AGENT } from '../../support/agents.ts'

test('register() tells of each form of an agent once, also those who ask at once', async () => {
  const { known, told } = watched()
  await Promise.all([known.register(AGENT), known.register({ ...AGENT })])
  await known.register({ ...AGENT, thinking: !AGENT.thinking })
  await known.register({ ...AGENT, thinking: !AGENT.thinking })
  assert.deepEqual(told, [`+${AGENT.name}`, `+${AGENT.name}`])
})

test('unregister() comes after what was told before, and register() after that', async () => {
  const gate = Promise.withResolvers<void>()
  const { known, told } = watched(() => gate.promise)
  const all = [known.register(AGENT), known.unregister(AGENT.id), known.register(AGENT)]
  assert.deepEqual(told, [])
  gate.resolve()
  await Promise.all(all)
  assert.deepEqual(told, [`+${AGENT.name}`, `-${AGENT.name}`, `+${AGENT.name}`])
  assert.deepEqual(known.all(), [AGENT])
})

test('unregister() tells nothing of an agent that is not registered', async () => {
  const { known, told } = watched()
  await known.register(AGENT)
  await known.unregister(AGENT.id)
  await known.unregister(AGENT.id)
  await known.unregister('another')
  assert.deepEqual(told, [`+${AGENT.name}`, `-${AGENT.name}`])
  assert.deepEqual(known.all(), [])
})

test('register() tries again what failed', async () => {
  let isBroken = true
  const { known, told } = watched(async () => {
    if (isBroken) throw new Error('no')
  })
  await assert.rejects(known.register(AGENT), /no/)
  assert.deepEqual(known.all(), [])
  isBroken = false
  await known.register(AGENT)
  assert.deepEqual([told, known.all()], [[`+${AGENT.name}`], [AGENT]])
})

function watched(before: () => Promise<void> = async () => {}) {
  const told: string[] = []
  const tell = (sign: string) => async (agent: AgentConfig) => {
    await before()
    told.push(`${sign}${agent.name}`)
  }
  const known = new KnownAgents({ onRegisterAgent: tell('+'), onUnregisterAgent: tell('-') })
  return { known, told }
}
