import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

// A program of its own, `mcp-sdk.ts COMMAND ARGS…`: connects the bare SDK client to an MCP server and lists its tools, with
// nothing of ours. Prints what that took, milliseconds, as JSON.
const [command = '', ...args] = process.argv.slice(2)
const begun = performance.now()
const client = new Client({ name: 'bare', version: '1' })
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }))
const { tools } = await client.listTools()
console.log(JSON.stringify({ connectMs: performance.now() - begun, tools: tools.length }))
await client.close()
