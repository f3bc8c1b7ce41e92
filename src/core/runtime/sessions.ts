import { isDeepStrictEqual } from 'node:util'
import { CrabError } from '../base/errors.ts'
import type { Message } from '../base/message.ts'
import type { Lease, Leases } from '../lease/types.ts'
import type { NewLine, Pair, SessionHeader, SessionLine, SessionMeta } from '../storage/types.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import { findConversationModel, toModelLine } from './conversation-model.ts'
import {
  type ConversationStores,
  LeasedConversation,
  pairLeaseName,
  turnLeaseName,
} from './leased-conversation.ts'
import type { Journals } from './live/journals.ts'
import type { RunningTurns } from './running-turns.ts'

/** The stored sessions, and the work on them in this process. */
export interface Sessions {
  stores: ConversationStores
  running: RunningTurns
  journals: Pick<Journals, 'changed'>
}

/**
 * Creates an empty session and makes it the pair's active one, leaving no unused sessions behind: an active
 * session that is empty is reused, or deleted when it is for another directory.
 */
export async function newSession(
  { stores, journals }: Sessions,
  header: SessionHeader,
  signal: AbortSignal,
): Promise<string> {
  const pair: Pair = { agentId: header.agent_id, sender: header.created_by }
  await using _pair = await stores.leases.take(pairLeaseName(pair), signal)
  const active = await stores.storage.activeSession(pair)
  const unused = active === undefined ? undefined : await unusedIn(stores, active)
  if (active !== undefined && unused?.cwd === header.cwd && !unused.hasModel) return active
  const since = await activeSince(stores, pair)
  const lines: NewLine[] =
    since < header.created_at ? [] : [{ kind: 'meta', activated_at: behind(since, header.created_at) }]
  const { id } = await stores.storage.createSession(header, lines)
  if (active !== undefined && unused) await deleteUnused(stores, active, signal)
  journals.changed(pair)
  return id
}

/** Makes a stored session the active one of its pair. Throws as `changeMeta` does. */
export async function activateSession(
  sessions: Sessions,
  { id, now }: { id: string; now: Date },
  signal: AbortSignal,
): Promise<void> {
  const { stores } = sessions
  const { header } = await stores.storage.read(id)
  const pair: Pair = { agentId: header.agent_id, sender: header.created_by }
  await using _pair = await stores.leases.take(pairLeaseName(pair), signal)
  if ((await stores.storage.activeSession(pair)) === id) return
  const since = await activeSince(stores, pair)
  await changeMeta(sessions, { id, meta: { activated_at: behind(since, now.toISOString()) } }, signal)
}

/**
 * Appends metadata to a session, even while a turn of it runs in this process.
 *
 * Throws `conflict` when another process holds the session's lease for longer than `ACQUIRE_TIMEOUT_MS`.
 */
export async function changeMeta(
  sessions: Sessions,
  { id, meta }: { id: string; meta: SessionMeta },
  signal: AbortSignal,
): Promise<void> {
  const { agent_id: agentId, created_by: sender } = await appendMeta(sessions, { id, meta }, signal)
  sessions.journals.changed({ agentId, sender })
}

/**
 * Appends a message to a session after any running turn, and returns its `seq` (ADR 0127, `append_message`).
 *
 * Throws `invalid` for tool calls and tool results, which only their own turn may store.
 */
export async function appendMessage(
  { stores, journals }: Sessions,
  { id, message }: { id: string; message: Message },
  signal: AbortSignal,
): Promise<number> {
  if (message.role === 'tool' || (message.tool_calls ?? []).length > 0) {
    throw new CrabError('invalid', 'Cannot append the message: only a turn can store tool calls')
  }
  const { header } = await stores.storage.read(id, stores.cache.get(id)?.cursor)
  await using conversation = await LeasedConversation.open(stores, { id, agent: header.agent }, signal)
  await conversation.append([{ kind: 'entry', ...message }])
  journals.changed({ agentId: header.agent_id, sender: header.created_by })
  return conversation.lastLine
}

