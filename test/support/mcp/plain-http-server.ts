/**
 * A small MCP server over Streamable HTTP that loads no library: `node plain-http-server.ts [--port=N]
 * [--record=FILE] [--starts=FILE] [--mark=TEXT]`, on 127.0.0.1. It prints its port when it listens, has
 * sessions, answers with JSON, has no streams, and speaks the revisions with a handshake. It has the tools of
 * plain-server.ts. The record has a line for each request: `{"method", "tool", "auth", "session"}`, method
 * `DELETE` for the end of a session.
 */
import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { limitLife } from './lifecycle.ts'
import { plainAnswer } from './plain-answer.ts'
import { countStart } from './record.ts'

const { values: options } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    record: { type: 'string' },
    starts: { type: 'string' },
    mark: { type: 'string' },
  },
})
const sessions = new Set<string>()
countStart(options.starts)
limitLife()
const server = createServer((request, response) => void serve(request, response))
server.listen(Number(options.port), '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' && address?.port}\n`)
})

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { 'mcp-session-id': session = '', authorization: auth = '' } = request.headers
  if (request.method === 'GET') return end(response, 405)
  const message = request.method === 'POST' ? JSON.parse(await text(request)) : { method: request.method }
  note({ method: message.method, tool: message.params?.name, auth, session })
  if (message.method === 'server/discover') return end(response, 400)
  if (message.method !== 'initialize' && !sessions.has(String(session))) return end(response, 404)
  if (request.method === 'DELETE') return end(response, sessions.delete(String(session)) ? 200 : 404)
  const answer = await plainAnswer(message)
  if (answer === undefined) return end(response, 202)
  response.setHeader('content-type', 'application/json')
  if (message.method === 'initialize') response.setHeader('mcp-session-id', newSession())
  response.end(JSON.stringify(answer))
}

function newSession(): string {
  const session = randomUUID()
  sessions.add(session)
  return session
}

function note(line: object): void {
  if (options.record !== undefined) appendFileSync(options.record, `${JSON.stringify(line)}\n`)
}

function end(response: ServerResponse, status: number): void {
  response.statusCode = status
  response.end()
}
