import assert from 'node:assert/strict'
import { appendFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { markLogs, readLastLines } from '../../../src/up/logs/last-lines.ts'
import { temporaryHome } from '../../support/temporary-home.ts'

const LINE = { time: '2026-11-22T06:12:37.123Z', level: 'info', pid: 7, message: 'listening' }

test('readLastLines() reads both files of a service as text, limited to a number of lines', async () => {
  await using home = await temporaryHome()
  const { logs } = home.paths
  assert.deepEqual(await readLastLines(logs, 'daemon'), [])
  const lines = [LINE, { ...LINE, level: 'error', message: 'it broke', hint: 'look there' }]
  await home.write('logs/daemon.log', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  await home.write('logs/daemon.crash.log', 'panic \u001b[31mred\u001b[0m\n\n')
  const all = ['06:12:37 info listening', '06:12:37 error it broke (look there)', 'panic red']
  assert.deepEqual(await readLastLines(logs, 'daemon'), all)
  assert.deepEqual(await readLastLines(logs, 'daemon', { most: 2 }), all.slice(1))
})

test('readLastLines() returns only what follows a mark, or everything if the file was replaced', async () => {
  await using home = await temporaryHome()
  const { logs } = home.paths
  await home.write('logs/cron.log', 'before\nbefore\n')
  const since = await markLogs(logs, 'cron')
  assert.deepEqual(await readLastLines(logs, 'cron', { since }), [])
  await appendFile(join(logs, 'cron.log'), 'after\n')
  await home.write('logs/cron.crash.log', 'dead\n')
  assert.deepEqual(await readLastLines(logs, 'cron', { since }), ['after', 'dead'])
  await writeFile(join(logs, 'cron.log'), 'rotated\n')
  assert.deepEqual(await readLastLines(logs, 'cron', { since }), ['rotated', 'dead'])
})

test('readLastLines() reads only the end of a huge file, and no partial line', async () => {
  await using home = await temporaryHome()
  await home.write('logs/cron.crash.log', `${'x'.repeat(200_000)}\nlast\n`)
  assert.deepEqual(await readLastLines(home.paths.logs, 'cron'), ['last'])
})
