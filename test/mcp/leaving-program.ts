import assert from 'node:assert/strict'
import { join } from 'node:path'
import { openProcessHost } from '../../src/core/process/process-host.ts'
import { openMcpServers } from '../../src/mcp/open-servers.ts'
import { receivedIn } from '../support/mcp/record.ts'
import { until } from '../support/until.ts'
import { agentWith, NEVER } from './mcp-node.ts'

// node leaving-program.ts FOLDER ENTRY: calls a tool that takes long, and leaves meanwhile as a one-shot command does.
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
await servers.connect(agent, mcps[0].name, NEVER)
const call = servers.call(
  { agent, name: mcps[0].name, tool: 'sleep', args: { ms: 60_000 }, spillDir: folder! },
  NEVER,
)
const record = String(mcps[0].args.find((arg: string) => arg.startsWith('--record='))).slice(
  '--record='.length,
)
await until('the call is there', () =>
  receivedIn(record).some(({ message }) => message?.method === 'tools/call'),
)
const failed = assert.rejects(call, { kind: 'unavailable' })
servers.release()
processes.releaseAll()
await failed
process.stdout.write('leaving\n')
