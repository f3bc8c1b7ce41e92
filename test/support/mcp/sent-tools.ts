import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { ApprovalMode } from '../../../src/core/protocol/crabtalk.generated.ts'
import { streamTurn } from '../../../src/core/protocol/dispatch.ts'
import type { RecordedRequest } from '../model-server.ts'
import type { Part } from '../model-wire.ts'
import { startMcpNode } from './mcp-node.ts'
import { entriesToml, type StdioEntry } from './mcp-servers.ts'

/** A tool as its server lists it, or as a model is sent it. */
export interface ToolDefinition {
  description: string
  schema: JsonObject
}

/** Lists the tools of a server with a few lines of JSON-RPC, so that no code of ours is between. */
export async function listRawTools({
  command,
  args = [],
  env = {},
}: StdioEntry): Promise<Map<string, ToolDefinition>> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { PATH, HOME, ...env } })
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const list = (cursor?: unknown) =>
    send({ id: 2, method: 'tools/list', params: cursor === undefined ? {} : { cursor } })
  const tools = new Map<string, ToolDefinition>()
  const clientInfo = { name: 'compare', version: '0' }
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith('{')) continue
      const { id, result } = JSON.parse(line)
      if (id === 1) {
        send({ method: 'notifications/initialized' })
        list()
      }
      if (id !== 2) continue
      for (const { name, description = '', inputSchema } of result.tools) {
        tools.set(name, { description, schema: inputSchema })
      }
      if (result.nextCursor === undefined) return tools
      list(result.nextCursor)
    }
    throw new Error(`${command} ended without listing its tools`)
  } finally {
    child.stdin.end()
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

/**
 * Returns the tools of a server as a model is sent them by a turn, by the server's own names. When they are too
 * many to show all, the model selects them in portions.
 */
export async function listSentTools(
  entry: StdioEntry,
  names: readonly string[],
): Promise<Map<string, ToolDefinition>> {
  const portions = Array.from({ length: Math.ceil(names.length / PORTION) }, (_, n) => {
    return names.slice(n * PORTION, (n + 1) * PORTION)
  })
  const steps: Part[][] = portions.map((tools, n) => {
    return [{ call: `call_${n}`, name: 'tools_select', args: JSON.stringify({ tools }) }]
  })
  await using node = await startMcpNode(() => ({ parts: steps.shift() ?? ['Done.'] }))
  await node.home.write('agents/crab.toml', entriesToml(entry))
  const message = { agent: 'crab', sender: 'ann', content: 'go', options: { mode: ApprovalMode.ALL } }
  await Array.fromAsync(streamTurn(node.dispatch, message, new AbortController().signal))
  return new Map(node.server.requests.flatMap((request) => readTools(request, entry.name)))
}

function readTools({ json }: RecordedRequest, server: string): [string, ToolDefinition][] {
  const tools = json['tools'] as { function: { name: string; description: string; parameters: JsonObject } }[]
  const prefix = `mcp__${server}__`
  return tools.flatMap(({ function: { name, description, parameters } }): [string, ToolDefinition][] => {
    return name.startsWith(prefix) ? [[name.slice(prefix.length), { description, schema: parameters }]] : []
  })
}

/** The most tools that a conversation has selected at one time. */
const PORTION = 24
