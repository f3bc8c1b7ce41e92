import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

// A standalone program, `mcp-server.ts COMMAND ARGS…`: starts an MCP server, lists its tools and calls
// `echo`, with nothing in between. Its figures are the floor for any client.
const [program = '', ...args] = process.argv.slice(2)
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
const lines = createInterface(server.stdout)[Symbol.asyncIterator]()

await ask(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'floor', version: '1' },
})
tell({ method: 'notifications/initialized' })
await ask(2, 'tools/list', {})
console.log(JSON.stringify(await ask(3, 'tools/call', { name: 'echo', arguments: { message: 'hi' } })))
server.kill()

async function ask(id: number, method: string, params: object): Promise<unknown> {
  tell({ id, method, params })
  for (;;) {
    const { value, done } = await lines.next()
    if (done) throw new Error(`The server ended before it answered ${method}`)
    const message = JSON.parse(value)
    if (message.id === id) return message.result
  }
}

function tell(message: object): void {
  server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
