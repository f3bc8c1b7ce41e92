import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { generator, type Random } from '../../../scripts/fuzz/hostile-bytes.ts'
import { CrabError } from '../../../src/core/base/errors.ts'
import type { AgentConfig } from '../../../src/core/config/agent-schema.ts'
import { startModern, startStreamable } from '../../support/mcp/http/official-servers.ts'
import { BEHAVIOURS, type WatchedServer } from '../../support/mcp/mcp-servers.ts'
import { isRunning } from '../../support/mcp/record-folder.ts'
import { agentWith, type McpNode, mcpNode, offer, run } from '../mcp-node.ts'

const STEPS = 60
const KINDS = { good: 1, slowExit: 2, stubborn: 3 }
for (const [kind, seed] of Object.entries(KINDS)) {
  test(`concurrent operations on servers, one of them "${kind}", all end, and each server has at most one process`, async () => {
    const random = generator(seed)
    await using modern = await startModern()
    await using old = await startStreamable()
    await using node = await mcpNode()
    const program = node.watch(BEHAVIOURS[kind as keyof typeof KINDS])
    const far = [modern, old].map(({ url }, i) => ({ name: `far${i}`, url }))
    const all = [program.entry, ...far]
    const agents = [agentWith(all), agentWith(all), agentWith([program.entry])]
    const actions = [...actionsOn(node, program), () => modern.restart(), () => old.restart()]
    const running: Promise<unknown>[] = []
    for (let step = 0; step < STEPS; step++) {
      const stop = new AbortController()
      const agent = pick(agents, random)
      const name = pick(agent.mcps, random).name
      running.push(assertExpected(pick(actions, random)({ agent, name, signal: stop.signal })))
      if (random(3) === 0) setTimeout(() => stop.abort(), random(300)).unref()
      await pause(random(100))
      assert.ok(program.starts().filter(isRunning).length <= 1)
      node.advancedMs += 3_000
    }
    await Promise.all(running)
    await Promise.all(agents.map((agent) => node.servers.hook.onUnregisterAgent!(agent)))
    await node.servers[Symbol.asyncDispose]()
    assert.deepEqual(program.starts().filter(isRunning), [])
  })
}

interface Target {
  agent: AgentConfig
  name: string
  signal: AbortSignal
}
type Action = (target: Target) => Promise<unknown>

function actionsOn(node: McpNode, program: WatchedServer): Action[] {
  const { servers } = node
  const call: Action = async ({ agent, name, signal }) => {
    const answer = await run(node, agent, { name: `mcp__${name}__echo`, args: { text: 'x' } }, signal)
    assert.equal(answer?.output ?? 'x', 'x') // undefined when the agent was not offered anything yet
  }
  return [
    call,
    call,
    ({ agent, signal }) => offer(node, agent, signal),
    ({ agent, name, signal }) => servers.reconnect(agent, name, signal),
    ({ agent, name, signal }) => servers.ping(agent, name, signal),
    ({ agent }) => servers.hook.onRegisterAgent!(agent),
    ({ agent }) => servers.hook.onUnregisterAgent!(agent),
    async ({ agent, name, signal }) => {
      const entry = agent.mcps.find((one) => one.name === name)!
      await using _verified = await servers.verify(agent, entry, signal)
    },
    async () => {
      for (const pid of program.starts().filter(isRunning)) process.kill(pid, 'SIGKILL')
    },
  ]
}

/** Accepts only errors that are expected: a server is gone, or the operation was cancelled. */
async function assertExpected(action: Promise<unknown>): Promise<void> {
  await action.catch((reason: unknown) => {
    assert.ok(
      reason instanceof CrabError && ['unavailable', 'cancelled'].includes(reason.kind),
      String(reason),
    )
  })
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)]!
}
