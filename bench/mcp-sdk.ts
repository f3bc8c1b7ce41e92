import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

// A standalone program, `mcp-sdk.ts COMMAND ARGS…`: connects the bare SDK client to an MCP server and lists
// its tools, without any code of ours. Prints the time in milliseconds as JSON.
const [command = '', ...args] = process.argv.slice(2)
const start = performance.now()
const client = new Client({ name: 'bare', version: '1' })
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
const { tools } = await client.listTools()
console.log(JSON.stringify({ connectMs: performance.now() - start, tools: tools.length }))
await client.close()
