import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AskKind } from '../../../src/core/protocol/crabtalk.generated.ts'
import { type Dispatch, request } from '../../../src/core/protocol/dispatch.ts'
import type { Panel } from '../../../src/tui/overlays/types.ts'
import { agentsPanel } from '../../../src/tui/slash/agents-panel.ts'
import { onChosen, runSlash } from '../../../src/tui/slash/run.ts'
import { NO_MEMORY } from '../../support/chat-ports.ts'
import { startTestDispatch } from '../../support/test-dispatch.ts'
import { until } from '../../support/until.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const CONTEXT = { session: 'here', now: NOW, abbreviate: (path: string) => path.replace('/home/ann', '~') }
const ACTIVE = {
  ...{ agent: 'crab', messageCount: 2, aliveSecs: 12, title: '', detached: true, asks: 0 },
  ...{ cwd: '/home/ann/web', preview: 'fix the build', activity: 'running bash', runId: 'r' },
}
const NOTHING = { active: [], asks: [], ended: [], moreEnded: 0, agents: [] }

test('agentsPanel() lists those that ask, then those that run, then those that ended, then the agents', () => {
  const asks = [
    {
      ...{ agent: 'crab', sender: 'sh:2', session: 's2', runId: 'r2' },
      openedAt: new Date(NOW - 120_000).toISOString(),
      ask: { askId: 'a', kind: AskKind.QUESTION, questions: [], permission: undefined },
    },
  ]
  const info = {
    ...{ agent: 'owl', sender: 'sh:3', title: 'Docs', filePath: 's3', cwd: '/home/ann/docs', preview: '' },
    ...{ seq: 1, messageCount: 2, aliveSecs: 1, date: '', createdAt: '', agentId: 'a' },
    ...{ updatedAt: new Date(NOW - 3_600_000).toISOString(), windows: 0, running: false, asks: 0 },
  }
  const panel = agentsPanel(
    {
      active: [
        { ...ACTIVE, sender: 'sh:1', session: 'here' },
        { ...ACTIVE, sender: 'sh:2', session: 's2' },
        { ...ACTIVE, sender: 'sh:9', session: 'unsaved', cwd: '' },
      ],
      asks,
      ended: [{ info, lastLine: 'Done.' }],
      moreEnded: 2,
      agents: [{ name: 'crab', description: 'the default', model: 'opus' } as never],
    },
    CONTEXT,
  )
  assert.equal(panel.title, 'Agents: 1 asking · 1 running · 3 ended since you looked')
  assert.deepEqual(
    panel.rows.map(({ cells }) => cells),
    [
      ['asks  2m', 'fix the build', 'crab', '~/web', ''],
      ['runs 12s', 'fix the build (this window)', 'crab', '~/web', 'running bash'],
      ['ended  1h', 'Docs', 'owl', '~/docs', 'Done.'],
      ['ended', '2 more: /resume lists them', '', '', ''],
      ['start', 'a conversation with crab', 'crab', '', 'the default · opus'],
    ],
  )
})

test('agentsPanel() keeps the selected row and a half-confirmed key, unless the row is gone', () => {
  const rows = (...sessions: string[]) => ({
    ...NOTHING,
    active: sessions.map((session) => ({ ...ACTIVE, session, sender: `sh:${session}` })),
  })
  const before: Panel = { ...agentsPanel(rows('a', 'b'), CONTEXT), selected: 1, asked: 'x' }
  const moved = agentsPanel(rows('b'), CONTEXT, before)
  assert.deepEqual([moved.selected, moved.asked], [0, 'x'])
  const gone = agentsPanel(rows('a'), CONTEXT, before)
  assert.deepEqual([gone.selected, gone.asked], [0, undefined])
})

