import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import width from 'string-width'
import { truncateAnsi, wrapAnsi } from '../../../../src/commands/up/view/ansi.ts'
import { type LogStyle, logLine } from '../../../../src/commands/up/view/log-lines.ts'
import { psJson, psLines } from '../../../../src/commands/up/view/ps-lines.ts'
import { parseLogEntry } from '../../../../src/up/logs/entry.ts'
import type { ServiceRow } from '../../../../src/up/ps/gather.ts'

const NOW = new Date(2026, 0, 2, 12, 0, 0).getTime()
const STYLE: LogStyle = { isJson: false, isPretty: true, color: false, isNamed: false, now: NOW }
const AT = { service: 'daemon', source: 'log', about: NOW - 1000 } as const
const time = new Date(2026, 0, 2, 9, 5, 3).toISOString()

test('logLine() prints time, level, message and fields on a terminal, without control characters', () => {
  const raw = JSON.stringify({ time, level: 'warn', pid: 3, message: 'a\u001b[2Jb\nc', file: 'x y', n: 1 })
  assert.equal(logLine(parseLogEntry(raw, AT), STYLE), '09:05:03 warn  ab ⏎ c file="x y" n=1')
  const named = { ...STYLE, isNamed: true, now: NOW + 86_400_000 }
  assert.equal(
    logLine(parseLogEntry(raw, AT), named),
    'daemon 2026-01-02 09:05:03 warn  ab ⏎ c file="x y" n=1',
  )
  assert.equal(logLine(parseLogEntry('boom', { ...AT, source: 'crash' }), STYLE), '11:59:59 crash boom')
  const colored = logLine(parseLogEntry(raw, AT), { ...STYLE, color: true })
  assert.equal(stripVTControlCharacters(colored), '09:05:03 warn  ab ⏎ c file="x y" n=1')
})

test('logLine() prints a line unchanged in a pipe, and an object for programs', () => {
  const raw = JSON.stringify({ time, level: 'info', message: 'm', n: 1 })
  const plain = { ...STYLE, isPretty: false }
  assert.equal(logLine(parseLogEntry(raw, AT), plain), raw)
  assert.equal(logLine(parseLogEntry(raw, AT), { ...plain, isNamed: true }), `daemon: ${raw}`)
  assert.deepEqual(JSON.parse(logLine(parseLogEntry(raw, AT), { ...STYLE, isJson: true })), {
    ...{ service: 'daemon', source: 'log', time, level: 'info', message: 'm', fields: { n: 1 } },
  })
})

test('logLine() converts a text line of the journal to an object in a pipe', () => {
  const entry = parseLogEntry('Started it.', { ...AT, source: 'journal' })
  const line = JSON.parse(logLine(entry, { ...STYLE, isPretty: false })) as {
    message: string
    source: string
  }
  assert.deepEqual([line.message, line.source], ['Started it.', 'journal'])
})

test('truncateAnsi() and wrapAnsi() keep to a width, and keep colors complete', () => {
  const line = '\u001b[32mgrün 漢字\u001b[39m and more'
  for (let columns = 1; columns < 30; columns += 1) {
    const cut = truncateAnsi(line, columns, width)
    assert.ok(width(cut) <= columns, `${columns}: ${cut}`)
    assert.ok(cut.includes('\u001b[32m') && cut.includes('\u001b[39m'), cut)
  }
  assert.equal(truncateAnsi(line, 40, width), line)
  assert.deepEqual(wrapAnsi('one two three', 8, width), ['one two', '    three'])
  assert.deepEqual(wrapAnsi('', 8, width), [''])
})

const ROW: ServiceRow = {
  ...{ name: 'daemon', label: 'ai.crabtalk.daemon', state: 'ready', pid: 12, since: NOW - 3_700_000 },
  ...{
    memoryBytes: 140_000_000,
    processes: 3,
    port: 6688,
    version: '1.0',
    versionOnDisk: '2.0',
    restarts: 2,
  },
  ...{
    isInstalled: true,
    isEnabled: true,
    isManaged: true,
    notes: [{ message: 'it\u001b[2J bites', hint: 'do this' }],
  },
}

test('psLines() aligns the columns, and prints warnings below', async () => {
  const stopped: ServiceRow = { ...OFF, name: 'clock-tower' }
  const { table, notes } = await psLines([ROW, stopped], { now: NOW, color: false })
  assert.deepEqual(table, [
    'NAME         STATE    PID  UP  MEMORY  PORT  VERSION    RESTARTS',
    'daemon       ready    12   1h  140 MB  6688  1.0 → 2.0  2',
    'clock-tower  stopped  -    -   -       -     -          -',
  ])
  assert.deepEqual(notes, ['daemon: it bites', '  hint: do this'])
  const lines = async (columns: number) =>
    (await psLines([ROW, stopped], { now: NOW, color: false, columns })).table
  assert.equal((await lines(65))[0], table[0])
  assert.equal((await lines(60))[0], 'NAME         STATE    PID  UP  MEMORY  PORT  VERSION')
  assert.deepEqual(await lines(30), [
    'NAME         STATE    UP',
    'daemon       ready    1h',
    'clock-tower  stopped  -',
  ])
  assert.deepEqual(await lines(16), ['NAME         ST…', 'daemon       re…', 'clock-tower  st…'])
  const colored = await psLines([ROW, stopped], { now: NOW, color: true })
  assert.deepEqual(colored.table.map(stripVTControlCharacters), table)
})

test('psJson() includes every field, also of unknown values', () => {
  assert.deepEqual(Object.keys(psJson(OFF, NOW)), Object.keys(psJson(ROW, NOW)))
  const { uptime_seconds, started_at, pid, notes } = psJson(ROW, NOW)
  assert.deepEqual([uptime_seconds, started_at, pid], [3700, new Date(NOW - 3_700_000).toISOString(), 12])
  assert.deepEqual(notes, [{ message: 'it\u001b[2J bites', hint: 'do this' }])
})

const OFF: ServiceRow = {
  ...{
    name: 'cron',
    label: 'l',
    state: 'stopped',
    isInstalled: false,
    isEnabled: false,
    isManaged: false,
    notes: [],
  },
}
