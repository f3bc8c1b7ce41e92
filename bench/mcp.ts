import { createRequire } from 'node:module'

/** The official MCP server with a bit of everything, as a command line. */
export function mcpServer(): [string, ...string[]] {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  )
  return [process.execPath, script, 'stdio']
}
