import { createRequire } from 'node:module'

/** Returns the command line of the official MCP server that covers every feature. */
export function mcpServer(): [string, ...string[]] {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  )
  return [process.execPath, script, 'stdio']
}
