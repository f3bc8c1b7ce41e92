import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageRow } from '../../src/core/protocol/crabtalk.generated.ts'
import { request } from '../../src/core/protocol/dispatch.ts'
import { sumAll, sumUsage, toUsageCells } from '../../src/core/protocol/usage-table.ts'
import { runSlash } from '../../src/tui/slash/run.ts'
import { startTestDispatch } from '../support/test-dispatch.ts'
import { createSlashChat } from '../tui/slash/slash-chat.ts'

const NEVER = new AbortController().signal

test('usage_report returns tokens with current prices, and only days since the given time', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Hi.'], usage: { input: 100, output: 20 } }))
  await node.ask('hello')
  await node.ask('hello again')
  await node.ask('aside', { options: { side: true } })
  const report = (since: string) => request(node.dispatch, 'usageReport', { since }, NEVER)
  const { rows } = await report('')
  assert.deepEqual(
    rows.map(({ model, agent, turns }) => ({ model, agent, turns })),
    [{ model: 'scripted', agent: 'crab', turns: 2 }],
  )
  assert.deepEqual(await report(new Date(Date.now() + 48 * 3_600_000).toISOString()), { rows: [] })
})

test('the table of usage has bars in proportion, and a total', () => {
  const row = (day: string, costUsd: number | undefined, input = 1000) =>
    UsageRow.create({
      day,
      model: day,
      agent: 'crab',
      cwd: '/a',
      turns: 1,
      input,
      output: 10,
      cacheRead: 500,
      costUsd,
    })
  const rows = [row('2026-03-02', 1), row('2026-03-01', 4), row('2026-03-02', 1)]
  const cells = toUsageCells(sumUsage(rows, 'day'), sumAll('', rows), ({ name }) => name)
  assert.deepEqual(cells, [
    ['2026-03-01', '1', '1k', '50 %', '10', '$4.00', '█'.repeat(20)],
    ['2026-03-02', '2', '2k', '50 %', '20', '$2.00', '█'.repeat(10)],
    ['total', '3', '3k', '50 %', '30', '$6.00', ''],
  ])
  assert.deepEqual(
    sumUsage(rows, 'model').map(({ name }) => name),
    ['2026-03-01', '2026-03-02'],
  )
  const unknown = [...rows, row('2026-03-03', undefined)]
  const [, , last, total] = toUsageCells(sumUsage(unknown, 'day'), sumAll('', unknown), ({ name }) => name)
  assert.deepEqual([last![5], last![6], total![5]], ['unknown', '█'.repeat(10), '>$6.00'])
})

test('/usage shows the table, and reports an unknown part', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Hi.'] }))
  await node.ask('hello')
  const chat = createSlashChat(node.dispatch)
  await runSlash('/usage colour', chat.context, NEVER)
  assert.match(JSON.stringify(chat.blocks()), /Cannot show the usage by colour.*day, model, agent, directory/)
  await runSlash(
    '/usage model',
    { ...chat.context, ports: { ...chat.context.ports, now: () => Date.now() } },
    NEVER,
  )
  const { overlay } = chat.state()
  assert.ok(overlay?.kind === 'page')
  assert.match(overlay.text, /^MODEL +TURNS +INPUT +CACHED +OUTPUT +COST\nscripted +1 /)
})
