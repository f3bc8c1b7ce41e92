import type { CommandHandler } from '../../cli/command.ts'
import { parseCount } from '../../cli/duration.ts'
import type { Host } from '../../cli/host.ts'
import { printJson, printTable } from '../../cli/print.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import { takeStart } from '../../core/base/truncate.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { attach } from '../../daemon/attach.ts'
import { fetchMemoryEntries, fetchMemoryEntry, kindName, MEMORY_KIND_NAMES, toJsonEntry } from './entries.ts'

/** Runs `crabtalk memory list`. */
export const listMemoriesCommand: CommandHandler = async ({ options, host, signal }) => {
  const limitText = options.value('limit')
  const limit = limitText === undefined ? 0 : parseCount('limit', limitText)
  const offset = parseCount('offset', options.value('offset') ?? '0')
  const kind = MEMORY_KIND_NAMES[options.value('kind') ?? '']
  const agent = options.value('agent') ?? ''
  await using attached = await attach(host, { signal })
  const filter = { agent, kind, offset, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit }
  const { entries, total } = await fetchMemoryEntries(attached.dispatch, filter, signal)
  if (options.has('json')) return printJson(host, entries.map(toJsonEntry))
  if (entries.length > 0) await printRows(host, entries)
  else host.stderr.write(total > 0 ? `There are only ${total}\n` : NOTHING_YET)
  return 0
}

const NOTHING_YET = 'Nothing is remembered yet; write something with crabtalk memory remember NAME "…"\n'

/**
 * Runs `crabtalk memory show`: prints the content and one line break, so that a file of the output can be
 * remembered again.
 */
export const showMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [name = ''] = options.args
  await using attached = await attach(host, { signal })
  const at = { agent: options.value('agent') ?? '', name }
  const entry = await fetchMemoryEntry(attached.dispatch, at, signal)
  if (options.has('json')) return printJson(host, toJsonEntry(entry))
  const { isTerminal } = host.stdout
  if (isTerminal) host.stderr.write(`${summarizeEntry(entry)}\n\n`)
  host.stdout.write(`${isTerminal ? sanitize(entry.content) : entry.content}\n`)
  return 0
}

/** Describes an entry on one line, without its content. */
export function summarizeEntry({ name, kind, createdAt, aliases }: MemoryEntry): string {
  const also = aliases.length > 0 ? [`also ${aliases.join(', ')}`] : []
  return sanitizeLine([name, kindName(kind), relativeTime(createdAt, Date.now()), ...also].join(' · '))
}

/** Returns the start of a content on one line. */
export function previewContent(content: string): string {
  return sanitizeLine(takeStart(content, PREVIEW_CHARS)).trim()
}

const PREVIEW_CHARS = 200

async function printRows(host: Host, entries: readonly MemoryEntry[]): Promise<void> {
  const now = Date.now()
  const rows = entries.map(({ name, kind, createdAt, aliases, content }) => [
    name,
    kindName(kind),
    relativeTime(createdAt, now),
    aliases.join(', '),
    previewContent(content),
  ])
  await printTable(host, ['NAME', 'KIND', 'SINCE', 'ALIASES', 'CONTENT'], rows)
}
