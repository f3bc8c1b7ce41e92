import { requireConsent } from '../../cli/ask/confirm.ts'
import type { CommandHandler } from '../../cli/command.ts'
import { printJson } from '../../cli/print.ts'
import { CrabError, toCrabError } from '../../core/base/errors.ts'
import { sanitize } from '../../core/base/sanitize.ts'
import { type MemoryEntry, MemoryKind } from '../../core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../core/protocol/dispatch.ts'
import { attach } from '../../daemon/attach.ts'
import { fetchMemoryEntry, toJsonEntry } from './entries.ts'
import { previewContent, summarizeEntry } from './list.ts'

/**
 * Runs `crabtalk memory forget`: forgets all the named entries, or none if one of them does not exist or is
 * an archive.
 */
export const forgetMemoryCommand: CommandHandler = async ({ options, host, signal }) => {
  const agent = options.value('agent') ?? ''
  await using attached = await attach(host, { signal })
  const entries = await findNotes(attached.dispatch, { agent, names: options.args }, signal)
  const lines = entries.map((entry) => `${summarizeEntry(entry)}: ${previewContent(entry.content)}\n`)
  const question = `${lines.join('')}Forget ${entries.length === 1 ? 'this' : `these ${entries.length}`}?`
  await requireConsent(
    question,
    { task: `forget ${entries.map(({ name }) => `"${name}"`).join(', ')}`, options, host },
    signal,
  )
  for (const { name } of entries) {
    const op = { $case: 'forget', value: { name } } as const
    const removed = await request(attached.dispatch, 'memoryOp', { agent, op }, signal)
    if (!options.has('json')) host.stdout.write(sanitize(`forgot ${removed.name}\n`))
  }
  return options.has('json') ? printJson(host, entries.map(toJsonEntry)) : 0
}

/** Finds the entries of these names and aliases, each entry once. */
async function findNotes(
  dispatch: Dispatch,
  { agent, names }: { agent: string; names: readonly string[] },
  signal: AbortSignal,
): Promise<MemoryEntry[]> {
  const found = new Map<string, MemoryEntry>()
  for (const name of names) {
    const entry = await fetchMemoryEntry(dispatch, { agent, name }, signal).catch(rethrowForget)
    if (entry.kind === MemoryKind.ARCHIVE) throw archivedError(entry)
    found.set(entry.name, entry)
  }
  return [...found.values()]
}

/** Rewords the error, because the daemon was asked to show the entry that is to be forgotten. */
function rethrowForget(reason: unknown): never {
  const { kind, message, hint } = toCrabError(reason)
  throw new CrabError(kind, message.replace(/^Cannot show /, 'Cannot forget '), {
    cause: reason,
    ...(hint && { hint }),
  })
}

function archivedError({ name }: MemoryEntry): CrabError {
  return new CrabError('conflict', `Cannot forget "${name}": it is an archive that a conversation uses`, {
    hint: 'crabtalk conversation delete removes conversations',
  })
}
