import { setTimeout as sleep } from 'node:timers/promises'
import { ASKS, type Asks } from './asks.ts'
import { startGrandchild } from './grandchildren.ts'
import { objectAt } from './message.ts'
import { garbage } from './noise.ts'
import type { Act, GrandchildKind, Noise, ServerOptions } from './options.ts'
import { perform } from './points.ts'
import { type Call, type Tool, textResult, tool } from './tool.ts'
import type { ToolList } from './tool-list.ts'
import { floodStderr, type Wire } from './wire.ts'

/** The parts of the server that its tools can change. */
export interface ServerControls {
  wire: Wire
  asks: Asks
  list: ToolList
  options: ServerOptions
}

/** Creates tools that misbehave only when they are called. */
export function actingTools(hands: ServerControls): Tool[] {
  const { wire, asks, list, options } = hands
  return [
    tool('act', 'Does it, now or after it has answered', { how: 'string', after_ms: 'number?' }, (call) =>
      act(call, wire),
    ),
    tool('noise', 'Prints what is no message, of these kinds', { kinds: 'string' }, async ({ args }) => {
      await wire.print(garbage(String(args['kinds']).split(',') as Noise[], options.huge))
      return textResult('printed')
    }),
    tool('stderr', 'Writes to standard error', { text: 'string?', bytes: 'integer?' }, async ({ args }) => {
      await floodStderr(Number(args['bytes'] ?? 0))
      if (args['text'] !== undefined) process.stderr.write(`${args['text']}\n`)
      return textResult('written')
    }),
    tool('spawn', 'Leaves a process behind; gives its pid', { kind: 'string?' }, async ({ args }) =>
      textResult(String(await startGrandchild((args['kind'] ?? 'plain') as GrandchildKind, options.mark))),
    ),
    tool('change', 'Changes the list of tools and tells so', CHANGE_FIELDS, async ({ args }) => {
      const names = (key: string) => (args[key] ?? []) as string[]
      await list.change(names('add'), names('remove'), Number(args['times'] ?? 1))
      return textResult('changed')
    }),
    {
      ...tool('ask', 'Asks the client; gives its answer as JSON', ASK_FIELDS, (call) => ask(call, asks)),
      isRaw: true,
    },
    ...wrongResults(),
  ]
}

const CHANGE_FIELDS = { add: 'array?', remove: 'array?', times: 'integer?' }
const ASK_FIELDS = { method: 'string', params: 'object?' }

async function act({ args, signal }: Call, wire: Wire) {
  const how = args['how'] as Act
  if (args['after_ms'] !== undefined) {
    setTimeout(() => void perform(how, wire, null), Number(args['after_ms']))
    return textResult(`will ${how}`)
  }
  if (how === 'error') throw new Error('act failed on purpose')
  await perform(how, wire, null)
  await sleep(2 ** 30, undefined, { signal }) // never answers
  return {}
}

/** In the revision without a handshake the question is the result, and the answer comes with the next call. */
async function ask({ args, params }: Call, asks: Asks) {
  const method = String(args['method'])
  const modern = objectAt(params, '_meta')['io.modelcontextprotocol/protocolVersion'] !== undefined
  if (!modern) {
    const { result, error } = await asks.ask(method, args['params'] as Call['params'] | undefined)
    return textResult(JSON.stringify(result ?? { error }))
  }
  const answer = objectAt(params, 'inputResponses')['question']
  if (answer !== undefined) return textResult(JSON.stringify(answer))
  const question = { method, params: args['params'] ?? ASKS[method] ?? {} }
  return { resultType: 'input_required', inputRequests: { question }, requestState: 'asked' }
}

/** Creates tools with results that the protocol does not allow. */
function wrongResults(): Tool[] {
  const unknown = { type: 'hologram', data: 'AAAA', depth: 3 }
  const results = {
    unknown_content: { content: [{ type: 'text', text: 'the good part' }, unknown] },
    malformed_content: {
      content: [{ type: 'text', text: 'the good part' }, { type: 'image' }, 'bare', null],
    },
    shapeless: { answer: 42 },
    content_text: { content: 'a text instead of a list' },
  }
  const raw = Object.entries(results).map(([name, result]) => ({
    ...tool(name, `A result that is wrong: ${name}`, {}, () => result),
    isRaw: true,
  }))
  const outputSchema = { type: 'object', properties: { degrees: { type: 'number' } }, required: ['degrees'] }
  const mismatch = { ...textResult('warm'), structuredContent: { degrees: 'warm' } }
  return [
    ...raw,
    tool('mismatch', 'Structured content against its schema', {}, () => mismatch, { outputSchema }),
  ]
}
