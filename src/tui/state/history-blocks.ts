import { withoutChangeNote } from '../../core/base/changed-call.ts'
import { pluralize } from '../../core/base/format.ts'
import { isNotRun, isUnanswered } from '../../core/base/not-run.ts'
import { foldOutput, readTypedMessage, type SentShellLine } from '../../core/base/typed-message.ts'
import type { SessionMessage } from '../../core/protocol/crabtalk.generated.ts'
import type { Block, ToolRun } from '../view/blocks.ts'
import { foldBlocks } from '../view/tool/fold.ts'

/**
 * Converts stored messages, oldest first, into the blocks that a chat would have printed. Messages that a rewind
 * dropped become a line with their number, or stay between two lines when `showsDropped`.
 */
export function toBlocks(messages: readonly SessionMessage[], { showsDropped = false } = {}): Block[] {
  const blocks: Block[] = []
  for (let at = 0; at < messages.length; ) {
    const isDropped = messages[at]!.dropped
    const next = messages.findIndex((message, index) => index > at && message.dropped !== isDropped)
    const run = messages.slice(at, next < 0 ? undefined : next)
    at += run.length
    if (!isDropped) blocks.push(...toRunBlocks(run))
    else if (showsDropped) blocks.push(DROPPED_START, ...toRunBlocks(run), DROPPED_END)
    else blocks.push({ kind: 'rule', text: describeDropped(run), isCut: true })
  }
  return blocks
}

const DROPPED_START: Block = { kind: 'rule', text: 'went back: the agent no longer sees what follows' }
const DROPPED_END: Block = { kind: 'rule', text: 'the conversation continued here' }

function describeDropped(run: readonly SessionMessage[]): string {
  const count = run.filter(({ role }) => role !== 'tool').length
  return `went back: ${pluralize(count, 'message')} dropped`
}

function toRunBlocks(messages: readonly SessionMessage[]): Block[] {
  const blocks = messages.flatMap((message, at) => {
    if (message.role === 'user') return toUser(message)
    return message.role === 'assistant' ? toAnswer(message, resultsBehind(messages, at)) : []
  })
  return foldBlocks(blocks)
}

/**
 * Returns the results of a message's calls by call id. Only the results right after the message count,
 * because some servers repeat an id across messages.
 */
function resultsBehind(messages: readonly SessionMessage[], at: number): Map<string, SessionMessage> {
  const results = new Map<string, SessionMessage>()
  for (let next = at + 1; messages[next]?.role === 'tool'; next++) {
    results.set(messages[next]!.toolCallId, messages[next]!)
  }
  return results
}

/** Shows a message as the chat showed it when it was sent, with the shell lines before it. */
function toUser({ content, attachments }: SessionMessage): Block[] {
  const files = attachments.map(({ name, mediaType }) => name || mediaType)
  const { shellLines, text } = readTypedMessage(content)
  return [...shellLines.flatMap(toShellBlocks), { kind: 'user', text, how: 'sent', files }]
}

function toShellBlocks({ line, exitCode, output }: SentShellLine): Block[] {
  const title = exitCode === 0 ? '' : exitCode === undefined ? 'interrupted' : `exit ${exitCode}`
  return [
    { kind: 'output', title: `$ ${line}` },
    { kind: 'output', title, text: foldOutput(output) },
  ]
}

function toAnswer(
  { content, agent, toolCalls, reasoning }: SessionMessage,
  results: ReadonlyMap<string, SessionMessage>,
): Block[] {
  const thinking = reasoning.filter((text) => text.trim() !== '')
  return [
    ...thinking.map((text): Block => ({ kind: 'thinking', text, isFirst: true })),
    ...(agent === '' ? [] : [{ kind: 'rule', text: agent } as const]), // a guest
    ...(content.trim() === ''
      ? []
      : [{ kind: 'answer', agent, text: content, isFirst: true, continues: false } as const]),
    ...toolCalls.map(
      (call): Block => ({ kind: 'tool', tool: toRun(call, results.get(call.callId)), follows: false }),
    ),
  ]
}

function toRun(
  { callId, name, server, arguments: args }: SessionMessage['toolCalls'][number],
  result: SessionMessage | undefined,
): ToolRun {
  return {
    callId,
    name,
    server,
    arguments: args,
    state: toToolState(name, result),
    progress: '',
    output: withoutChangeNote(result?.content ?? 'Interrupted', args),
    durationMs: 0,
    denial: undefined,
    diff: '',
  }
}

/**
 * Recognizes a stored refusal by its text, because nothing else of it is stored. Results of MCP servers are
 * excluded: a server can return the same text.
 */
function toToolState(name: string, result: SessionMessage | undefined): ToolRun['state'] {
  const isRefused =
    !name.startsWith('mcp__') && result?.isError === true && result.content.startsWith('Not permitted: ')
  if (isRefused) return 'denied'
  if (result?.isError && (isNotRun(name, result.content) || isUnanswered(name, result.content)))
    return 'skipped'
  return result === undefined || result.isError ? 'failed' : 'done'
}
