import fc from 'fast-check'
import type { NewLine, SessionHeader } from '../../../src/core/storage/types.ts'

/** A header of this pair; one agent and one sender unless told otherwise. */
export function headerOf(over: Partial<SessionHeader> = {}): SessionHeader {
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

export function said(content: string, role: 'user' | 'assistant' = 'user'): NewLine {
  return { kind: 'entry', role, content }
}

/** A clock that is a second later each time it is read. */
export function tickingClock(start = Date.UTC(2026, 0, 1)): () => number {
  let now = start
  return () => {
    now += 1000
    return now
  }
}

const text = fc.string({ unit: 'binary', maxLength: 40 })
const json = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })

/** Any line a caller may append. */
export const newLine: fc.Arbitrary<NewLine> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('entry' as const),
      role: fc.constantFrom('user' as const, 'assistant' as const),
      content: text,
      reasoning: fc.array(fc.record({ text, meta: json }), { maxLength: 2 }),
      tool_calls: fc.array(fc.record({ id: text, name: text, arguments: text }), { maxLength: 2 }),
      agent: text,
      stop_reason: fc.constantFrom('cancelled' as const, 'length' as const, 'failed' as const),
    },
    { requiredKeys: ['kind', 'role', 'content'] },
  ),
  fc.record(
    {
      kind: fc.constant('entry' as const),
      role: fc.constant('tool' as const),
      content: text,
      tool_call_id: text,
      is_error: fc.boolean(),
    },
    { requiredKeys: ['kind', 'role', 'content', 'tool_call_id'] },
  ),
  fc.record({
    kind: fc.constant('event' as const),
    event: fc.constant('tool_result' as const),
    call_id: text,
    duration_ms: fc.nat(),
    is_error: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('compact' as const), archive_name: text, archived_at: text, title: text }),
  fc.record({ kind: fc.constant('meta' as const), title: text, summary: text }, { requiredKeys: ['kind'] }),
)
