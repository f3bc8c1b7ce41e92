import { newUlid } from '../base/ids.ts'

/** The environment variable that every program gets and passes on to its children. */
export const OWNER_TAG = 'CRABTALK_OWNER'

/**
 * The process that a program belongs to. A process id alone is ambiguous: another process may have it by now
 * (hence the start time, in clock ticks since boot), and each container counts its own (hence the namespace).
 */
export interface ProcessOwner {
  namespace: string
  pid: number
  startTime: number
}

/** Returns the prefix of all owner tags of an owner. */
export function toTagPrefix({ namespace, pid, startTime }: ProcessOwner): string {
  return `${namespace}.${pid}.${startTime}.`
}

/** Returns a unique owner tag that is not a substring of another one. */
export function newOwnerTag(prefix: string): string {
  return `${prefix}${newUlid()}.`
}

/**
 * Parses the owner from a tag; undefined when another program wrote it, or on a system that does not show
 * start times.
 */
export function parseOwnerTag(ownerTag: string): ProcessOwner | undefined {
  const [, namespace, pid, startTime] = /^([1-9]\d*)\.(\d+)\.(\d+)\./.exec(ownerTag) ?? []
  if (namespace === undefined) return undefined
  return { namespace, pid: Number(pid), startTime: Number(startTime) }
}
