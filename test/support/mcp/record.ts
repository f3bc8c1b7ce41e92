import { appendFileSync, readFileSync } from 'node:fs'
import type { Message } from './message.ts'

/**
 * A record of what reached a server: a message, a line that is not a message, or a lifecycle event (`eof`, or
 * the name of a signal).
 */
export interface Received {
  pid: number
  message?: Message
  text?: string
  event?: string
}

export type Recorder = (what: Omit<Received, 'pid'>) => void

/** Creates a recorder that appends a line of JSON for each event, on disk before the server acts on it. */
export function openRecorder(file: string | undefined): Recorder {
  if (file === undefined) return () => {}
  return (what) => appendFileSync(file, `${JSON.stringify({ pid: process.pid, ...what })}\n`)
}

/** Appends a line for a start to a file and returns its number, from 1. */
export function countStart(file: string | undefined): number {
  if (file === undefined) return 1
  appendFileSync(file, `${process.pid}\n`)
  return pidsIn(file).length
}

/** Reads the pids of a file of starts, in order; empty when it does not exist yet. */
export function pidsIn(file: string): number[] {
  return linesOf(file).map(Number)
}

/** Reads a record, in order; empty when it does not exist yet. */
export function receivedIn(file: string): Received[] {
  return linesOf(file).map((line) => JSON.parse(line) as Received)
}

/** Reads complete lines only, because a server may be writing the last one. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw reason
  }
}
