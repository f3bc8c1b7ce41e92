import assert from 'node:assert/strict'
import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openWindowMemory } from '../../src/commands/chat/window-memory.ts'
import { type ClientMessage, OnAsk } from '../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../src/core/protocol/dispatch.ts'
import type { PendingAsk } from '../../src/core/runtime/asks.ts'
import type { WindowDraft } from '../../src/tui/ports.ts'
import type { Script } from '../support/model-server.ts'
import { chooseDigit, openShownChat, type ShownChat } from '../support/shown-chat.ts'
import { startTestDispatch, type TestDispatch } from '../support/test-dispatch.ts'
import { until } from '../support/until.ts'

const NEVER = new AbortController().signal
const CALL = { call: 'c1', name: 'bash', args: '{"command":"touch ran"}' }

test('two chats and a send on one conversation see each other', async () => {
  await using shared = await open([{ parts: ['One.'] }, { parts: ['Two.'] }, { parts: ['Three.'] }])
  const [left, right] = shared.chats
  left.type('from the left\r')
  await right.see('from the left', 'One.')
  await left.see('One.')
  right.type('from the right\r')
  await left.see('from the left', 'One.', 'from the right', 'Two.')
  await right.see('from the right', 'Two.')
  await shared.node.ask('from a script')
  for (const chat of shared.chats) {
    await chat.see('from the left', 'One.', 'from the right', 'Two.', 'from a script', 'Three.')
    for (const words of [
      '▌ from the left',
      '▌ from the right',
      '▌ from a script',
      'One.',
      'Two.',
      'Three.',
    ]) {
      assert.equal(chat.text().split(words).length, 2, `"${words}" once`)
    }
  }
})

test('a chat that is opened during a turn shows what was said so far, and the rest, once', async () => {
  const gate = Promise.withResolvers<void>()
  await using node = await startTestDispatch([
    { parts: ['Let me look. ', { call: 'c1', name: 'read', args: '{"path":"nothing.txt"}' }] },
    { parts: ['It is ', gate.promise, 'not there.'] },
  ])
  await using first = await openShownChat([], { node })
  first.type('is it there?\r')
  await first.see('It is')
  await using second = await openShownChat([], { node })
  await second.see('is it there?', 'Let me look.', 'read', 'It is')
  gate.resolve()
  for (const chat of [first, second]) {
    await chat.see('is it there?', 'Let me look.', 'It is not there.')
    for (const words of ['▌ is it there?', 'Let me look.', 'It is not there.']) {
      assert.equal(chat.text().split(words).length, 2, `"${words}" once`)
    }
  }
})

test('a chat that is opened again counts from the start of the turn, and takes over what it has not read', async () => {
  await using cache = await mkdtempDisposable(join(tmpdir(), 'crab-'))
  const gate = Promise.withResolvers<void>()
  await using node = await startTestDispatch([
    { parts: ['One', gate.promise, '.'] },
    { parts: ['Two', new Promise<void>(() => {})] },
  ])
  let isKilled = false
  /** The drafts that were stored when one was removed. */
  const left: WindowDraft[] = []
  const reopen = (now: () => number) => {
    const link = { place: 'daemon', instance: 'd', notes: [] } as const
    const stored = openWindowMemory(cache.path)
    const saveDraft = async (draft?: WindowDraft) => {
      if (!isKilled) await stored.saveDraft(draft)
    }
    const removeDraft = async (id: string) => {
      await stored.removeDraft(id)
      left.push(...(await openWindowMemory(cache.path).readDrafts()))
    }
    const memory = { ...stored, saveDraft, removeDraft }
    return openShownChat([], { node, ports: { memory, now, connect: async () => link } })
  }
  {
    await using chat = await reopen(Date.now)
    chat.type('count\r')
    await chat.see('One')
    chat.type('read this\r')
    await chat.see('next: read this')
    gate.resolve()
    await chat.see('▌ read this', 'Two')
    for (const [keys, shown] of WAITING) {
      chat.type(keys)
      await chat.see(shown)
    }
    await until('all is stored', async () => {
      const [draft] = await openWindowMemory(cache.path).readDrafts()
      return draft?.text === 'a draft' && draft.steers?.[0]?.content === 'not this'
    })
    isKilled = true
  }
  await addSentMessage(cache.path, 'count')
  isKilled = false
  await using again = await reopen(() => Date.now() + 3_600_000)
  await again.see('back in the prompt', '▌ read this', 'Two')
  await again.see('60 m 0', 'next: not this', '> queued one', 'queued two', 'a draft')
  assert.doesNotMatch(again.text(), /next: read this|> (not this|count)/)
  await until('the old draft is removed', () => left.length > 0)
  assert.equal(left[0]?.text, 'queued one\nqueued two\na draft')
  again.type('\x1b')
  await again.see('Interrupted', '> not this', 'queued one', 'queued two', 'a draft')
})

