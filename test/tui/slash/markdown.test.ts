import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { conversationMarkdown } from '../../../src/core/protocol/conversation-markdown.ts'
import {
  type DeepPartial,
  SessionInfo,
  SessionMessage,
} from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { propertyRuns } from '../../support/property-runs.ts'

const INFO = { agent: 'crab', sender: 'ann', createdAt: '2026-01-02T03:04:05.678Z', messageCount: 3 }

test('conversationMarkdown() is headed by the title, or by agent and sender', async () => {
  const facts = 'crab · ann · 2026-01-02T03:04:05.678Z · 3 messages'
  assert.deepEqual(await renderParts(INFO), [`# crab with ann\n\n${facts}\n`])
  assert.deepEqual(await renderParts({ ...INFO, title: 'Crabs' }), [`# Crabs\n\n${facts}\n`])
})

/** Messages with the Markdown block of each. */
const MESSAGES: [string, DeepPartial<SessionMessage>, string][] = [
  ['a question', { role: 'user', content: 'Hi' }, '\n## You\n\nHi\n'],
  ['an answer', { role: 'assistant', content: 'Yes.' }, '\n## crab\n\nYes.\n'],
  ['a guest', { role: 'assistant', content: 'No.', agent: 'critic' }, '\n## critic\n\nNo.\n'],
  [
    'an answer that was cut off',
    { role: 'assistant', content: 'Ye', stopReason: 'cancelled' },
    '\n## crab\n\nYe\n\n[cancelled]\n',
  ],
  [
    'calls without words',
    { role: 'assistant', toolCalls: [{ name: 'read', arguments: '{"path":"a"}' }, { name: 'bash' }] },
    '\n## crab\n\n`read({"path":"a"})`\n\n`bash()`\n',
  ],
  [
    'attachments, with and without a name',
    {
      role: 'user',
      content: 'See',
      attachments: [
        { name: 'a.png', mediaType: 'image/png', bytes: 7 },
        { mediaType: 'image/gif', bytes: 8 },
      ],
    },
    '\n## You\n\n[attached: a.png, 7 bytes]\n\n[attached: image/gif, 8 bytes]\n\nSee\n',
  ],
  ['a result', { role: 'tool', name: 'read', content: 'text' }, '\nread:\n\n```\ntext\n```\n'],
  [
    'a failure',
    { role: 'tool', name: 'read', content: 'no', isError: true },
    '\nread failed:\n\n```\nno\n```\n',
  ],
]

test('conversationMarkdown() renders every kind of message', async () => {
  const [, ...blocks] = await renderParts(
    INFO,
    MESSAGES.map(([, message]) => message),
  )
  for (const [at, [what, , expected]] of MESSAGES.entries()) assert.equal(blocks[at], expected, what)
})

test('conversationMarkdown() fences a result so that nothing in it closes the fence', async () => {
  const line = fc.oneof(
    fc.string(),
    fc.integer({ min: 0, max: 9 }).map((count) => '`'.repeat(count)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line), async (lines) => {
      const [, block = ''] = await renderParts(INFO, [{ role: 'tool', name: 't', content: lines.join('\n') }])
      const [fence = '', ...rest] = block.split('\n').slice(3, -1)
      assert.match(fence, /^`{3,}$/)
      assert.equal(
        rest.findIndex((one) => one.includes(fence)),
        rest.length - 1,
      )
    }),
    { numRuns: propertyRuns(1_000) },
  )
})

/** Returns the parts of a conversation as Markdown: its head, and one for each message. */
function renderParts(
  info: DeepPartial<SessionInfo>,
  messages: readonly DeepPartial<SessionMessage>[] = [],
): Promise<string[]> {
  const all = messages.map((message) => SessionMessage.fromPartial(message))
  const dispatch = route({
    getSession: async () => SessionInfo.fromPartial(info),
    listMessages: async ({ offset, limit }) => ({
      messages: all.slice(offset, offset + limit),
      total: all.length,
    }),
  })
  return Array.fromAsync(conversationMarkdown(dispatch, 's', new AbortController().signal))
}
