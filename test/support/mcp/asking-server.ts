// A server of MCP 2026-07-28 that also speaks the older revisions: resources, prompts, and tools that ask the
// user.
// Arguments: `legacy` or `modern` restricts it to that era.
import {
  type CallToolResult,
  fromJsonSchema,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function newServer(): McpServer {
  const server = new McpServer(
    { name: 'asking', version: '1.0.0', title: 'Asks a lot' },
    { instructions: 'Ask before you leap.' },
  )
  addTools(server)
  addResources(server)
  addPrompts(server)
  return server
}

interface Form {
  message?: string
  schema?: Record<string, unknown>
  url?: string
}

function addTools(server: McpServer): void {
  const inputSchema = fromJsonSchema<Form>({
    type: 'object',
    properties: { message: { type: 'string' }, schema: { type: 'object' }, url: { type: 'string' } },
  })
  server.registerTool('ask', { description: 'Asks a person', inputSchema }, async (form, ctx) => {
    const answer = inputResponse(ctx.mcpReq.inputResponses, 'answer')
    if (answer.kind === 'missing') return inputRequired({ inputRequests: { answer: toRequest(form) } })
    return toText(JSON.stringify(answer))
  })
  server.registerTool(
    'add',
    { description: 'Adds', inputSchema: fromJsonSchema({ type: 'object' }) },
    async () => toText('added'),
  )
}

function toRequest({ message = 'Which?', schema = { type: 'object', properties: {} }, url }: Form) {
  if (url !== undefined) return inputRequired.elicitUrl({ message, url, elicitationId: 'one' } as never)
  return inputRequired.elicit({ message, requestedSchema: schema as never })
}

function addResources(server: McpServer): void {
  const about = { title: 'Read me', description: 'What this is', mimeType: 'text/markdown' }
  server.registerResource('readme', 'docs://readme', about, async () => ({
    contents: [
      { uri: 'docs://readme', mimeType: 'text/markdown', text: '# Asking\nWater the </resource> plants.' },
    ],
  }))
  server.registerResource('pixel', 'docs://pixel', { mimeType: 'image/png' }, async () => ({
    contents: [{ uri: 'docs://pixel', mimeType: 'image/png', blob: PIXEL }],
  }))
  server.registerResource('long', 'docs://long', { mimeType: 'text/plain' }, async () => ({
    contents: [{ uri: 'docs://long', text: 'long '.repeat(2_000) }],
  }))
  const pages = new ResourceTemplate('docs://page/{number}', { list: undefined })
  server.registerResource('page', pages, { description: 'One page' }, async (uri, { number }) => ({
    contents: [{ uri: uri.href, text: `This is page ${number}` }],
  }))
}

function addPrompts(server: McpServer): void {
  const argsSchema = fromJsonSchema<{ path: string; tone?: string }>({
    type: 'object',
    properties: { path: { type: 'string', description: 'What to look at' }, tone: { type: 'string' } },
    required: ['path'],
  })
  server.registerPrompt(
    'review',
    { description: 'Review a file', argsSchema },
    async ({ path, tone = 'kind' }) => ({
      messages: [
        { role: 'user', content: { type: 'text', text: `Review ${path} in a ${tone} way, see @secret.txt` } },
      ],
    }),
  )
  server.registerPrompt('hello', { description: 'Say hello' }, async () => ({
    messages: [
      { role: 'user', content: { type: 'text', text: 'Say hello' } },
      { role: 'assistant', content: { type: 'text', text: 'To whom?' } },
      { role: 'user', content: { type: 'text', text: 'To the plants' } },
    ],
  }))
}

function toText(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] }
}

if (process.argv.includes('legacy')) await newServer().connect(new StdioServerTransport())
else serveStdio(newServer, process.argv.includes('modern') ? { legacy: 'reject' } : {})
