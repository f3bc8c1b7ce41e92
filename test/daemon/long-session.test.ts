import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompactionState } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import type { RecordedRequest, Reply } from '../support/model-server.ts'
import { startTestDispatch, systemPrompt } from '../support/test-dispatch.ts'

const NEVER = new AbortController().signal
const AUTO = { options: { compactAt: 0.85 } }
const WINDOW = 6_000
/** The number of messages that a person sends in an hour of work. */
const MESSAGES = 90

test('an hour of messages fills the context several times, and everything you said is found', async () => {
  let largest = 0
  await using node = await startTestDispatch((given) => {
    const input = Math.ceil(given.text.length / 4)
    if (!isSummary(given)) largest = Math.max(largest, input)
    return answer(given, input)
  })
  const provider = `name = "small"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"`
  const models = `models = [{ name = "scripted", context = ${WINDOW} }]`
  await node.home.write('config.toml', `model = "scripted"\n[[providers]]\n${provider}\n${models}\n`)
  let compactions = 0
  for (let at = 0; at < MESSAGES; at++) {
    const events = await node.ask(toMessage(at), AUTO)
    const end = events.at(-1)
    assert.equal(end?.$case === 'end' && end.value.error, '')
    compactions += events.filter(
      (event) => event.$case === 'compaction' && event.value.state === CompactionState.DONE,
    ).length
  }
  assert.ok(compactions >= 3, `${compactions} compactions`)
  assert.ok(largest < WINDOW, `a request of ${largest} tokens`)
  const { conversations } = await request(node.dispatch, 'listConversations', {}, NEVER)
  const session = conversations[0]!.filePath
  for (let at = 0; at < MESSAGES; at++) {
    const { hits } = await request(
      node.dispatch,
      'searchSessions',
      { query: toWord(at), agent: 'crab' },
      NEVER,
    )
    assert.equal(hits[0]?.session?.id, session, toWord(at))
  }
  const { total } = await request(node.dispatch, 'listMessages', { session, limit: 1 }, NEVER)
  assert.equal(total, 2 * MESSAGES)
  assert.ok(node.server.requests.at(-1)!.text.includes(toWord(MESSAGES - 1)))
})

function answer(given: RecordedRequest, input: number): Reply {
  if (isSummary(given)) return { parts: ['They talk about crabs.'], usage: { input, output: 10 } }
  const parts = [`Done. ${'It took a while, and it works now. '.repeat(30)}`]
  return { parts, usage: { input, output: 270 } }
}

function isSummary({ json }: RecordedRequest): boolean {
  return systemPrompt(json).includes('You compress the conversation')
}

function toMessage(at: number): string {
  return `Please look at ${toWord(at)} and tell me what is wrong with it.`
}

/** Returns a word that no other message has. */
function toWord(at: number): string {
  return `part${String(at).padStart(3, '0')}x`
}