test('/agents shows a running turn live, ends it with x, and opens or starts conversations', async () => {
  await using node = await startTestDispatch([{ parts: ['Looking'], end: 'hang' }])
  await request(node.dispatch, 'createAgent', { name: 'owl' }, NEVER)
  const chat = createSlashChat(node.dispatch)
  const turn = node.ask('count the files', { sender: 'sh:far', cwd: node.home.paths.home })
  await until('it runs', () => node.services.running.list().length === 1)
  await runSlash('/agents', chat.context, NEVER)
  await until('its text is shown', () => rowsOf(chat)[0]?.includes('Looking') === true)
  const [running = ''] = panelOf(chat)!.rows.map(({ value }) => value)
  assert.deepEqual(
    panelOf(chat)!.rows.map(({ cells }) => cells[1]),
    ['count the files', 'a conversation with crab', 'a conversation with owl'],
  )
  await choose(chat, running, 'x')
  await turn
  await until('the view shows that it ended', () => /^ended .* count the files/.test(rowsOf(chat)[0] ?? ''))
  assert.equal(panelOf(chat)?.note, 'The turn was interrupted')
  await choose(chat, running, 'x')
  assert.equal(panelOf(chat)?.note, 'No turn is running there')
  await choose(chat, running, 'o')
  assert.equal(panelOf(chat), undefined)
  await runSlash('/agents', chat.context, NEVER)
  await choose(chat, 'agent\nowl', 'n')
  await runSlash('/agents owl', chat.context, NEVER)
  await runSlash('/agents ghost', chat.context, NEVER)
  assert.deepEqual(chat.done, [`open ${running.split('\n')[2]}`, 'anew owl', 'agent owl'])
  assert.match(JSON.stringify(chat.blocks()), /No agent is named \\"ghost\\"/)
})

test('/agents lists a conversation of a window that ended since the user looked, with its last line', async () => {
  await using node = await startTestDispatch([{ parts: ['First line\nAll 12 tests pass.'] }])
  await node.ask('run the tests', { sender: 'sh:1', cwd: node.home.paths.home })
  const { conversations } = await request(node.dispatch, 'listConversations', { sender: 'sh:1' }, NEVER)
  const chat = createSlashChat(node.dispatch)
  const [{ filePath = '' } = {}] = conversations
  const looked = new Map([[filePath, 1]])
  const memory = { ...NO_MEMORY, readLookedAt: async () => looked }
  const context = { ...chat.context, ports: { ...chat.context.ports, memory } }
  await runSlash('/agents', context, NEVER)
  const [row = ''] = rowsOf(chat)
  assert.match(row, /^ended .* run the tests crab .* All 12 tests pass\.$/)
  looked.set(filePath, Date.now() + 1_000)
  context.act({ type: 'set', change: { overlay: undefined } })
  await runSlash('/agents', context, NEVER)
  assert.equal(
    rowsOf(chat).some((one) => one.includes('run the tests')),
    false,
  )
})

test('/agents lists what ended unseen since it was opened last, at most a day ago, and reads it rarely', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Backed up.'] }))
  for (const sender of ['cron:night', 'script']) await node.ask('back up', { sender })
  let [lists, looks] = [0, 0]
  const dispatch: Dispatch = (message, signal) => {
    if (message.msg?.$case === 'listConversations') lists++
    if (message.msg?.$case === 'listActiveConversations') looks++
    return node.dispatch(message, signal)
  }
  const chat = createSlashChat(dispatch)
  let now = Date.now()
  const looked = new Map<string, number>()
  const memory = {
    ...NO_MEMORY,
    readLookedAt: async () => new Map(looked),
    markLookedAt: async (name: string) => void looked.set(name, now),
  }
  const ports = { ...chat.context.ports, memory, now: () => now }
  const context = { ...chat.context, ports }
  const listEnded = async () => {
    context.act({ type: 'set', change: { overlay: undefined } })
    await runSlash('/agents', context, NEVER)
    return rowsOf(chat).filter((row) => row.startsWith('ended '))
  }
  now += 25 * 3_600_000
  assert.deepEqual(await listEnded(), [])
  looked.clear()
  now = Date.now()
  const ended = await listEnded()
  assert.equal(ended.length, 2)
  assert.match(ended[0]!, /^ended .* back up crab .*Backed up\.$/)
  now += 1_000
  assert.deepEqual(await listEnded(), [])
  const before = looks
  await until('the view was read again', () => looks >= before + 2)
  assert.equal(lists, 3)
})

async function choose(chat: SlashChat, value: string, key: string): Promise<void> {
  await onChosen({ type: 'chosen', picker: 'agents', value, key }, chat.context, NEVER)
}

function panelOf(chat: SlashChat): Panel | undefined {
  const { overlay } = chat.state()
  return overlay?.kind === 'panel' ? overlay : undefined
}

function rowsOf(chat: SlashChat): string[] {
  return (panelOf(chat)?.rows ?? []).map(({ cells }) => cells.filter((cell) => cell !== '').join(' '))
}
