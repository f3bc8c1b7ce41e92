import { requireConsent } from '../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import { findConversation, readConversations, shortId } from '../../cli/find-conversation.ts'
import type { Host } from '../../cli/host.ts'
import { openOutFile } from '../../cli/out-file.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { shownTitle } from '../../core/base/auto-title.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { toShownJson } from '../../core/base/json.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import { isWindowSender, namePair } from '../../core/base/sender-class.ts'
import { takeStart } from '../../core/base/truncate.ts'
import { conversationMarkdown } from '../../core/protocol/conversation-markdown.ts'
import type { ConversationInfo } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { readMessages } from '../../core/protocol/read-messages.ts'
import { attach } from '../../daemon/attach.ts'
import { readFilters } from './filters.ts'
import { toJsonMessage } from './messages.ts'

const DEFAULT_LIMIT = '20'

/** Runs `crabtalk conversation list`. */
export const listConversationsCommand: CommandHandler = async ({ options, host, signal }) => {
  const limit = parseCount('limit', options.value('limit') ?? DEFAULT_LIMIT)
  const offset = parseCount('offset', options.value('offset') ?? '0')
  const filters = readFilters(options, host)
  await using attached = await attach(host)
  const page = { ...filters, limit, offset }
  const { conversations, total } = await readConversations(attached.dispatch, page, signal)
  const states = attached.place === 'daemon' ? await fetchStates(attached.dispatch, signal) : new Map()
  const rows = conversations.map((info): Row => {
    return { ...info, state: states.get(info.filePath) ?? 'idle' }
  })
  if (options.has('json')) return printJson(host, rows.map(toJsonRow))
  if (rows.length > 0) await printRows(host, rows)
  else if (total > 0) host.stderr.write(`There are only ${total}\n`)
  else host.stderr.write(isFiltered(filters) ? NONE_SUCH : NONE_YET)
  const end = offset + rows.length
  if (host.stdout.isTerminal && rows.length > 0 && end < total)
    host.stderr.write(nextPageHint({ end, total }))
  return 0
}

const NONE_YET = 'No conversations yet; start one with crabtalk send "…"\n'
const NONE_SUCH = 'No conversations match\n'

function isFiltered(filters: ReturnType<typeof readFilters>): boolean {
  return Object.values(filters).some((value) => value !== '')
}

function nextPageHint({ end, total }: { end: number; total: number }): string {
  return `\n${total} in total: --offset ${end} shows the next ones, -n 0 shows all, conversation search WORDS searches them\n`
}

/** Runs `crabtalk conversation show`. */
export const showConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const { filePath } = await findConversation(attached.dispatch, options.args[0], signal)
  if (options.has('json')) return printJson(host, await toJson(attached.dispatch, filePath, signal))
  const clean = host.stdout.isTerminal ? sanitize : (text: string) => text
  for await (const text of conversationMarkdown(attached.dispatch, filePath, signal))
    await host.stdout.write(clean(text))
  return 0
}

/** Runs `crabtalk conversation export`. */
export const exportConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  const format = options.has('html') ? 'html' : (options.value('format') ?? 'markdown')
  const write = FORMATS[format]
  if (!write) {
    throw new CrabError('usage', `Cannot use --format ${format}`, {
      hint: `choose one of ${Object.keys(FORMATS).join(', ')}`,
    })
  }
  const outFile = await openOutFile(options.value('out-file'), host)
  await using attached = await attach(host)
  const { filePath } = await findConversation(attached.dispatch, options.args[0], signal)
  const pieces = write(attached.dispatch, filePath, signal)
  if (outFile) await outFile((await Array.fromAsync(pieces)).join(''))
  else for await (const piece of pieces) await host.stdout.write(piece)
  return 0
}

