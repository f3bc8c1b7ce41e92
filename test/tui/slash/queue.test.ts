import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpTraceEvent } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/queue moves, drops and edits queued messages, and leaves alone what was sent meanwhile', async () => {
  const chat = createSlashChat(route({}))
  await runSlash('/queue', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /No queued messages/)
  chat.context.act({ type: 'queue-changed', queue: ['a', 'b\nb', 'c'] })
  await runSlash('/queue', chat.context, NEVER)
  await press(chat, 2, 'u')
  assert.deepEqual([chat.state().queue, panel(chat).selected], [['a', 'c', 'b\nb'], 1])
  await press(chat, 0, 'n')
  assert.deepEqual(chat.state().queue, ['c', 'a', 'b\nb'])
  await press(chat, 1, 'd')
  assert.deepEqual(chat.state().queue, ['c', 'b\nb'])
  const gone = panel(chat).rows[0]!.value
  chat.context.act({ type: 'queue-changed', queue: ['b\nb'] })
  await onChosen({ type: 'chosen', picker: 'queue', value: gone, key: 'd' }, chat.context, NEVER)
  assert.deepEqual([chat.state().queue, panel(chat).note], [['b\nb'], 'This message was already sent'])
  await press(chat, 0, 'e')
  assert.deepEqual(
    [chat.state().queue, chat.state().prompt.text, chat.state().overlay],
    [[], 'b\nb', undefined],
  )
})

test('/events shows subscriptions and published events', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/events', chat.context, NEVER)
  assert.match(JSON.stringify(chat.state().overlay), /No subscriptions.*only a daemon records/)
})

test('/trace shows messages of servers until its page is closed', async () => {
  const sent = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const dispatch = route({
    async *mcpTrace(message, signal) {
      assert.equal(message.name, 'fs')
      const frame = { ts: new Date(0).toISOString(), method: 'tools/call', id: '7', payload: '{"a":1}' }
      yield McpTraceEvent.create({ ...frame, outgoing: true })
      sent.resolve()
      signal.addEventListener('abort', () => ended.resolve())
      await ended.promise
    },
  })
  const chat = createSlashChat(dispatch)
  await runSlash('/trace fs', chat.context, NEVER)
  await sent.promise
  await new Promise(setImmediate)
  assert.match(JSON.stringify(chat.state().overlay), /→ {2}tools\/call {2}#7 {2}\{\\"a\\":1\}/)
  chat.context.act({ type: 'set', change: { overlay: undefined } })
  await ended.promise
})

function press(chat: SlashChat, row: number, key: string): Promise<void> {
  const { value } = panel(chat).rows[row]!
  return onChosen({ type: 'chosen', picker: 'queue', value, key }, chat.context, NEVER)
}

function panel(chat: SlashChat) {
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'panel')
  return overlay
}
