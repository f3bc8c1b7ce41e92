import { newUlid } from '../base/ids.ts'

/** The environment variable that every program gets, and hands on to what it starts. */
export const OWNER_TAG = 'CRABTALK_OWNER'

/**
 * The process that a program belongs to. A process id says little by itself: another process may have it by now (start
 * time, in clock ticks since boot), and each container counts its own (namespace).
 */
export interface ProcessOwner {
  namespace: string
  pid: number
  startTime: number
}

/** What the marks of an owner begin with. */
export function toTagPrefix({ namespace, pid, startTime }: ProcessOwner): string {
  return `${namespace}.${pid}.${startTime}.`
}

/** A mark that nothing else bears, and that is part of no other. */
export function newOwnerTag(prefix: string): string {
  return `${prefix}${newUlid()}.`
}

/** The owner that a mark names; undefined when somebody else wrote it, or on a system that shows no start times. */
export function parseOwnerTag(mark: string): ProcessOwner | undefined {
  const [, namespace, pid, startTime] = /^([1-9]\d*)\.(\d+)\.(\d+)\./.exec(mark) ?? []
  if (namespace === undefined) return undefined
  return { namespace, pid: Number(pid), startTime: Number(startTime) }
}