async function appendMeta(
  { stores, running }: Sessions,
  { id, meta }: { id: string; meta: SessionMeta },
  signal: AbortSignal,
): Promise<SessionHeader> {
  const line: NewLine = { kind: 'meta', ...meta }
  const conversation = running.findConversation(id)
  if (conversation) {
    await conversation.append([line])
    return conversation.header
  }
  await stores.storage.read(id, stores.cache.get(id)?.cursor) // fails early when the session does not exist
  await using _turn = await takeTurn(stores.leases, { session: id, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
  const { cursor, header } = await stores.storage.read(id, stores.cache.get(id)?.cursor)
  await stores.storage.append(id, cursor, [line])
  return header
}

/**
 * Copies a session up to a line into a new one, which becomes the active session of its
 * pair, or of the pair with another sender.
 */
export async function forkSession(sessions: Sessions, at: ForkPoint, signal: AbortSignal): Promise<string> {
  const { stores } = sessions
  const copy = await copySession(stores, at, signal)
  // The copy may have the same timestamp as the active session.
  await activateSession(sessions, { id: copy, now: at.now }, signal)
  return copy
}

/** The content and the sender of a copy of a session. */
export interface ForkPoint {
  id: string
  /** The last line to copy; 0 for none, Infinity for all. */
  upto: number
  now: Date
  /** The sender of the copy; by default that of the session. */
  sender?: string
}

/** Deletes a session permanently, after a running turn on it has ended. */
export async function deleteSession(
  stores: ConversationStores,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await using _turn = await stores.leases.take(turnLeaseName(id), signal)
  await stores.storage.deleteSession(id)
  stores.cache.delete(id)
}

async function copySession(stores: ConversationStores, at: ForkPoint, signal: AbortSignal): Promise<string> {
  await using _turn = await stores.leases.take(turnLeaseName(at.id), signal)
  const { header, lines } = await stores.storage.read(at.id)
  const { id: from, sender = header.created_by } = at
  const fork = { ...header, created_by: sender, created_at: at.now.toISOString(), forked_from: from }
  const copy = await stores.storage.copySession(at.id, fork, at.upto)
  if (at.upto < Number.POSITIVE_INFINITY) await keepModel(stores.storage, { lines, copy })
  return copy
}

/** Gives the copy of the beginning of a session the model that is chosen at its end. */
async function keepModel(
  storage: ConversationStores['storage'],
  { lines, copy }: { lines: readonly SessionLine[]; copy: string },
): Promise<void> {
  const { lines: copied, cursor } = await storage.read(copy)
  const chosen = findConversationModel(lines)
  if (isDeepStrictEqual(chosen, findConversationModel(copied))) return
  await storage.append(copy, cursor, [toModelLine(chosen)])
}

/**
 * Returns facts about a session that has no messages and no title; undefined for any other. `hasModel`: a model
 * was chosen for it, which a new conversation must not take over.
 */
async function unusedIn(
  { storage }: ConversationStores,
  id: string,
): Promise<{ cwd: string; hasModel: boolean } | undefined> {
  const { header, lines } = await storage.read(id)
  const isUnused = lines.every((line) => line.kind === 'meta' && line.title === undefined)
  const hasModel = Object.keys(findConversationModel(lines)).length > 0
  return isUnused ? { cwd: header.cwd, hasModel } : undefined
}

/** Deletes a session unless it is in use, or was used since it was checked. */
async function deleteUnused(stores: ConversationStores, id: string, signal: AbortSignal): Promise<void> {
  try {
    await using _turn = await takeTurn(stores.leases, { session: id, withinMs: AT_ONCE_MS }, signal)
    if (!(await unusedIn(stores, id))) return
    await stores.storage.deleteSession(id)
    stores.cache.delete(id)
  } catch (reason) {
    if (!(reason instanceof CrabError && ['conflict', 'missing'].includes(reason.kind))) throw reason
  }
}

/** Returns the time since when the pair's active session is active; empty when it has none. */
async function activeSince({ storage }: ConversationStores, { agentId, sender }: Pair): Promise<string> {
  const rows = await storage.listSessions({ agentId, sender })
  return rows.reduce((last, row) => (row.activeSince > last ? row.activeSince : last), '')
}

/**
 * Returns `now`, or one millisecond after `since` where that is later: no two sessions may be active since
 * the same moment.
 */
function behind(since: string, now: string): string {
  return since < now ? now : new Date(Date.parse(since) + 1).toISOString()
}

function takeTurn(
  leases: Leases,
  { session, withinMs }: { session: string; withinMs: number },
  signal: AbortSignal,
): Promise<Lease> {
  const take = (either: AbortSignal) => leases.take(turnLeaseName(session), either)
  return acquireWithin(take, { what: 'Cannot change the conversation', withinMs }, signal)
}

const AT_ONCE_MS = 100
