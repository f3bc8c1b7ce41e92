import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MemoryEntry, MemoryKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../../src/core/protocol/dispatch.ts'
import { readNote } from '../../../src/tui/controller/note-line.ts'
import { type OpenChat, openTestChat } from '../../support/open-chat.ts'

const NEVER = new AbortController().signal

/** Lines with the name and the text of their notes. */
const NOTES: [string, string, string][] = [
  ['#buy milk', 'buy milk', 'buy milk'],
  ['#  the prod db is on db3, port 5433.', 'the prod db is on db3', 'the prod db is on db3, port 5433.'],
  ['#wifi: blue lagoon 42', 'wifi', 'blue lagoon 42'],
  ['#see https://example.com:80/x', 'see https://example.com:80/x', 'see https://example.com:80/x'],
  ['#at 10:30 we meet', 'at 10:30 we meet', 'at 10:30 we meet'],
  [
    '#a name of far too many words to be one: x',
    'a name of far too many',
    'a name of far too many words to be one: x',
  ],
  ['#東京の天気は晴れです', '東京の天気は晴れです', '東京の天気は晴れです'],
  [`#${'漢'.repeat(60)}`, '漢'.repeat(24), '漢'.repeat(60)],
  ['#…', '…', '…'],
]

test('readNote() uses a short name before a colon, or else the first words', () => {
  for (const [line, name, content] of NOTES) {
    const note = readNote(line)
    assert.deepEqual([note.name, note.content], [name, content], line)
  }
})

test('a line after # is remembered, says how to undo it, and is not sent to the model', async () => {
  await using chat = await openTestChat([])
  await note(chat, '#the prod db is on db3, port 5433')
  const [entry] = await entries(chat)
  assert.deepEqual(
    [entry?.name, entry?.content, entry?.kind],
    ['the prod db is on db3', 'the prod db is on db3, port 5433', MemoryKind.NOTE],
  )
  assert.deepEqual(chat.blocks().at(-1), {
    kind: 'notice',
    tone: 'success',
    text: 'Remembered: the prod db is on db3, port 5433',
    hint: 'as "the prod db is on db3" · /memory forget the prod db is on db3 deletes it',
  })
  assert.equal(chat.state().prompt.text, '')
  assert.equal(chat.node.server.requests.length, 0)
})

test('a note never overwrites another: a derived name gets a number, a typed name adds a line', async () => {
  await using chat = await openTestChat([])
  await note(chat, '#we meet on Monday at noon, room 4')
  await note(chat, '#we meet on Monday at noon, room 5')
  await note(chat, '#todo: call Bob')
  await note(chat, '#todo: call Ann')
  await note(chat, '#todo: call Ann')
  assert.deepEqual(
    (await entries(chat)).map(({ name, content }) => [name, content]),
    [
      ['todo', 'call Bob\ncall Ann'],
      ['we meet on Monday at noon', 'we meet on Monday at noon, room 4'],
      ['we meet on Monday at noon 2', 'we meet on Monday at noon, room 5'],
    ],
  )
  assert.match(chat.words().join('\n'), /Added to "todo": call Ann\n.*"todo" already says so$/)
})

test('a note is remembered while a turn runs, and is not a steer', async () => {
  const gate = Promise.withResolvers<void>()
  await using chat = await openTestChat([{ parts: ['One', gate.promise, ' two'] }])
  chat.type('hello')
  chat.press('enter')
  await chat.until(({ open }) => open !== undefined)
  await note(chat, '#buy milk')
  assert.equal(chat.state().steers.length, 0)
  chat.type('#not queued')
  chat.press('tab')
  assert.equal(chat.state().prompt.text, '#not queued')
  gate.resolve()
  await chat.idle()
  assert.equal(chat.node.server.requests.length, 1)
})

test('a # without text remembers nothing, and a heading is sent', async () => {
  await using chat = await openTestChat([{ parts: ['A fine title.'] }])
  chat.type('# ')
  chat.press('enter')
  await chat.until(({ finished }) => finished.length === 1)
  assert.match(chat.words()[0] ?? '', /Cannot save an empty note/)
  chat.type('## Title')
  chat.press('enter')
  await chat.idle()
  assert.deepEqual(chat.words().slice(1), ['user: ## Title', 'answer: A fine title.'])
  assert.deepEqual(await entries(chat), [])
})

async function note(chat: OpenChat, line: string): Promise<void> {
  const before = chat.blocks().length
  chat.type(line)
  chat.press('enter')
  await chat.until(({ finished }) => finished.length > before)
}

async function entries({ node }: OpenChat): Promise<MemoryEntry[]> {
  return (await request(node.dispatch, 'listMemory', { agent: 'crab' }, NEVER)).entries
}
