import type { NewLine, SessionLine } from '../storage/types.ts'
import type { Place } from './held-conversation.ts'
import { turnOf } from './held-conversation.ts'

/** Copies a session up to a line (all of it for 0) into a new one, which becomes its pair's active session. */
export async function forkSession(
  place: Place,
  at: { id: string; upto: number; now: Date },
  signal: AbortSignal,
): Promise<string> {
  await using _turn = await place.leases.take(turnOf(at.id), signal)
  const { header, lines } = await place.storage.read(at.id)
  const copied = lines.filter((line) => at.upto === 0 || line.seq <= at.upto).map(toNewLine)
  const fork = { ...header, created_at: at.now.toISOString(), forked_from: at.id }
  const { id } = await place.storage.createSession(fork, copied)
  return id
}

/** Deletes a session for good; a turn that runs on it ends first. */
export async function deleteSession(place: Place, id: string, signal: AbortSignal): Promise<void> {
  await using _turn = await place.leases.take(turnOf(id), signal)
  await place.storage.deleteSession(id)
  place.cache.delete(id)
}

function toNewLine({ seq: _seq, ts: _ts, ...line }: SessionLine): NewLine {
  return line
}
