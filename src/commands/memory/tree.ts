import { resolve } from 'node:path'
import { confirm, declinedError } from '../../cli/ask/confirm.ts'
import type { CommandHandler, ParsedOptions } from '../../cli/command.ts'
import type { Host } from '../../cli/host.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError } from '../../core/base/errors.ts'
import { pluralize } from '../../core/base/format.ts'
import { sanitize, sanitizeLine } from '../../core/base/sanitize.ts'
import type { DeepPartial, MemoryEntry } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { dumpWireEntries, loadWireEntries } from '../../daemon/memory-tree.ts'
import { readMemory } from './entries.ts'

/** Runs `crabtalk memory dump`: writes a memory as a tree of Markdown files (ADR 0126). */
export const dumpMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [folder = ''] = options.args
  await using attached = await attach(host, { signal })
  const entries = await readMemory(attached.dispatch, options.value('agent') ?? '', signal)
  const path = resolve(host.cwd(), folder)
  const { removed } = await dumpWireEntries(path, entries, signal)
  if (options.has('json')) return printJson(host, { folder: path, entries: entries.length, removed })
  const removedText = removed > 0 ? `, removed ${pluralize(removed, 'old file')}` : ''
  host.stdout.write(
    `wrote ${pluralize(entries.length, 'entry', 'entries')} to ${sanitize(folder)}${removedText}\n`,
  )
  return 0
}

/** Runs `crabtalk memory load`: replaces a memory with the content of a tree, in one step. */
export const loadMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const [folder = ''] = options.args
  const agent = options.value('agent') ?? ''
  const { entries, ignored } = await loadWireEntries(resolve(host.cwd(), folder), signal)
  await using attached = await attach(host, { signal })
  const before = await readMemory(attached.dispatch, agent, signal)
  const difference = diffMemories(before, entries)
  const isDry = options.has('dry-run')
  if (!isDry) await confirmLoss(difference, { options, host, folder }, signal)
  if (!isDry) await request(attached.dispatch, 'replaceMemory', { agent, entries }, signal)
  for (const path of ignored) host.stderr.write(`${sanitize(`Not read: ${path}`)}\n`)
  if (options.has('json')) return printJson(host, { entries: entries.length, ...difference })
  printSummary(host, { entries, difference, isDry })
  return 0
}

/** Asks the user only if something would be lost. */
async function confirmLoss(
  difference: MemoryDiff,
  { options, host, folder }: { options: ParsedOptions; host: Host; folder: string },
  signal: AbortSignal,
): Promise<void> {
  if (difference.removed.length + difference.changed.length === 0) return
  const question = `Replace this memory with the content of ${folder}: ${describeDifference(difference)}?`
  const answer = await confirm(question, { options, host }, signal)
  if (answer === false) throw declinedError('load')
  if (answer === true) return
  throw new CrabError(
    'denied',
    `Cannot load ${folder}: it would replace entries, ${describeDifference(difference)}`,
    {
      hint: 'preview with --dry-run, then confirm with --yes',
    },
  )
}

function printSummary(
  host: Host,
  {
    entries,
    difference,
    isDry,
  }: { entries: readonly MemoryEntry[] | readonly object[]; difference: MemoryDiff; isDry: boolean },
): void {
  const rows = [
    ...difference.added.map((name) => `+ ${name}`),
    ...difference.changed.map((name) => `~ ${name}`),
    ...difference.removed.map((name) => `- ${name}`),
  ]
  for (const row of isDry ? rows : []) host.stdout.write(`${sanitizeLine(row)}\n`)
  const verb = isDry ? 'would load' : 'loaded'
  host.stdout.write(
    `${verb} ${pluralize(entries.length, 'entry', 'entries')}: ${describeDifference(difference)}\n`,
  )
}

/** The difference between two memories, by the names of entries. */
export interface MemoryDiff {
  added: string[]
  /** The entries with another content, kind or time, or with other aliases. */
  changed: string[]
  removed: string[]
}

type MemoryContents = DeepPartial<MemoryEntry>

/** Returns what is added, changed and removed when `after` replaces `before`. */
export function diffMemories(before: readonly MemoryEntry[], after: readonly MemoryContents[]): MemoryDiff {
  const old = new Map(before.map((entry) => [entry.name, entry]))
  const names = new Set(after.map(({ name }) => name))
  const changed = after.filter((entry) => {
    const was = old.get(entry.name ?? '')
    return was !== undefined && !isSame(was, entry)
  })
  return {
    added: after.flatMap(({ name = '' }) => (old.has(name) ? [] : [name])),
    changed: changed.map(({ name = '' }) => name),
    removed: before.flatMap(({ name }) => (names.has(name) ? [] : [name])),
  }
}

/** Describes a difference in a few words. */
export function describeDifference({ added, changed, removed }: MemoryDiff): string {
  const parts = [
    [removed.length, 'removed'],
    [changed.length, 'changed'],
    [added.length, 'new'],
  ] as const
  const shown = parts.filter(([many]) => many > 0).map(([many, word]) => `${many} ${word}`)
  return shown.join(', ') || 'nothing changes'
}

/**
 * Ignores the time of an entry that comes without one: it gets the current time, which is not a change that
 * the user made.
 */
function isSame(
  was: MemoryEntry,
  { content = '', kind, aliases = [], createdAt = '' }: MemoryContents,
): boolean {
  const isListed = (alias: string) => was.aliases.includes(alias)
  return (
    was.content === content &&
    was.kind === kind &&
    (createdAt === '' || was.createdAt === createdAt) &&
    was.aliases.length === aliases.length &&
    aliases.every((alias) => isListed(alias ?? ''))
  )
}
