import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/core/base/message.ts'
import { type Call, READ_ONLY, type Tool, textResult, tool } from './tool.ts'

/** The minimal tools of a test: `echo` and `add`. */
export function fewTools(): Tool[] {
  return [
    tool(
      'echo',
      'Says it again',
      { text: 'string' },
      ({ args }) => textResult(String(args['text'])),
      READ_ONLY,
    ),
    tool('add', 'Adds two numbers', { a: 'number', b: 'number' }, add, READ_ONLY),
  ]
}

/** Correct tools, with each kind of content. */
export function goodTools(): Tool[] {
  return [
    ...fewTools(),
    tool('sleep', 'Waits, telling how far it is', { ms: 'number', steps: 'integer?' }, waitInSteps),
    tool('env', 'Its environment, as JSON', {}, () => textResult(JSON.stringify(process.env)), READ_ONLY),
    tool('cwd', 'Its working directory', {}, () => textResult(process.cwd()), READ_ONLY),
    tool('pid', 'Its process id', {}, () => textResult(String(process.pid)), READ_ONLY),
    tool('fail', 'Fails as a tool does', { text: 'string?' }, ({ args }) => ({
      ...textResult(String(args['text'] ?? 'it did not work')),
      isError: true,
    })),
    tool('big', 'A text of so many bytes, in numbered lines', { bytes: 'integer' }, ({ args }) =>
      textResult(numberedLines(Number(args['bytes']))),
    ),
    tool('structured', 'Structured content, and text that repeats it', {}, () => both(WEATHER), {
      outputSchema: {
        type: 'object',
        properties: { city: { type: 'string' }, degrees: { type: 'number' } },
        required: ['city', 'degrees'],
      },
    }),
    tool('big_structured', 'Structured content of about so many bytes', { bytes: 'integer' }, ({ args }) =>
      both({ lines: numberedLines(Number(args['bytes'])).split('\n') }),
    ),
    ...Object.entries(CONTENTS).map(([name, content]) =>
      tool(name, `Content: ${name}`, {}, () => ({ content }), READ_ONLY),
    ),
  ]
}

function add({ args: { a, b } }: Call): JsonObject {
  if (typeof a !== 'number' || typeof b !== 'number')
    return { ...textResult('a and b are numbers'), isError: true }
  return textResult(String(a + b))
}

async function waitInSteps({ args, signal, progress }: Call): Promise<JsonObject> {
  const [ms, steps] = [Number(args['ms']), Number(args['steps'] ?? 1)]
  for (let step = 1; step <= steps; step++) {
    await sleep(ms / steps, undefined, { signal })
    await progress(step, steps)
  }
  return textResult(`slept ${ms} ms`)
}

/** Returns exactly `bytes` bytes of lines of 80, each beginning with a number. */
export function numberedLines(bytes: number): string {
  const count = Math.ceil(bytes / 80)
  const lines = Array.from({ length: count }, (_, index) => `${index + 1} `.padEnd(79, '.'))
  return `${lines.join('\n')}\n`.slice(0, bytes)
}

function both(structuredContent: JsonObject): JsonObject {
  return { ...textResult(JSON.stringify(structuredContent)), structuredContent }
}

const WEATHER = { city: 'Zürich', degrees: 21.5 }

/** A PNG of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
/** A WAV without samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

const TEXT = { type: 'text', text: 'beside it' }
const IMAGE = { type: 'image', data: PNG, mimeType: 'image/png' }
const AUDIO = { type: 'audio', data: WAV, mimeType: 'audio/wav' }
const LINK = {
  type: 'resource_link',
  uri: 'file:///notes/today.md',
  name: 'today.md',
  mimeType: 'text/markdown',
}
const EMBEDDED_TEXT = {
  type: 'resource',
  resource: { uri: 'file:///notes/today.md', mimeType: 'text/markdown', text: '# Today\n' },
}
const EMBEDDED_BLOB = {
  type: 'resource',
  resource: { uri: 'file:///dot.png', mimeType: 'image/png', blob: PNG },
}

/** The content of a result, by the name of its tool. */
export const CONTENTS: Readonly<Record<string, readonly JsonObject[]>> = {
  image: [IMAGE],
  audio: [AUDIO],
  resource_link: [LINK],
  embedded_text: [EMBEDDED_TEXT],
  embedded_blob: [EMBEDDED_BLOB],
  mixed: [TEXT, IMAGE, AUDIO, LINK, EMBEDDED_TEXT],
  no_content: [],
}
