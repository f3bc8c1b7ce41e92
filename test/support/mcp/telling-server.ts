import { writeFile } from 'node:fs/promises'

/**
 * The code of a server that creates the file `started` beside it, writes TOKEN to standard error, and whose tool `tell` returns it and its length,
 * with `until` after a file of that name beside it exists.
 */
const TELLING_SERVER = `
const token = process.env.TOKEN ?? ''
require('node:fs').appendFileSync(require('node:path').join(__dirname, 'started'), 'x')
process.stderr.write('started with ' + token + '\\n')
const answer = ({ method, params }) => {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'telling', version: '1' } }
  if (method === 'tools/list') return { tools: [{ name: 'tell', description: 'Knows ' + token, inputSchema: { type: 'object' } }] }
  if (method === 'tools/call') return { content: [{ type: 'text', text: token + ' has ' + token.length } ] }
  return {}
}
let rest = ''
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n')
  rest = lines.pop()
  for (const message of lines.map((line) => JSON.parse(line)).filter(({ id }) => id !== undefined)) send(message)
})
const send = (message) => {
  const name = message.params?.arguments?.until
  if (name && !require('node:fs').existsSync(require('node:path').join(__dirname, name))) return setTimeout(send, 5, message)
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) }) + '\\n')
}
`

/** Writes the program of a server that says what its variable TOKEN is. */
export async function writeTellingServer(path: string): Promise<void> {
  await writeFile(path, TELLING_SERVER)
}
