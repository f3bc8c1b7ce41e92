import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import { isAgentId } from '../../../src/core/config/agent-id.ts'
import { agentStore } from '../../support/agent-store.ts'
import { temporaryHome } from '../../support/temporary-home.ts'
import type { AgentTask } from './agent-program.ts'

const RACERS = 5

interface Racer {
  child: ChildProcessByStdio<Writable, Readable, null>
  next(): Promise<string | undefined>
}

let racers: Racer[] = []

before(async () => {
  racers = Array.from({ length: RACERS }, startRacer)
  for (const { next } of racers) assert.equal(await next(), 'ready')
})

after(async () => {
  for (const { child } of racers) {
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
  }
})

test('processes that use a new home concurrently agree on the default agent', async () => {
  for (let round = 0; round < 10; round++) {
    await using home = await temporaryHome()
    const answers = await race(() => ({ home: home.paths.home, act: 'get', name: 'crab' }))
    assert.equal(new Set(answers).size, 1)
    assert.ok(isAgentId(answers[0]))
    assert.equal((await agentStore(home.paths).get('crab')).id, answers[0])
    assert.deepEqual((await readdir(home.paths.agents)).sort(), ['crab.md', 'crab.toml'])
  }
})

test('processes that concurrently read a file without an id, and its copy, agree on both ids', async () => {
  for (let round = 0; round < 5; round++) {
    await using home = await temporaryHome()
    await home.write('agents/zed.toml', 'model = "m"\n')
    const { id } = await agentStore(home.paths).get('zed')
    await home.copy('agents/zed.toml', 'agents/copy.toml')
    await home.write('agents/bare.toml', '')
    const names = ['copy', 'zed', 'bare', 'copy', 'bare']
    const answers = await race((i) => ({ home: home.paths.home, act: 'get', name: names[i]! }))
    assert.equal(answers[1], id)
    assert.equal(answers[3], answers[0])
    assert.equal(answers[4], answers[2])
    assert.equal(new Set(answers).size, 3)
    const { agents } = await agentStore(home.paths).list()
    assert.deepEqual(
      agents.map((agent) => agent.id),
      [answers[2], answers[0], id],
    )
  }
})

test('one of several processes creates an agent, the others get an error', async () => {
  await using home = await temporaryHome()
  const answers = await race((i) => ({ home: home.paths.home, act: 'create', name: i % 2 ? 'New' : 'new' }))
  assert.equal(answers.filter((answer) => answer === 'conflict').length, RACERS - 1)
})

test('concurrent changes of one agent by several processes are all kept', async () => {
  await using home = await temporaryHome()
  await home.write('agents/a.toml', '')
  const patches = [
    { model: 'm' },
    { thinking: true },
    { description: 'd' },
    { max_iterations: 3 },
    { tools: ['t'] },
  ]
  const answers = await race((i) => ({ home: home.paths.home, act: 'update', name: 'a', patch: patches[i]! }))
  const agent = await agentStore(home.paths).get('a')
  assert.deepEqual(new Set(answers), new Set([agent.id]))
  assert.deepEqual({ ...agent, ...Object.assign({}, ...patches) }, agent)
})

/** Gives all processes their tasks at the same time, and waits for all answers. */
async function race(task: (i: number) => AgentTask): Promise<(string | undefined)[]> {
  for (const [i, { child }] of racers.entries()) child.stdin.write(`${JSON.stringify(task(i))}\n`)
  return await Promise.all(racers.map(({ next }) => next()))
}

function startRacer(): Racer {
  const program = join(import.meta.dirname, 'agent-program.ts')
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return { child, next: async () => (await lines.next()).value }
}
