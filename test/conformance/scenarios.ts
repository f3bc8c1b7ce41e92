import type { JsonObject } from '../../src/core/base/message.ts'
import type { Question } from '../../src/core/runtime/asks.ts'
import type { Connection } from '../../src/mcp/connection/connection.ts'
import { elicitThrough } from '../../src/mcp/elicitation/elicit.ts'
import type { Registered } from './oauth.ts'

/** The suite's data about a scenario, besides its name. */
export interface Setting extends Registered {
  toolCalls?: { name: string; arguments: JsonObject }[]
}

/** Performs the steps that a scenario expects of a connected client. */
export async function act(
  scenario: string,
  setting: Setting,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { tools } = await connection.listTools(signal)
  const calls = setting.toolCalls ?? tools.map(({ name }) => ({ name, arguments: ARGUMENTS[scenario] ?? {} }))
  for (const { name, arguments: args } of calls) {
    await connection.callTool(
      { name, args, timeoutMs: CALL_MS, onProgress: () => {}, elicit: PERSON },
      signal,
    )
  }
}

const ARGUMENTS: Readonly<Record<string, JsonObject>> = {
  tools_call: { a: 5, b: 3 },
  'http-invalid-tool-headers': { region: 'us-west1' },
}

/** Sends the defaults of a form, and otherwise the first of the choices. */
const PERSON = elicitThrough({
  server: 'conformance',
  turn: '1',
  ask: async (questions) => Object.fromEntries(questions.map((one) => [one.question, answerTo(one)])),
})

function answerTo({ options }: Question): string {
  const presets = options.find(({ label }) => label === 'Send the presets')
  return (presets ?? options[0])?.label ?? 'anything'
}

const CALL_MS = 10_000
