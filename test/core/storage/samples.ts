import type { NewLine, SessionHeader } from '../../../src/core/storage/types.ts'

/** Returns a header for this pair; always the same agent and sender by default. */
export function makeHeader(over: Partial<SessionHeader> = {}): SessionHeader {
  return {
    v: 1,
    agent: 'crab',
    agent_id: '01J00000000000000000000000',
    created_by: 'user',
    created_at: '2026-01-01T00:00:00.000Z',
    cwd: '/work',
    ...over,
  }
}

/** Returns the line of a message. */
export function toLine(content: string, role: 'user' | 'assistant' = 'user'): NewLine {
  return { kind: 'entry', role, content }
}

/** A clock that advances by a second each time it is read. */
export function tickingClock(start = Date.UTC(2026, 0, 1)): () => number {
  let now = start
  return () => {
    now += 1000
    return now
  }
}
