import type { RecordedRequest, Reply, Script } from './model-server.ts'

/** Scripts by name, for black-box tests and shell scripts; each answers any number of requests. */
export const SCENARIOS: Readonly<Record<string, Script>> = {
  /** Repeats the last user message. */
  echo: (request) => ({ parts: [lastWords(request)], usage: USAGE }),
  hello: () => ({ parts: ['Hello', ' from', ' the', ' model', '.'], usage: USAGE }),
  /** Sends a word each 100 ms for two seconds. */
  slow: () => ({ parts: words(20), paceMs: 100, usage: USAGE }),
  /** Sends a megabyte, as fast as it is read. */
  long: () => ({ parts: words(20_000), usage: USAGE }),
  empty: () => ({ parts: [], usage: USAGE }),
  thinking: () => ({ parts: [{ thinking: 'Let me see.', signature: 'c2ln' }, 'Yes.'], usage: USAGE }),
  /** Reads package.json, then prints the length of the result. */
  tool: (request) => {
    const isAnswered = request.text.includes('tool_result') || request.text.includes('tool_call_id')
    const call = { call: 'call_1', name: 'read', args: '{"path":"package.json"}' }
    return { parts: isAnswered ? ['I have read it.'] : [call], usage: USAGE }
  },
  json: () => ({ parts: ['{"ok":', 'true}'], usage: USAGE }),
  length: () => ({ parts: ['Once upon a'], finish: 'length', usage: USAGE }),
  refused: () => ({ parts: ['I cannot'], finish: 'refused', usage: USAGE }),
  401: () => failure(401, 'invalid api key'),
  404: () => failure(404, 'no such model'),
  429: () => ({ ...failure(429, 'slow down'), headers: { 'retry-after': '60' } }),
  500: () => failure(500, 'something broke'),
  /** Fails once, then answers. */
  'once-500': (_, index) =>
    index === 0 ? failure(500, 'something broke') : { parts: ['Here.'], usage: USAGE },
  'once-429': (_, index) =>
    index === 0 ? { ...failure(429, 'slow down'), headers: { 'retry-after': '1' } } : { parts: ['Here.'] },
  /** Breaks off in the middle. */
  cut: () => ({ parts: words(10), end: 'cut' }),
  unfinished: () => ({ parts: words(10), end: 'unfinished' }),
  /** Never answers. */
  hang: () => ({ silent: true }),
  /** Sends a little, then nothing more. */
  idle: () => ({ parts: words(3), end: 'hang' }),
}

const USAGE = { input: 100, output: 10 }

function words(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `word ${at + 1} of the markdown, with **bold** and more\n`)
}

function failure(status: number, message: string): Reply {
  return { status, body: { type: 'error', error: { type: 'error', message } } }
}

function lastWords({ json }: RecordedRequest): string {
  const last = (json['messages'] as { content: string | { text?: string }[] }[]).at(-1)
  if (typeof last?.content === 'string') return last.content
  return last?.content.map(({ text = '' }) => text).join('') ?? ''
}
