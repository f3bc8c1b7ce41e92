import type { CommandHandler } from '../../cli/command.ts'
import { findConversation } from '../../cli/find-conversation.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { CONTEXT_PART_NAMES, formatContextPart } from '../../core/protocol/context-words.ts'
import type { ContextView } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation context`. */
export const contextCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const { filePath: session } = await findConversation(attached.dispatch, options.args[0], signal)
  const model = options.value('model') ?? ''
  const view = await request(attached.dispatch, 'contextView', { session, model }, signal)
  if (options.has('json')) return printJson(host, toJson(view))
  const rows = view.parts.map((part) => {
    const { name, note } = formatContextPart(part)
    return [String(part.tokens), name, note]
  })
  await printTable(host, ['TOKENS', 'PART', 'CONTENT'], rows)
  host.stderr.write(describeTotal(view))
  return 0
}

function describeTotal({ model, window, total: used, counted, compactable }: ContextView): string {
  const room = window === undefined ? '' : ` of ${window}, ${Math.round((used / window) * 100)} %`
  const how = counted === undefined ? 'estimated' : 'counted by the provider'
  const advice = compactable > 0 ? `; crabtalk conversation compact would free about ${compactable}` : ''
  return `${model}: ${used}${room} (${how})${advice}\n`
}

function toJson({ model, window, total, counted, compactable, parts }: ContextView) {
  const rows = parts.map(({ kind, name, tokens, count, unused }) => {
    return { part: CONTEXT_PART_NAMES[kind], name: name || null, tokens, count, unused }
  })
  return { model, window: window ?? null, total, counted: counted ?? null, compactable, parts: rows }
}
