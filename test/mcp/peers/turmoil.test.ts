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
  test(`whatever is done at once to servers, one of them "${kind}", all of it ends, and of each there is one process`, async () => {
    const random = generator(seed)
    await using modern = await startModern()
    await using old = await startStreamable()
    await using node = await mcpNode()
    const program = node.watch(BEHAVIOURS[kind as keyof typeof KINDS])
    const far = [modern, old].map(({ url }, i) => ({ name: `far${i}`, url }))
    const all = [program.entry, ...far]
    const agents = [agentWith(all), agentWith(all), agentWith([program.entry])]
    const doings = [...doingsWith(node, program), () => modern.restart(), () => old.restart()]
    const begun: Promise<unknown>[] = []
    for (let step = 0; step < STEPS; step++) {
      const stop = new AbortController()
      const agent = pick(agents, random)
      const name = pick(agent.mcps, random).name
      begun.push(judged(pick(doings, random)({ agent, name, signal: stop.signal })))
      if (random(3) === 0) setTimeout(() => stop.abort(), random(300)).unref()
      await pause(random(100))
      assert.ok(program.starts().filter(isRunning).length <= 1)
      node.later += 3_000
    }
    await Promise.all(begun)
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
type Doing = (target: Target) => Promise<unknown>

function doingsWith(node: McpNode, program: WatchedServer): Doing[] {
  const { servers } = node
  const call: Doing = async ({ agent, name, signal }) => {
    const answer = await run(node, agent, { name: `mcp__${name}__echo`, args: { text: 'x' } }, signal)
    assert.equal(answer?.output ?? 'x', 'x') // it is nobody's where the agent was offered nothing yet
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

/** What may go wrong: a server is gone, or the wish was taken back. */
async function judged(doing: Promise<unknown>): Promise<void> {
  await doing.catch((reason: unknown) => {
    assert.ok(
      reason instanceof CrabError && ['unavailable', 'cancelled'].includes(reason.kind),
      String(reason),
    )
  })
}

function pick<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)]!
}
