/**
 * A small MCP server over stdio that loads no library, for tests and benchmarks that start many: `node
 * test/support/mcp/plain-server.ts [--OPTION=VALUE]…`. It speaks the revisions with a handshake. Of the options
 * of misbehaving-server.ts it has only: --mark, --starts, --record, --ignore, --grandchild. Tools: echo {text},
 * sleep {ms}, pid {}, env {name}.
 */
import { handleInputEnd, handleSignals, limitLife } from './lifecycle.ts'
import { parseOptions } from './options.ts'
import { plainAnswer } from './plain-answer.ts'
import { countStart, openRecorder } from './record.ts'

const options = parseOptions(process.argv.slice(2))
const record = openRecorder(options.record)
countStart(options.starts)
limitLife()
handleSignals(options, record)
if (options.grandchild !== undefined) await startGrandchildren(options.grandchild)
listen()

async function startGrandchildren(kinds: NonNullable<typeof options.grandchild>): Promise<void> {
  const { startGrandchild } = await import('./grandchildren.ts')
  for (const kind of kinds) await startGrandchild(kind, options.mark)
}

function listen(): void {
  let rest = ''
  process.stdout.on('error', () => {}) // the reader is gone, so the server ends through its input instead
  process.stdin.setEncoding('utf8')
  process.stdin.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop()!
    for (const line of lines) void take(line)
  })
  process.stdin.on('end', () => handleInputEnd(options, record))
}

async function take(line: string): Promise<void> {
  const message = JSON.parse(line)
  record({ message })
  const answer = await plainAnswer(message)
  if (answer !== undefined) process.stdout.write(`${JSON.stringify(answer)}\n`)
}
