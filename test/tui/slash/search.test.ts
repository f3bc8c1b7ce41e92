import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionHit } from '../../../src/core/protocol/crabtalk.generated.ts'
import { route } from '../../../src/core/protocol/dispatch.ts'
import { pressOverlay } from '../../../src/tui/overlays/overlay.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { key } from '../cards/card-fixtures.ts'
import { createSlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal

test('/search opens with its results, and Enter continues there', async () => {
  const window = [{ seq: 7, role: 'user', snippet: 'a kraken', matches: [2, 8] }]
  const hit = SessionHit.fromPartial({ session: { id: 's1', title: 'At sea' }, seq: 7, window })
  const chat = createSlashChat(route({ searchSessions: async () => ({ hits: [hit], partial: false }) }))
  await runSlash('/search kraken dock', chat.context, NEVER)
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'search')
  assert.deepEqual(
    [overlay.scope, overlay.query, overlay.results.items.length],
    ['conversations', 'kraken dock', 1],
  )
  const { state, effects } = pressOverlay(overlay, key('enter'), { columns: 80, rows: 24 })
  assert.equal(state, undefined)
  const [effect] = effects
  assert.ok(effect?.type === 'chosen')
  await onChosen(effect, chat.context, NEVER)
  assert.deepEqual(chat.done, ['open s1'])
  assert.equal(chat.state().hint, 'Ctrl+O, then /kraken, shows the match')
})

test('/search opens its results while a turn runs, too', async () => {
  const chat = createSlashChat(route({}))
  chat.context.act({ type: 'message-sent', text: 'hi', files: [], now: 0 })
  await onChosen({ type: 'chosen', picker: 'session', value: 's1' }, chat.context, NEVER)
  assert.deepEqual(chat.done, ['open s1'])
})
