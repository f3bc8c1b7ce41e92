/**
 * An MCP server over stdio with many tools, `tool_00`, `tool_01`, …, that loads no library: `node
 * test/support/mcp/many-tools-server.ts --count=N [--title=TEXT] [--instructions=TEXT] [--record=FILE]
 * [--starts=FILE] [--mark=TEXT]`. A tool returns its name and its arguments. Its revision is that of the
 * client's handshake.
 */
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { limitLife } from './lifecycle.ts'
import type { Message } from './message.ts'
import { countStart, openRecorder } from './record.ts'

const text = { type: 'string' } as const
const options = { count: text, title: text, instructions: text, record: text, starts: text, mark: text }
const { values } = parseArgs({ options })
const record = openRecorder(values.record)
const tools = Array.from({ length: Number(values.count) }, (_, n) => makeTool(String(n).padStart(2, '0')))
countStart(values.starts)
limitLife()
createInterface({ input: process.stdin })
  .on('line', (line) => take(JSON.parse(line)))
  .on('close', () => process.exit(0))

function take(message: Message): void {
  record({ message })
  const { id, method = '', params = {} } = message
  if (id === undefined || id === null) return
  const result = toResult(method, params)
  const answer = result ? { result } : { error: { code: -32601, message: `no method ${method}` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
}

function toResult(method: string, params: NonNullable<Message['params']>): object | undefined {
  if (method === 'ping') return {}
  if (method === 'tools/list') return { tools }
  if (method === 'tools/call')
    return { content: [{ type: 'text', text: `${params['name']} ${JSON.stringify(params['arguments'])}` }] }
  if (method !== 'initialize') return undefined
  const { title, instructions } = values
  return {
    protocolVersion: params['protocolVersion'],
    capabilities: { tools: {} },
    serverInfo: { name: 'many', version: '1.0.0', ...(title !== undefined && { title }) },
    ...(instructions !== undefined && { instructions }),
  }
}

/** Builds a tool of a typical size. */
function makeTool(number: string): object {
  const properties = {
    id: { type: 'string', description: `Which record of shelf ${number} is meant` },
    limit: { type: 'integer', description: 'How many lines of it are given at most' },
  }
  return {
    name: `tool_${number}`,
    description: `Gives a record of shelf ${number}, as it was when it was put there`,
    inputSchema: { type: 'object', properties, required: ['id'] },
  }
}
