import { createInterface } from 'node:readline'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { AgentStore } from '../../../src/core/config/agents.ts'
import { homePaths } from '../../../src/core/config/paths.ts'
import { SqliteLeases } from '../../../src/core/lease/sqlite-leases.ts'

/** An operation on the agents of a home. */
export interface AgentTask {
  home: string
  act: 'get' | 'create' | 'update'
  name: string
  patch?: JsonObject
}

/** Prints `ready`, and answers each line of its input, a task, with the agent's id or the error kind. */
if (import.meta.main) {
  process.stdout.write('ready\n')
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await perform(JSON.parse(line)).catch((error) => error.kind ?? String(error))
    process.stdout.write(`${answer}\n`)
  }
}

async function perform({ home, act, name, patch = {} }: AgentTask): Promise<string> {
  const paths = homePaths({ CRABTALK_HOME: home }, { cwd: '/', homeDir: '' })
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: process.pid })
  const { signal } = new AbortController()
  const store = new AgentStore({ paths, lock: (resource) => leases.take(resource, signal) })
  if (act === 'get') return (await store.get(name)).id
  return (await (act === 'create' ? store.create(name, {}, '') : store.update(name, patch))).id
}
