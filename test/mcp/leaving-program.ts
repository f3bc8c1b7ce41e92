import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openProcessHost } from '../../src/core/process/process-host.ts'
import { openMcpServers } from '../../src/mcp/open-servers.ts'
import { receivedIn } from '../support/mcp/record.ts'
import { until } from '../support/until.ts'
import { agentWith, NEVER } from './mcp-node.ts'

// node leaving-program.ts FOLDER ENTRY: calls a tool that takes long, and leaves meanwhile as a one-shot
// command does; one that hangs is left while it is being started.
const [folder, entry] = process.argv.slice(2)
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
})
const record = String(mcps[0].args.find((arg: string) => arg.startsWith('--record='))).slice(
  '--record='.length,
)
const at = { agent, name: mcps[0].name, tool: 'sleep', args: { ms: 60_000 }, spillDir: folder! }
const failed = assert.rejects(servers.call(at, NEVER), { kind: 'unavailable' })
await until('the server has it', () => {
  const last = entry!.includes('hang') ? 'initialize' : 'tools/call'
  return receivedIn(record).some(({ message }) => message?.method === last)
})
servers.release()
processes.releaseAll()
await failed
const timers = process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout')
process.stdout.write(`leaving, ${timers.length} timers keep this process\n`)
