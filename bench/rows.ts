import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Row } from './harness.ts'
import type { Marks } from './table.ts'

/** A row, its marks, and whether it asks the model something. */
export interface BenchRow extends Row {
  marks?: Marks
  asksModel?: boolean
}

const NODE = 'node -e 0'
const FETCH = 'node, one fetch'
const SERVER = 'MCP server alone, one call'
/** The agent that has the server, in the home that is measured with. */
export const MCP_AGENT = 'caller'

/** The programs to measure: floors first, then ours with their marks. */
export function makeRows(binary: string, modelUrl: string, env: Record<string, string>): BenchRow[] {
  const crabtalk = (args: readonly string[]) => ({ command: binary, args, env })
  const send = (shape: 'openai' | 'anthropic'): BenchRow => ({
    name: `crabtalk send, ${shape}`,
    ...crabtalk(['send', '--model', `loopback-${shape}`, 'say hi']),
    expects: /^Hi there\.\n$/,
    marks: { floor: FETCH, wall: 1.35, cpu: 1.35, rssMb: 90, requestBytes: 4000 },
    asksModel: true,
  })
  return [
    { name: NODE, command: process.execPath, args: ['-e', '0'] },
    {
      name: FETCH,
      command: process.execPath,
      args: ['-e', oneFetch(`${modelUrl}/chat/completions`)],
      expects: /there/,
    },
    { name: 'curl', command: 'curl', args: curlArgs(`${modelUrl}/chat/completions`), expects: /there/ },
    { name: 'crabtalk --version', ...crabtalk(['--version']), marks: { floor: NODE, wall: 1.04 } },
    { name: 'crabtalk --help', ...crabtalk(['--help']), marks: { floor: NODE, wall: 1.24 } },
    send('openai'),
    send('anthropic'),
    {
      name: SERVER,
      command: process.execPath,
      args: [join(import.meta.dirname, 'mcp-server.ts'), ...mcpServer()],
      expects: /Echo: hi/,
    },
    {
      name: 'crabtalk send, one MCP call',
      ...crabtalk(['send', '--model', 'loopback-openai', '-a', MCP_AGENT, `call ${MCP_TOOL}`]),
      expects: /^Hi there\.\n$/,
      marks: { floor: FETCH, beyond: SERVER, wall: 1.5, rssMb: 90 },
      asksModel: true,
    },
  ]
}

const MCP_TOOL = 'mcp__everything__echo'

/** The official server with a bit of everything, as a command line. */
export function mcpServer(): [string, ...string[]] {
  const script = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/dist/index.js',
  )
  return [process.execPath, script, 'stdio']
}

const QUESTION = JSON.stringify({
  model: 'loopback',
  stream: true,
  messages: [{ role: 'user', content: 'say hi' }],
})

/** A script that does nothing but ask and print what comes. */
function oneFetch(url: string): string {
  const init = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(QUESTION)} }`
  return `fetch('${url}', ${init}).then(async ({ body }) => { for await (const bytes of body) process.stdout.write(bytes) })`
}

function curlArgs(url: string): string[] {
  return ['-sS', '-H', 'content-type: application/json', '-d', QUESTION, url]
}
