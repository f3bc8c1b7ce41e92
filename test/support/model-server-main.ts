/**
 * The scripted model server as a program: `node test/support/model-server-main.ts SCENARIO [RECORD]`.
 *
 * Prints its port on one line and serves until it is killed. With RECORD, each request is appended to that file as a
 * line of JSON: method, path, headers and body.
 */
import { appendFileSync } from 'node:fs'
import { SCENARIOS } from './model-scenarios.ts'
import { type Script, startModelServer } from './model-server.ts'

const [name = '', record] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (scenario === undefined) {
  process.stderr.write(`Usage: model-server-main.ts ${Object.keys(SCENARIOS).join('|')} [RECORD]\n`)
  process.exit(2)
}
const { port } = await startModelServer(record === undefined ? scenario : recorded(scenario, record))
process.stdout.write(`${port}\n`)

function recorded(script: Script, file: string): Script {
  return (request, index) => {
    const { method, path, headers, json } = request
    appendFileSync(file, `${JSON.stringify({ method, path, headers, json })}\n`)
    return typeof script === 'function' ? script(request, index) : (script[index] ?? { status: 500 })
  }
}