/** Adds a message to the stored queue, as if the window had been killed just after it sent it. */
async function addSentMessage(cache: string, text: string): Promise<void> {
  const folder = join(cache, 'chat', 'drafts')
  const [path = ''] = (await readdir(folder)).map((name) => join(folder, name))
  const draft = JSON.parse(await readFile(path, 'utf8')) as WindowDraft
  const queue = [{ text, pasted: [] }, ...(draft.queue ?? [])]
  await writeFile(path, JSON.stringify({ ...draft, queue }))
}

/** The keys that are typed during a turn, and the lines that show them while they wait. */
const WAITING = [
  ['queued one\t', 'then: queued one'],
  ['queued two\t', 'then: queued two'],
  ['not this\r', 'next: not this'],
  ['a draft', '> a draft'],
] as const

test('a turn of another client is steered by Enter and stopped by Esc', async () => {
  const gate = Promise.withResolvers<void>()
  await using shared = await open([
    { parts: ['One', gate.promise] },
    { parts: ['Two', new Promise<void>(() => {})] },
  ])
  const [left, right] = shared.chats
  left.type('count\r')
  await right.see('One')
  right.type('go on\r')
  await right.see('next: go on')
  gate.resolve()
  for (const chat of shared.chats) await chat.see('One', 'go on', 'Two')
  right.type('\x1b')
  for (const chat of shared.chats) await chat.see('Two', 'Interrupted')
  await shared.node.server.requests[1]!.done
})

test('a question that is answered in one chat closes in the other', async () => {
  await using shared = await open([{ parts: [CALL] }, { parts: ['Done.'] }])
  const [left, right] = shared.chats
  left.type('go\r')
  for (const chat of shared.chats) await chat.see('Run a command')
  await chooseDigit(right, '1')
  for (const chat of shared.chats) await chat.see('Done.')
  for (const chat of shared.chats) await chat.gone('Run a command')
  assert.match(left.text(), /Answered in another window, by ann/)
  assert.doesNotMatch(right.text(), /Answered in another window/)
})

test('a question of another conversation is one line in every chat; /asks opens its conversation with the card', async () => {
  await using shared = await open(({ text }) =>
    text.includes('"role":"tool"') ? { parts: ['Done.'] } : { parts: [CALL] },
  )
  const [left, right] = shared.chats
  const answered = shared.node.ask('go', { sender: 'bob', options: { onAsk: OnAsk.PARK } })
  for (const chat of shared.chats) await chat.see('crab asks in "bob": /asks')
  for (const chat of shared.chats) assert.doesNotMatch(chat.text(), /Run a command/)
  left.type('/asks\r')
  await left.see('Pending questions', 'touch ran', 'crab in "bob"', 'crabtalk answer ')
  left.type('\r')
  await left.see('Run a command', 'touch ran')
  await chooseDigit(left, '1')
  await answered
  await right.gone('crab asks in "bob"')
  await left.see('Done.')
})

test('/asks tells questions with the same words apart', async () => {
  await using node = await startTestDispatch(() => ({ parts: [CALL] }))
  const senders = ['bob', 'sh:1', 'sh:2']
  const turns = senders.map((sender) => node.ask('go', { sender, options: { onAsk: OnAsk.PARK } }))
  await until('the questions wait', () => node.services.asks.list('').length === senders.length)
  await using chat = await openShownChat([], { node })
  chat.type('/asks\r')
  await chat.see('Pending questions', 'crabtalk answer')
  const ids = node.services.asks.list('').map(({ ask }) => ask.id.slice(-8))
  const labels = chat.terminal.lines().filter((line) => line.includes('touch ran'))
  assert.equal(new Set(labels.map((line) => line.replace(/^\W+/, ''))).size, 3, labels.join('\n'))
  assert.match(labels.join('\n'), /touch ran · crab in "bob"/)
  assert.equal(ids.filter((id) => labels.some((label) => label.includes(`touch ran · ${id}`))).length, 2)
  for (const { agent, sender } of senders.map((one) => ({ agent: 'crab', sender: one })))
    await request(node.dispatch, 'kill', { agent, sender }, NEVER)
  await Promise.all(turns)
})