/** Runs `crabtalk conversation delete`: deletes nothing when one of the ids cannot be resolved. */
export const removeConversationCommand: CommandHandler = async ({ options, host, signal }) => {
  await using attached = await attach(host)
  const found = new Map<string, ConversationInfo>()
  for (const id of options.args) {
    const info = await findConversation(attached.dispatch, id, signal)
    found.set(info.filePath, info)
  }
  const lines = [...found.values()].map((info) => `${summarizeConversation(info)}\n`)
  const question = `${lines.join('')}Permanently delete ${found.size === 1 ? 'this' : `these ${found.size}`}?`
  const task = `delete ${[...found.keys()].map(shortId).join(', ')}`
  await requireConsent(question, { task, options, host }, signal)
  for (const filePath of found.keys()) {
    await request(attached.dispatch, 'deleteConversation', { filePath }, signal)
    host.stdout.write(`deleted ${shortId(filePath)}\n`)
  }
  return 0
}

/** Describes a conversation on one line, for the question whether to delete it. */
function summarizeConversation({ filePath, agent, sender, title, preview, messageCount }: ConversationInfo) {
  const about = title || preview
  const parts = [shortId(filePath), namePair({ agent, sender }), pluralize(messageCount, 'message'), about]
  return sanitizeLine(parts.filter((part) => part !== '').join(' · '))
}

/** The current state of a conversation; `asks` when it waits for the user. */
type State = 'idle' | 'running' | 'asks'

type Row = ConversationInfo & { state: State }

/** Returns the states of the conversations that are active in the daemon, by session. */
async function fetchStates(dispatch: Dispatch, signal: AbortSignal): Promise<ReadonlyMap<string, State>> {
  const { conversations } = await request(dispatch, 'listActiveConversations', {}, signal)
  return new Map(conversations.map(({ session, asks }) => [session, asks > 0 ? 'asks' : 'running']))
}

type Format = (dispatch: Dispatch, session: string, signal: AbortSignal) => AsyncGenerator<string>

const FORMATS: Record<string, Format> = {
  markdown: conversationMarkdown,
  async *html(dispatch, session, signal) {
    const { conversationHtml } = await import('../../core/protocol/conversation-html.ts')
    yield* conversationHtml(dispatch, session, signal)
  },
  async *json(dispatch, session, signal) {
    yield `${toShownJson(await toJson(dispatch, session, signal), 2)}\n`
  },
  async *jsonl(dispatch, session, signal) {
    for await (const message of readMessages(dispatch, session, signal))
      yield `${toShownJson(toJsonMessage(message))}\n`
  },
}

async function toJson(dispatch: Dispatch, session: string, signal: AbortSignal) {
  const { id, agent, sender, title, cwd, createdAt, updatedAt, forkedFrom } = await request(
    dispatch,
    'getSession',
    { session },
    signal,
  )
  const messages = await Array.fromAsync(readMessages(dispatch, session, signal), toJsonMessage)
  const head = { id, agent, sender, title, cwd, created_at: createdAt, updated_at: updatedAt }
  return { ...head, ...(forkedFrom && { forked_from: forkedFrom }), messages }
}

function toJsonRow(info: Row) {
  return {
    id: info.filePath,
    agent: info.agent,
    sender: info.sender,
    title: info.title,
    preview: info.preview,
    messages: info.messageCount,
    cwd: info.cwd,
    created_at: info.createdAt,
    updated_at: info.updatedAt,
    state: info.state,
  }
}

async function printRows(host: Host, rows: readonly Row[]): Promise<void> {
  const now = Date.now()
  const cells = rows.map((info) => [
    shortId(info.filePath),
    relativeTime(info.updatedAt, now),
    info.agent,
    formatSender(info.sender),
    String(info.messageCount),
    `${MARKS[info.state]}${shownTitle(info) || info.preview}`,
  ])
  await printTable(host, ['ID', 'UPDATED', 'AGENT', 'SENDER', 'MESSAGES', 'TITLE'], cells)
}

/**
 * Truncates long senders, which any TCP client can choose, and replaces those that a window generated; `--json` shows
 * all in full.
 */
function formatSender(sender: string): string {
  if (isWindowSender(sender)) return 'a chat'
  return sender.length > MAX_SENDER ? `${takeStart(sender, MAX_SENDER - 1)}…` : sender
}

const MAX_SENDER = 32
const MARKS: Readonly<Record<State, string>> = { idle: '', running: '[running] ', asks: '[asks you] ' }
