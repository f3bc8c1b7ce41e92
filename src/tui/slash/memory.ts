import { toCrabError } from '../../core/base/errors.ts'
import { type MemoryEntry, MemoryKind } from '../../core/protocol/crabtalk.generated.ts'
import { request } from '../../core/protocol/dispatch.ts'
import { newPage } from '../overlays/page.ts'
import type { Overlay, PageOverlay } from '../overlays/types.ts'
import type { ChatEffect } from '../text/effects.ts'
import { printNotice, showOverlay } from './print.ts'
import { startSearch } from './search.ts'
import type { SlashContext } from './types.ts'

/** `/memory [WORDS]`: searches the agent's memory; `show NAME` and `forget NAME` act on one entry. */
export async function showMemory(args: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const [, verb, name = ''] = /^(show|forget)\s+(\S.*)$/s.exec(args) ?? []
  if (verb === undefined) return showOverlay(context, await startSearch('memory', args, context, signal))
  const entry = await readEntry(name, context, signal)
  if (!entry) return unknown(name, context)
  const page = entryPage(entry, context)
  if (verb === 'forget' && !page.action) return refuse(entry, context)
  showOverlay(context, verb === 'forget' ? withPendingForget(page) : page)
}

/** Shows the chosen entry, or forgets it when its key was pressed twice. */
export async function onMemoryChosen(
  { value, key }: Pick<ChatEffect & { type: 'chosen' }, 'value' | 'key'>,
  context: SlashContext,
  signal: AbortSignal,
): Promise<void> {
  if (key === FORGET.key) return forget(value, context, signal)
  const entry = await readEntry(value, context, signal)
  if (!entry) return unknown(value, context)
  showOverlay(context, entryPage(entry, context))
}

const FORGET = { key: 'd', label: 'forget', confirm: 'forget it' }

async function forget(name: string, context: SlashContext, signal: AbortSignal): Promise<void> {
  const { agent, overlay } = context.state()
  const op = { $case: 'forget', value: { name } } as const
  const entry = await request(context.dispatch, 'memoryOp', { agent, op }, signal)
  printNotice(context, 'success', `Forgotten: ${entry.name}`)
  const back = getBack(overlay)
  showOverlay(
    context,
    back?.kind === 'search' ? await startSearch('memory', back.query, context, signal) : undefined,
  )
}

/** Fetches the entry with that name or alias. */
async function readEntry(
  name: string,
  { dispatch, state }: SlashContext,
  signal: AbortSignal,
): Promise<MemoryEntry | undefined> {
  try {
    const { entries } = await request(dispatch, 'listMemory', { agent: state().agent, name }, signal)
    return entries[0]
  } catch (reason) {
    if (toCrabError(reason).kind === 'missing') return undefined
    throw reason
  }
}

function entryPage(entry: MemoryEntry, { state }: SlashContext): PageOverlay {
  const { name, aliases, content, createdAt, kind } = entry
  const isArchive = kind === MemoryKind.ARCHIVE
  const facts = [
    ...(isArchive ? ['summary of a conversation'] : []),
    `since ${createdAt.slice(0, 10)}`,
    ...(aliases.length === 0 ? [] : [`also ${aliases.join(', ')}`]),
  ]
  const page = newPage(name, `${content.trimEnd()}\n\n${facts.join(' · ')}`, getSearch(state().overlay))
  return isArchive ? page : { ...page, action: { picker: 'memory', value: name, keys: [FORGET] } }
}

/** Returns the page in the state after the first press of the key: the next press forgets the entry. */
function withPendingForget(page: PageOverlay): PageOverlay {
  return { ...page, action: page.action && { ...page.action, asked: FORGET.key } }
}

function getSearch(overlay: Overlay | undefined): Overlay | undefined {
  return overlay?.kind === 'search' ? overlay : undefined
}

function getBack(overlay: Overlay | undefined): Overlay | undefined {
  return overlay?.kind === 'page' ? overlay.back : undefined
}

function unknown(name: string, context: SlashContext): void {
  printNotice(
    context,
    'warning',
    `${context.state().agent} has no memory entry called ${name}`,
    `/memory ${name} searches for the words`,
  )
}

function refuse({ name }: MemoryEntry, context: SlashContext): void {
  printNotice(
    context,
    'warning',
    `"${name}" is the summary of a conversation, which needs it: it cannot be forgotten`,
  )
}