test('a pending question is announced when the chat is opened', async () => {
  await using node = await startTestDispatch([{ parts: [CALL] }, { parts: ['Done.'] }])
  const answered = node.ask('go', { sender: 'bob', options: { onAsk: OnAsk.PARK } })
  await until('the question waits', () => node.services.asks.list('').length === 1)
  await using chat = await openShownChat([], { node })
  await chat.see('crab asks in "bob": /asks')
  const [{ ask }] = node.services.asks.list('') as [PendingAsk]
  const content = JSON.stringify({ [ask.questions[0]!.question]: 'Deny' })
  await request(node.dispatch, 'replyToAsk', { agent: 'crab', sender: 'ann', askId: ask.id, content }, NEVER)
  await answered
  await chat.gone('crab asks in "bob"')
})

test('titles and compaction of another window are shown, and /new moves only its own window', async () => {
  await using shared = await open([
    { parts: ['One.'] },
    { parts: ['A summary.'] },
    { parts: ['Two.'] },
    { parts: ['Three.'] },
  ])
  const [left, right] = shared.chats
  left.type('hello\r')
  for (const chat of shared.chats) await chat.see('One.')
  for (const chat of shared.chats) await chat.gone('Esc interrupts') // /compact cannot run during a turn
  left.type('/title Crabs\r')
  await right.see('Crabs')
  left.type('/compact\r')
  await left.see('Compacted')
  await right.see('compacted: a summary replaced')
  for (const chat of shared.chats) await chat.see('· shared')
  left.type('/new\r')
  await left.see('new conversation · another window keeps ann')
  await right.gone('shared')
  left.type('somewhere else\r')
  await left.see('somewhere else', 'Two.')
  right.type('still here\r')
  await right.see('still here', 'Three.')
  assert.doesNotMatch(right.text(), /somewhere else|new conversation/)
  assert.doesNotMatch(left.text(), /still here|replaced the history/)
})

test('a title that another client sets while this chat compacts does not announce a compaction', async () => {
  const titled = Promise.withResolvers<void>()
  const isCompaction = ({ msg }: ClientMessage) => msg?.$case === 'compact'
  await using shared = await open(
    [{ parts: ['One.'] }, { parts: ['A summary.'] }],
    (dispatch) =>
      async function* (message, signal) {
        if (isCompaction(message)) await titled.promise // the compacting client holds the conversation
        yield* dispatch(message, signal)
      },
  )
  const [left, right] = shared.chats
  left.type('hello\r')
  for (const chat of shared.chats) await chat.see('One.')
  for (const chat of shared.chats) await chat.gone('Esc interrupts') // /compact cannot run during a turn
  left.type('/compact\r')
  await left.see('a model writes a summary')
  right.type('/title Crabs\r')
  await right.see('Renamed to "Crabs"')
  titled.resolve()
  await left.see('Compacted')
  await right.see('compacted: a summary replaced')
  left.type('/new\r')
  await left.see('new conversation')
  assert.doesNotMatch(left.text(), /replaced the history/)
})

test('simultaneous messages of two chats are both answered, one after the other', async () => {
  const gate = Promise.withResolvers<void>()
  await using shared = await open(({ json }, at) => ({
    parts: at === 0 ? [gate.promise, 'First.'] : [`Heard ${(json['messages'] as unknown[]).length}.`],
  }))
  const [left, right] = shared.chats
  left.type('from here\r')
  right.type('from there\r')
  await left.see('from here')
  await right.see('from there')
  gate.resolve()
  for (const chat of shared.chats) {
    await chat.see('First.')
    await chat.see('from here')
    await chat.see('from there')
  }
  await until('everything was said', async () => {
    const messages = await stored(shared.node)
    return messages.filter((content) => content.startsWith('from ')).length === 2
  })
})

interface SharedChats extends AsyncDisposable {
  node: TestDispatch
  chats: [ShownChat, ShownChat]
}

/** Opens two chats of (crab, ann), as two windows over one daemon. */
async function open(script: Script, between = (dispatch: Dispatch) => dispatch): Promise<SharedChats> {
  const node = await startTestDispatch(script)
  const openChat = () => openShownChat([], { node, between })
  const chats: [ShownChat, ShownChat] = [await openChat(), await openChat()]
  for (const chat of chats) await chat.see('in process')
  return {
    node,
    chats,
    async [Symbol.asyncDispose]() {
      for (const chat of chats) await chat[Symbol.asyncDispose]()
      await node[Symbol.asyncDispose]()
    },
  }
}

async function stored({ dispatch }: TestDispatch): Promise<string[]> {
  const { conversations } = await request(dispatch, 'listConversations', { sender: 'ann' }, NEVER)
  const session = conversations[0]?.filePath
  if (session === undefined) return []
  const { messages } = await request(dispatch, 'listMessages', { session, offset: 0, limit: 0 }, NEVER)
  return messages.map(({ content }) => content)
}
