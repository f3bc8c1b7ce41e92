import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openProcessHost } from '../../../src/core/process/process-host.ts'
import { openMcpServers } from '../../../src/mcp/open-servers.ts'
import { receivedIn } from '../../support/mcp/record.ts'
import { livingWith } from '../../support/orphans.ts'
import { until } from '../../support/until.ts'
import { agentWith, NEVER } from '../mcp-node.ts'

// node exiting-program.ts FOLDER ENTRY HOW: exits like a one-shot command while a server that nothing waits for is
// starting (`start`), in its handshake (`connect`) or running a tool (`call`).
const [folder, entry, how] = process.argv.slice(2)
const mcps = [JSON.parse(entry!)]
const agent = agentWith(mcps)
const processes = openProcessHost({ pid: process.pid })
const servers = openMcpServers({
  processes,
  home: folder!,
  baseEnv: {},
  cacheDir: join(folder!, 'cache'),
  env: process.env,
  now: Date.now,
  wait: () => new Promise(() => {}),
  startsKnown: true,
})
const [mark] = /crab-[\w-]+/.exec(entry!)!
const record = String(mcps[0].args.find((arg: string) => arg.startsWith('--record='))).slice(
  '--record='.length,
)
const { promise: left, resolve: leave } = Promise.withResolvers<void>()
const work = how === 'start' ? start() : call()
await until('the server is that far', async () => {
  if (how === 'start') return (await livingWith(mark)).length > 1 // more than this process
  const last = how === 'connect' ? 'initialize' : 'tools/call'
  return receivedIn(record).some(({ message }) => message?.method === last)
})
servers.release()
processes.releaseAll()
leave()
await work
// What was starting or loading ends by itself; a timer that waits for a server would keep the process.
const deadline = performance.now() + 5_000
while (timers() > 0 && performance.now() < deadline) await nextTurn()
process.stdout.write(`leaving, ${timers()} timers keep this process\n`)

function timers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length
}

async function start(): Promise<void> {
  await servers.hook.onRegisterAgent!(agent)
  await left
}

async function call(): Promise<void> {
  const at = { agent, name: mcps[0].name, tool: 'sleep', args: { ms: 60_000 }, spillDir: folder! }
  await assert.rejects(servers.call(at, NEVER), { kind: 'unavailable' })
}
