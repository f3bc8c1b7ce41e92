import type { Program } from './harness.ts'

/** Node, doing nothing. */
export const NODE: Program = { name: 'node -e 0', command: process.execPath, args: ['-e', '0'] }

/** Returns a script that sends one request to the model and prints the bytes of the response. */
export function fetchProgram(name: string, modelUrl: string, content: string): Program {
  const body = JSON.stringify(question(content))
  const init = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: ${body} }`
  const script = `fetch('${completions(modelUrl)}', ${init}).then(async ({ body }) => { for await (const bytes of body) process.stdout.write(bytes) })`
  return { name, command: process.execPath, args: ['-e', script] }
}

/** Returns the same request with curl, which prints the response as it arrives. */
export function curlProgram(name: string, modelUrl: string, content: string): Program {
  const header = 'content-type: application/json'
  return {
    name,
    command: 'curl',
    args: ['-sSN', '-H', header, '-d', question(content), completions(modelUrl)],
  }
}

function completions(modelUrl: string): string {
  return `${modelUrl}/chat/completions`
}

function question(content: string): string {
  return JSON.stringify({ model: 'loopback', stream: true, messages: [{ role: 'user', content }] })
}
