import { toCancelledError } from '../base/abortable.ts'
import { pluralize } from '../base/format.ts'
import { type Message, NO_USAGE } from '../base/message.ts'
import { takeStart } from '../base/truncate.ts'
import { callFor, unknownTool } from './demo-calls.ts'
import type { ModelSource } from './source.ts'
import type { ModelEvent, ModelRequest, ToolSpec } from './types.ts'

/** A hint that tells the user how to connect a real model. */
export const CONNECT_HINT = 'connect a provider with crabtalk connect, or set a key such as ANTHROPIC_API_KEY'

/**
 * The built-in model: offline, deterministic, free. It calls real tools, so that every step of a turn can be
 * tried.
 *
 * The first call of each turn yields a notice that it is a demo, followed by `remark`.
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
  const call = last?.role === 'user' ? callFor(findRequest(prompt), tools) : undefined
  if (signal.aborted) throw toCancelledError(signal)
  if (last?.role === 'user') yield { type: 'notice', message: noticeWith(remark) }
  if (call) {
    yield { type: 'tool-call', call }
    yield { type: 'finish', reason: 'tool-calls', usage: NO_USAGE }
    return
  }
  const text = last?.role === 'tool' ? aboutResults(messages) : aboutPrompt(prompt, last, tools)
  for (const delta of text.split(/(?<=\s)(?=\S)/)) {
    if (signal.aborted) throw toCancelledError(signal)
    yield { type: 'text', delta }
  }
  yield { type: 'finish', reason: 'stop', usage: NO_USAGE }
}

function noticeWith(remark: string | undefined): string {
  return `No model connected. Answers come from the built-in demo. Connect one: crabtalk connect${remark ? `. ${remark}` : ''}`
}

function aboutResults(messages: readonly Message[]): string {
  const start = messages.findLastIndex(({ role }) => role !== 'tool') + 1
  return messages.slice(start).map(aboutResult).join('\n')
}

function aboutResult({ name, content, is_error: failed }: Message): string {
  if (failed) return `I called ${name}, and it failed: ${content}`
  const text = content.replace(/\n$/, '')
  if (text === '') return `I called ${name} and got nothing back.`
  const lines = text.split('\n')
  const got = `I called ${name} and got ${pluralize(lines.length, 'line')} back`
  const isShort = lines.length <= MAX_LINES && text.length <= MAX_CHARS
  if (lines.length === 1 && isShort) return `${got}: ${text}`
  if (isShort) return `${got}:\n${text}`
  return `${got}. They begin with:\n${takeStart(lines.slice(0, MAX_LINES).join('\n'), MAX_CHARS)}`
}

/** The number of lines and UTF-16 units of a result that are quoted. */
const MAX_LINES = 12
const MAX_CHARS = 2000

function aboutPrompt(prompt: string, message: Message | undefined, tools: readonly ToolSpec[]): string {
  if (/\bwhat (all )?can (you|crabtalk) do\b|^\s*help\s*[.!?]*\s*$/i.test(prompt)) return ABILITIES
  const unknown = unknownTool(findRequest(prompt), tools)
  if (unknown !== undefined) {
    const names = tools.map(({ name, alias }) => alias ?? name)
    return `I do not have a tool called ${unknown}. I have ${names.length > 0 ? joinWords(names) : 'none'}.`
  }
  const words = withoutBlocks(prompt).split(/\s+/).filter(Boolean).length
  const parts = [
    pluralize(words, 'word'),
    ...parseBlocks(prompt).map(({ name, body }) => `${pluralize(lineCount(body), 'line')} of ${name}`),
    ...(message?.attachments ?? []).map(({ media_type: type, name = type }) => `the attachment ${name}`),
  ]
  return `I only know a few commands, so I cannot answer that. I received ${joinWords(parts)}. Ask me what I can do.`
}

/** Returns the data blocks of a prompt: standard input and files. */
function parseBlocks(prompt: string): { name: string; body: string }[] {
  return [...prompt.matchAll(BLOCK)].map(([, tag, path, body = '']) => ({
    name: tag === 'stdin' ? STDIN : (path ?? 'a file'),
    body,
  }))
}

/** Returns the request in a prompt: its own words, or standard input when there are none. */
function findRequest(prompt: string): string {
  const own = withoutBlocks(prompt)
  if (own.trim() !== '') return own
  return parseBlocks(prompt).find(({ name }) => name === STDIN)?.body ?? ''
}

function withoutBlocks(prompt: string): string {
  return prompt.replace(BLOCK, '')
}

function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}

function joinWords(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

const STDIN = 'standard input'
const BLOCK = /<(stdin|file)(?: path="([^"]*)")?>\n([\s\S]*?)\n?<\/\1>/g

const ABILITIES = `I am crabtalk's demo model: I answer offline, from a script, and call real
tools. crabtalk itself is all here:

  git diff | crabtalk send "Review this change"   pipe anything in
  crabtalk send -s notes "Keep this in mind"      by name; -c the last one
  crabtalk send -f report.md -i chart.png "Why?"  add files and images
  crabtalk send --schema shape.json "List them"   get JSON of that shape
  crabtalk agent create reviewer                  an agent of your own
  crabtalk conversation list                      what was said, on your disk

I call the tool a model would call, and say what it gave me:

  read FILE · list files in DIR · find '*.ts' · search for WORD
  write FILE: text · run COMMAND · call TOOL {"any": "arguments"}

To connect a model: crabtalk connect`
