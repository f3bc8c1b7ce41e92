import { headOf } from '../../core/base/cut.ts'
import { relativeTime } from '../../core/base/relative-time.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import type { MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { attach } from '../../daemon/attach.ts'
import type { Run } from '../command.ts'
import { parseCount } from '../duration.ts'
import type { Host } from '../host.ts'
import { printJson, printTable } from '../print.ts'
import { findEntry, KIND_NAMES, kindName, readEntries, toJsonEntry } from './entries.ts'

export const list: Run = async ({ options, host, signal }) => {
  const asked = options.value('limit')
  const limit = asked === undefined ? 0 : parseCount('limit', asked)
  const offset = parseCount('offset', options.value('offset') ?? '0')
  const kind = KIND_NAMES[options.value('kind') ?? '']
  const agent = options.value('agent') ?? ''
  await using attached = await attach(host, { signal })
  const wanted = { agent, kind, offset, limit: limit === 0 ? Number.POSITIVE_INFINITY : limit }
  const { entries, total } = await readEntries(attached.dispatch, wanted, signal)
  if (options.has('json')) return printJson(host, entries.map(toJsonEntry))
  if (entries.length > 0) await printRows(host, entries)
  else host.stderr.write(total > 0 ? `There are only ${total}\n` : NOTHING_YET)
  return 0
}

const NOTHING_YET = 'Nothing is remembered yet; write something with crabtalk memory remember NAME "…"\n'

/** `crabtalk memory show`: the content and one line end, so that a file made of it can be remembered again. */
export const show: Run = async ({ options, host, signal }) => {
  const [name = ''] = options.args
  await using attached = await attach(host, { signal })
  const at = { agent: options.value('agent') ?? '', name }
  const entry = await findEntry(attached.dispatch, at, signal)
  if (options.has('json')) return printJson(host, toJsonEntry(entry))
  const { isTerminal } = host.stdout
  if (isTerminal) host.stderr.write(`${factsOf(entry)}\n\n`)
  host.stdout.write(`${isTerminal ? sanitize(entry.content) : entry.content}\n`)
  return 0
}

/** An entry in a line without its content. */
export function factsOf({ name, kind, createdAt, aliases }: MemoryEntry): string {
  const also = aliases.length > 0 ? [`also ${aliases.join(', ')}`] : []
  return inLine([name, kindName(kind), relativeTime(createdAt, Date.now()), ...also].join(' · '))
}

/** How a content begins. */
export function firstWords(content: string): string {
  return inLine(headOf(content, FIRST_WORDS)).trim()
}

const FIRST_WORDS = 200

function inLine(text: string): string {
  return sanitize(text).replaceAll(/\s+/g, ' ')
}

async function printRows(host: Host, entries: readonly MemoryEntry[]): Promise<void> {
  const now = Date.now()
  const rows = entries.map(({ name, kind, createdAt, aliases, content }) => [
    name,
    kindName(kind),
    relativeTime(createdAt, now),
    aliases.join(', '),
    firstWords(content),
  ])
  await printTable(host, ['NAME', 'KIND', 'SINCE', 'ALIASES', 'CONTENT'], rows)
}
