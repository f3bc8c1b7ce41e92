import { type Place, turnOf } from './held-conversation.ts'

/** Copies a session up to a line (all of it for 0) into a new one, which becomes its pair's active session. */
export async function forkSession(
  place: Place,
  at: { id: string; upto: number; now: Date },
  signal: AbortSignal,
): Promise<string> {
  await using _turn = await place.leases.take(turnOf(at.id), signal)
  const { header } = await place.storage.read(at.id)
  const fork = { ...header, created_at: at.now.toISOString(), forked_from: at.id }
  return place.storage.copySession(at.id, fork, at.upto)
}

/** Deletes a session for good; a turn that runs on it ends first. */
export async function deleteSession(place: Place, id: string, signal: AbortSignal): Promise<void> {
  await using _turn = await place.leases.take(turnOf(id), signal)
  await place.storage.deleteSession(id)
  place.cache.delete(id)
}
