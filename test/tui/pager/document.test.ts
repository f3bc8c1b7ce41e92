import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SessionMessage } from '../../../src/core/protocol/crabtalk.generated.ts'
import { Document } from '../../../src/tui/pager/document.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const VIEW = { columns: 80, rows: 24, color: false, details: true }
const call = (callId: string) => ({ callId, name: 'bash', arguments: '{}', server: '' })

/** Questions, answers, and calls followed by their results. */
const MESSAGES = fc
  .array(fc.constantFrom('question', 'answer', 'calls', 'stray'), { maxLength: 20 })
  .map((kinds) =>
    kinds.flatMap((kind, at): SessionMessage[] => {
      if (kind === 'question') return [message({ role: 'user', content: `question ${at}` })]
      if (kind === 'answer') return [message({ role: 'assistant', content: `answer ${at}` })]
      const results = ['a', 'b'].map((toolCallId) =>
        message({ role: 'tool', toolCallId, content: `result ${at} ${toolCallId}` }),
      )
      return kind === 'stray'
        ? results
        : [message({ role: 'assistant', content: '', toolCalls: [call('a'), call('b')] }), ...results]
    }),
  )

test('Document is the same for any division into pages', () => {
  fc.assert(
    fc.property(MESSAGES, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), (messages, sizes) => {
      const whole = new Document(VIEW)
      whole.prepend(messages)
      const paged = new Document(VIEW)
      paged.getLines(0)
      for (let end = messages.length, at = 0; end > 0; at++) {
        const start = Math.max(0, end - sizes[at % sizes.length]!)
        paged.prepend(messages.slice(start, end))
        end = start
      }
      assert.deepEqual(renderPages(paged), renderPages(whole))
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

test('Document.prepend() does not lay out what was there before', () => {
  let reads = 0
  const counted = numbered(200).map((one) => {
    const { content } = one
    return Object.defineProperty(one, 'content', {
      get: () => {
        reads += 1
        return content
      },
    })
  })
  const document = new Document(VIEW)
  document.prepend(counted)
  const [lines, before] = [document.getLines(7), reads]
  for (let page = 0; page < 10; page++) document.prepend(numbered(200))
  assert.equal(reads, before)
  assert.equal(document.getLines(7), lines)
  assert.equal(document.blocks, 2_200)
})

function numbered(count: number): SessionMessage[] {
  return Array.from({ length: count }, (_, at) =>
    message({ role: at % 2 === 0 ? 'user' : 'assistant', content: `message ${at}` }),
  )
}

function message(more: Partial<SessionMessage>): SessionMessage {
  return SessionMessage.fromPartial(more)
}

function renderPages(document: Document): (readonly string[])[] {
  return Array.from({ length: document.blocks }, (_, block) => document.getLines(block))
}
