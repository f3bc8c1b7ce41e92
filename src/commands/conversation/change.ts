import type { CommandHandler } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import { findConversation, shortId } from '../../cli/find-conversation.ts'
import { printJson } from '../../cli/print.ts'
import { newUlid } from '../../core/base/ids.ts'
import { sanitizeLine } from '../../core/base/sanitize.ts'
import { classifySender } from '../../core/base/sender-class.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'

/** Runs `crabtalk conversation rename`. */
export const renameConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  const [id, ...words] = options.args
  await using attached = await attach(host)
  const { filePath: session } = await findConversation(attached.dispatch, id, signal)
  const { title } = await request(attached.dispatch, 'setTitle', { session, title: words.join(' ') }, signal)
  host.stdout.write(`renamed ${shortId(session)} to "${sanitizeLine(title)}"\n`)
  return 0
}

/** Runs `crabtalk conversation fork`. */
export const forkConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  const at = options.value('at')
  const before = at === undefined ? 0 : parseCount('at', at, 1)
  const title = options.value('title') ?? ''
  await using attached = await attach(host)
  const { dispatch } = attached
  const { filePath: session, sender: from } = await findConversation(dispatch, options.args[0], signal)
  const own = classifySender(from) === 'local' ? `sh:${newUlid()}` : '' // a copy has no more rights than the original
  const copy = await request(dispatch, 'forkSession', { session, before, sender: own }, signal)
  if (title !== '') await request(dispatch, 'setTitle', { session: copy.id, title }, signal)
  const { id, agent, sender, messageCount: messages } = copy
  if (options.has('json'))
    return printJson(host, { id, forked_from: session, agent, sender, title, messages })
  host.stdout.write(`forked ${shortId(session)} as ${shortId(id)}\n`)
  return 0
}

/** Runs `crabtalk conversation compact`. */
export const compactConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const { dispatch } = attached
  const { filePath: session, agent, sender } = await findConversation(dispatch, options.args[0], signal)
  if (options.has('undo')) {
    await request(dispatch, 'undoCompaction', { session }, signal)
    if (options.has('json')) return printJson(host, { id: session, undone: true })
    host.stdout.write(`undid the compaction of ${shortId(session)}\n`)
    return 0
  }
  const model = options.value('model') ?? ''
  const focus = options.value('focus') ?? ''
  const done = await request(dispatch, 'compact', { agent, sender, session, model, focus }, signal)
  const { before, after, summary, archive, costUsd = null } = done
  if (options.has('json')) {
    const tokens = { tokens_before: before, tokens_after: after }
    return printJson(host, { id: session, ...tokens, archive, cost_usd: costUsd, summary })
  }
  host.stdout.write(`compacted ${shortId(session)} from about ${before} to ${after} tokens\n`)
  return 0
}
