import { CrabError } from '../base/errors.ts'
import type { Message } from '../base/message.ts'
import type { Lease, Leases } from '../lease/types.ts'
import type { NewLine, Pair, SessionHeader, SessionMeta } from '../storage/types.ts'
import { ACQUIRE_TIMEOUT_MS, acquireWithin } from './acquire-within.ts'
import {
  type ConversationStores,
  LeasedConversation,
  pairLeaseName,
  turnLeaseName,
} from './leased-conversation.ts'
import type { Journals } from './live/journals.ts'
import type { RunningTurns } from './running-turns.ts'

/** Sessions that last, and what runs on them in this process. */
export interface Sessions {
  place: ConversationStores
  running: RunningTurns
  journals: Pick<Journals, 'changed'>
}

/**
 * Starts an empty session and makes it the pair's active one. Starting anew again and again leaves nothing behind: one
 * that is active and empty is used again, or deleted where it is for another directory.
 */
export async function newSession(
  { place, journals }: Sessions,
  header: SessionHeader,
  signal: AbortSignal,
): Promise<string> {
  const pair: Pair = { agentId: header.agent_id, sender: header.created_by }
  await using _pair = await place.leases.take(pairLeaseName(pair), signal)
  const active = await place.storage.activeSession(pair)
  const unused = active === undefined ? undefined : await unusedIn(place, active)
  if (active !== undefined && unused?.cwd === header.cwd) return active
  const since = await activeSince(place, pair)
  const lines: NewLine[] =
    since < header.created_at ? [] : [{ kind: 'meta', activated_at: behind(since, header.created_at) }]
  const { id } = await place.storage.createSession(header, lines)
  if (active !== undefined && unused) await deleteUnused(place, active, signal)
  journals.changed(pair)
  return id
}

/** Makes a stored session the one its pair continues. Throws as `changeMeta` does. */
export async function activateSession(
  sessions: Sessions,
  { id, now }: { id: string; now: Date },
  signal: AbortSignal,
): Promise<void> {
  const { place } = sessions
  const { header } = await place.storage.read(id)
  const pair: Pair = { agentId: header.agent_id, sender: header.created_by }
  await using _pair = await place.leases.take(pairLeaseName(pair), signal)
  if ((await place.storage.activeSession(pair)) === id) return
  const since = await activeSince(place, pair)
  await changeMeta(sessions, { id, meta: { activated_at: behind(since, now.toISOString()) } }, signal)
}

/**
 * Appends what is known about a session, also while a turn of it runs in this process.
 *
 * Throws `conflict` when something in another process has the right to it for longer than a moment.
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
 * `append_message` of RFC 0185: stores what somebody said, behind the turn that runs; gives its `seq`.
 *
 * Throws `invalid` for calls of tools and their results, which belong to the turn that makes them.
 */
export async function appendMessage(
  { place, journals }: Sessions,
  { id, message }: { id: string; message: Message },
  signal: AbortSignal,
): Promise<number> {
  if (message.role === 'tool' || (message.tool_calls ?? []).length > 0) {
    throw new CrabError('invalid', 'Cannot append the message: calls of tools are stored by their turn')
  }
  const { header } = await place.storage.read(id, place.cache.get(id)?.cursor)
  await using held = await LeasedConversation.open(place, { id, agent: header.agent }, signal)
  await held.append([{ kind: 'entry', ...message }])
  journals.changed({ agentId: header.agent_id, sender: header.created_by })
  return held.lastLine
}

async function appendMeta(
  { place, running }: Sessions,
  { id, meta }: { id: string; meta: SessionMeta },
  signal: AbortSignal,
): Promise<SessionHeader> {
  const line: NewLine = { kind: 'meta', ...meta }
  const held = running.conversationOf(id)
  if (held) {
    await held.append([line])
    return held.header
  }
  await place.storage.read(id, place.cache.get(id)?.cursor) // there may be no such session to wait for
  await using _turn = await takeTurn(place.leases, { session: id, withinMs: ACQUIRE_TIMEOUT_MS }, signal)
  const { cursor, header } = await place.storage.read(id, place.cache.get(id)?.cursor)
  await place.storage.append(id, cursor, [line])
  return header
}

/** Copies a session up to a line (all of it for 0) into a new one, which becomes its pair's active session. */
export async function forkSession(
  sessions: Sessions,
  at: { id: string; upto: number; now: Date },
  signal: AbortSignal,
): Promise<string> {
  const { place } = sessions
  const copy = await copySession(place, at, signal)
  await activateSession(sessions, { id: copy, now: at.now }, signal) // the clock may not have moved on
  return copy
}

/** Deletes a session for good; a turn that runs on it ends first. */
export async function deleteSession(
  place: ConversationStores,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  await using _turn = await place.leases.take(turnLeaseName(id), signal)
  await place.storage.deleteSession(id)
  place.cache.delete(id)
}

async function copySession(
  place: ConversationStores,
  at: { id: string; upto: number; now: Date },
  signal: AbortSignal,
): Promise<string> {
  await using _turn = await place.leases.take(turnLeaseName(at.id), signal)
  const { header } = await place.storage.read(at.id)
  const fork = { ...header, created_at: at.now.toISOString(), forked_from: at.id }
  return await place.storage.copySession(at.id, fork, at.upto)
}

/** The header of a session in which nothing was ever said and that has no title; undefined for any other. */
async function unusedIn({ storage }: ConversationStores, id: string): Promise<SessionHeader | undefined> {
  const { header, lines } = await storage.read(id)
  return lines.every((line) => line.kind === 'meta' && line.title === undefined) ? header : undefined
}

/** Deletes a session unless somebody uses it now, or has since it was looked at. */
async function deleteUnused(place: ConversationStores, id: string, signal: AbortSignal): Promise<void> {
  try {
    await using _turn = await takeTurn(place.leases, { session: id, withinMs: AT_ONCE_MS }, signal)
    if (!(await unusedIn(place, id))) return
    await place.storage.deleteSession(id)
    place.cache.delete(id)
  } catch (reason) {
    if (!(reason instanceof CrabError && ['conflict', 'missing'].includes(reason.kind))) throw reason
  }
}

/** Since when the pair's active session is active; empty when it has none. */
async function activeSince({ storage }: ConversationStores, { agentId, sender }: Pair): Promise<string> {
  const rows = await storage.listSessions({ agentId, sender })
  return rows.reduce((last, row) => (row.activeSince > last ? row.activeSince : last), '')
}

/** Now, or right behind a time that is not over yet: two sessions must never be active since the same moment. */
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
