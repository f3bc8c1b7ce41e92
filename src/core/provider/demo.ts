import { toCancelled } from '../base/cancelled.ts'
import { type Message, NO_USAGE } from '../base/message.ts'
import type { ModelSource } from './source.ts'
import type { ModelEvent, ModelRequest, ToolSpec } from './types.ts'

/** How a person gets a real model, as a hint. */
export const CONNECT = 'set ANTHROPIC_API_KEY or OPENAI_API_KEY, start Ollama, or write [llm] in config.toml'

/**
 * The built-in model: offline, deterministic, free. It calls real tools, so that the whole way of a turn can be tried.
 *
 * The first call of each turn says that it is none; `remark` is added to that.
 */
export function demoSource(remark?: string): ModelSource {
  const facts = { inputUsd: 0, outputUsd: 0 }
  return {
    name: 'demo',
    where: 'built in',
    models: [{ name: 'demo', facts }],
    isOpen: false,
    complete: (request, signal) => answer(request, remark, signal),
  }
}

async function* answer(
  { messages, tools }: ModelRequest,
  remark: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const last = messages.at(-1)
  const prompt = last?.role === 'user' ? last.content : ''
  const call = last?.role === 'user' ? readCall(prompt, tools) : undefined
  if (signal.aborted) throw toCancelled(signal)
  if (last?.role === 'user') yield { type: 'notice', message: noticeWith(remark) }
  if (call) {
    yield { type: 'tool-call', call }
    yield { type: 'finish', reason: 'tool-calls', usage: NO_USAGE }
    return
  }
  const text = last?.role === 'tool' ? aboutResults(messages) : aboutPrompt(prompt, last)
  for (const delta of text.split(/(?<=\s)(?=\S)/)) {
    if (signal.aborted) throw toCancelled(signal)
    yield { type: 'text', delta }
  }
  yield { type: 'finish', reason: 'stop', usage: NO_USAGE }
}

function noticeWith(remark: string | undefined): string {
  return `The built-in demo answers; it is no language model. To connect one: ${CONNECT}${remark ? `. ${remark}` : ''}`
}

/** A call of `read` when the prompt asks for a file by name. */
function readCall(prompt: string, tools: readonly ToolSpec[]) {
  const path = ASKS_FOR_FILE.exec(withoutBlocks(prompt).slice(0, MAX_ASKED))?.[1]
  const hasRead = tools.some(({ name }) => name === 'read')
  return path && hasRead ? { id: 'demo-1', name: 'read', arguments: JSON.stringify({ path }) } : undefined
}

function aboutResults(messages: readonly Message[]): string {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1
  return messages.slice(start).map(aboutResult).join('\n')
}

function aboutResult({ name, content, is_error: failed }: Message): string {
  if (failed) return `I called ${name}, and it failed: ${content}`
  const first = content.split('\n', 1)[0] ?? ''
  return `I called ${name} and got ${counted(lineCount(content), 'line')} back. The first one is: ${first}`
}

function aboutPrompt(prompt: string, message: Message | undefined): string {
  if (/\bwhat (all )?can (you|crabtalk) do\b|^\s*help\s*[.!?]*\s*$/i.test(prompt)) return ABILITIES
  const words = withoutBlocks(prompt).split(/\s+/).filter(Boolean).length
  const parts = [
    counted(words, 'word'),
    ...blocksOf(prompt).map(({ name, body }) => `${counted(lineCount(body), 'line')} of ${name}`),
    ...(message?.attachments ?? []).map(({ media_type: type, name = type }) => `the attachment ${name}`),
  ]
  return `I am crabtalk's built-in demo, not a language model, so I cannot answer that. It did arrive whole: ${listed(parts)}. Ask me what I can do, or to read a file.`
}

/** The data a prompt carries: standard input and files. */
function blocksOf(prompt: string): { name: string; body: string }[] {
  return [...prompt.matchAll(BLOCK)].map(([, tag, path, body = '']) => ({
    name: tag === 'stdin' ? 'standard input' : (path ?? 'a file'),
    body,
  }))
}

function withoutBlocks(prompt: string): string {
  return prompt.replace(BLOCK, '')
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

/** Characters in which a file is looked for: a prompt may be megabytes, a question is not. */
const MAX_ASKED = 1000
const BLOCK = /<(stdin|file)(?: path="([^"]*)")?>\n([\s\S]*?)\n?<\/\1>/g
const ASKS_FOR_FILE =
  /\b(?:read|open|show|print|summari[sz]e|explain|look at)\b[^\n]*?[\s"'`](~?[\w./@-]*\w\.\w+|[\w.@-]*\/[\w./@-]+)/i

const ABILITIES = `I am crabtalk's demo model: I answer offline, from a script, and call real
tools. crabtalk itself is all here:

  git diff | crabtalk send "Review this change"   pipe anything in
  crabtalk send -s notes "Keep this in mind"      continue by name; -c the last one
  crabtalk send -f report.md -i chart.png "Why?"  add files and images
  crabtalk send --schema shape.json "List them"   get JSON of that shape
  crabtalk agent create reviewer                  an agent of your own
  crabtalk conversation list                      what was said, on your disk only

Try "read package.json": I call the tool a model would call, and say what it
gave me. To connect a model: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start
Ollama, or write [llm] in config.toml.`
