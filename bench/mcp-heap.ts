import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { McpEntry } from '../src/core/config/mcp-entry.ts'
import { openProcessHost } from '../src/core/process/process-host.ts'
import { openMcpServers } from '../src/mcp/open-servers.ts'
import { AGENT } from '../test/support/agents.ts'
import { plainServer, startHttp } from './mcp-callers.ts'

// A standalone program, `node --expose-gc mcp-heap.ts`: prints, as JSON, the KB of heap that our layer
// retains after garbage collection for one more connection over stdio, for one more over HTTP, and for one
// more agent on an existing server.
const COUNT = 20
const AGENTS = 100
const { gc } = globalThis as typeof globalThis & { gc(): void }
const { signal } = new AbortController()
await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-heap-'))
await using http = await startHttp()
await using processes = openProcessHost({ pid: process.pid })
await using servers = openMcpServers({
  ...{ processes, home: folder.path, baseEnv: {}, cacheDir: join(folder.path, 'cache') },
  env: process.env,
  now: Date.now,
  wait: () => new Promise(() => {}),
  startsKnown: true,
})
const stdio = (word: string): McpEntry => {
  const [command, ...args] = plainServer(`heap-${word}`)
  return { name: 'one', command, args }
}
const remote = (word: string): McpEntry => ({ name: 'one', url: http.url, headers: { 'x-word': word } })
const connect = (word: string, entry: McpEntry) =>
  servers.connect({ ...AGENT, id: word, name: word, mcps: [entry] }, 'one', signal)
console.log(
  JSON.stringify({
    stdio: await each(COUNT, (at) => connect(`s${at}`, stdio(`s${at}`))),
    http: await each(COUNT, (at) => connect(`h${at}`, remote(`h${at}`))),
    agent: await each(AGENTS, (at) => connect(`a${at}`, stdio('s0'))),
  }),
)

/** Measures the heap per addition; the first one is excluded, because it loads what all of them share. */
async function each(count: number, add: (at: number) => Promise<unknown>): Promise<number> {
  await add(0)
  const before = await heapKb()
  for (let at = 1; at <= count; at++) await add(at)
  return ((await heapKb()) - before) / count
}

async function heapKb(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    gc()
    await sleep(50)
  }
  return process.memoryUsage().heapUsed / 1000
}
