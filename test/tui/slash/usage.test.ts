import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { StreamEvent, UsageRow } from '../../../src/core/protocol/crabtalk.generated.ts'
import { streamTurn } from '../../../src/core/protocol/dispatch.ts'
import { runSlash } from '../../../src/tui/slash/run.ts'
import { renderUsageTable } from '../../../src/tui/slash/usage-report.ts'
import { startTestDispatch, type TestDispatch } from '../../support/test-dispatch.ts'
import { createSlashChat, type SlashChat } from './slash-chat.ts'

const NEVER = new AbortController().signal
const USAGE = { input: 40_000, output: 250, cacheRead: 30_000 }

test('/cost shows what the last turns used', async () => {
  await using node = await startTestDispatch([{ parts: ['Hi.'], usage: USAGE }])
  const facts = '{ name = "scripted", context = 200000, input_usd = 3, output_usd = 15 }'
  const provider = `name = "p"\nkind = "openai-compatible"\nbase_url = "${node.server.url}"\nmodels = [${facts}]\n`
  await node.home.write('config.toml', `model = "scripted"\n\n[[providers]]\n${provider}`)
  const chat = await chatAfterTurn(node)
  await runSlash('/cost', chat.context, NEVER)
  const { cost, input, output } = rows(chat)
  assert.match(cost!, /^\$0\.\d\d$/)
  assert.deepEqual([input, output], ['40k · 75 % from the cache', '250'])
})

test('/cost reports an unknown price as unknown', async () => {
  await using node = await startTestDispatch([{ parts: ['Hi.'], usage: { input: 10, output: 2 } }])
  const chat = await chatAfterTurn(node)
  await runSlash('/cost', chat.context, NEVER)
  assert.equal(rows(chat)['cost'], 'unknown: the price of a model is not known')
})

test('/cost and /context have nothing to show before the first turn', async () => {
  await using node = await startTestDispatch([])
  const chat = createSlashChat(node.dispatch)
  await runSlash('/cost', chat.context, NEVER)
  await runSlash('/context', chat.context, NEVER)
  assert.deepEqual(
    chat.blocks().map((block) => block.kind),
    ['notice', 'notice'],
  )
})

test('/context leaves out instruction files that the user has not decided about', async () => {
  await using node = await startTestDispatch(() => ({ parts: ['Hi.'] }))
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-context-'))
  await writeFile(join(folder.path, 'AGENTS.md'), 'Use tabs.')
  const chat = await chatAfterTurn(node)
  const context = { ...chat.context, ports: { ...chat.context.ports, cwd: folder.path } }
  const listed = async () => {
    await runSlash('/context', context, NEVER)
    const block = chat.blocks().findLast(({ kind }) => kind === 'output')
    assert.ok(block?.kind === 'output')
    return (block.rows ?? []).some(([, , what = '']) => what.includes('AGENTS.md'))
  }
  assert.equal(await listed(), false)
  await node.ask('hello', { cwd: folder.path })
  assert.equal(await listed(), true, 'a turn that nobody could be asked about uses them')
})

test('renderUsageTable() shortens the bar, then the names, and then leaves columns out', () => {
  const row = {
    agent: 'crab',
    cwd: '/w',
    turns: 12,
    input: 48_210,
    cacheRead: 30_000,
    output: 1234,
    costUsd: 0.42,
  }
  const rows = [
    UsageRow.fromPartial({ ...row, day: '2026-11-22', model: 'claude-opus-5-5-20261101' }),
    UsageRow.fromPartial({ ...row, day: '2026-11-23', model: 'gpt-5', costUsd: 0.84 }),
  ]
  for (const by of ['day', 'model'] as const) {
    for (let columns = 28; columns <= 200; columns++) {
      const lines = renderUsageTable(rows, by, columns)
      assert.equal(lines.length, 4)
      for (const line of lines) assert.ok(line.length <= columns, `${columns}: ${line}`)
    }
  }
  assert.deepEqual(renderUsageTable(rows, 'day', 100).slice(0, 2), [
    'DAY         TURNS  INPUT  CACHED  OUTPUT  COST',
    '2026-11-22  12     48.2k  62 %    1.23k   $0.42  ██████████',
  ])
  assert.deepEqual(renderUsageTable(rows, 'day', 40), [
    'DAY         TURNS  INPUT  OUTPUT  COST',
    '2026-11-22  12     48.2k  1.23k   $0.42',
    '2026-11-23  12     48.2k  1.23k   $0.84',
    'total       24     96.4k  2.47k   $1.26',
  ])
  assert.deepEqual(renderUsageTable(rows, 'model', 40).slice(0, 3), [
    'MODEL               INPUT  OUTPUT  COST',
    'gpt-5               48.2k  1.23k   $0.84',
    'claude-opus-5-5-2…  48.2k  1.23k   $0.42',
  ])
})

/** Returns a chat that has followed one turn. */
async function chatAfterTurn(node: TestDispatch): Promise<SlashChat> {
  const chat = createSlashChat(node.dispatch)
  const message = { agent: 'crab', sender: 'ann', content: 'hello' }
  for await (const event of streamTurn(node.dispatch, message, NEVER)) {
    chat.context.act({ type: 'stream', event: StreamEvent.create(event) })
  }
  return chat
}

/** Returns the cells printed last, by the first column. */
function rows(chat: SlashChat): Record<string, string> {
  const block = chat.blocks().at(-1)
  assert.ok(block?.kind === 'output')
  return Object.fromEntries((block.rows ?? []).map(([name = '', value = '']) => [name, value]))
}
