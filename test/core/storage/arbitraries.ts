import fc from 'fast-check'
import type { NewLine } from '../../../src/core/storage/types.ts'

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
