import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseOptions } from '../../../src/cli/parse.ts'
import { listCronEntriesCommand } from '../../../src/commands/cron/list.ts'
import { CRON_COMMANDS } from '../../../src/commands/cron/table.ts'
import { type CronState, newEntryState, writeCronState } from '../../../src/core/cron/cron-state.ts'
import { type ManualRun, recordManualRun } from '../../../src/core/cron/manual-runs.ts'
import { makeTestHost } from '../../support/test-host.ts'

const FAILED = {
  due: Date.now() - 7_200_000,
  ended: Date.now() - 7_200_000,
  outcome: 'failed',
  error: { kind: 'missing', message: 'Cannot find the skill "feeds"', hint: 'did you mean "feed"?' },
} as const

const FEEDS = { id: 1, content: '/feeds', agent: 'crab' }

const FILE = `[[cron]]
id = 1
schedule = "0 0 9 * * *"
skill = "feeds"

[[cron]]
id = 2
schedule = "*/5 * * * *"
content = "line one\\nline two\\u001b[31m"
agent = "scout"

[[cron]]
id = 3
schedule = "soon"
content = "x"
`

const STATE: CronState = {
  v: 1,
  highest: 9,
  entries: [
    { ...newEntryState(1), fired: 6, failed: 4, failing: 4, skipped: 2, missed: 3, last: FAILED, running: 5 },
    { ...newEntryState(8), fired: 1 },
  ],
  gone: [
    { id: 9, content: '/once', agent: 'crab', last: FAILED },
    { id: 7, content: '/well', agent: 'crab', last: { ...FAILED, outcome: 'ok' } },
  ],
}

test('cron list shows failed, skipped and missed times, and the errors in the file', async () => {
  const { stdout, stderr, code } = await run([])
  assert.equal(code, 78)
  assert.deepEqual(stdout.split('\n'), [
    'ID  SCHEDULE             MESSAGE            AGENT  NEXT  LAST',
    '1   at 09:00, every day  /feeds             crab   -     failed 2h ago (4 in a row): Cannot find the skill "feeds", 2 skipped, 3 missed',
    '2   every 5 minutes      line one line two  scout  -',
    '',
  ])
  assert.deepEqual(stderr.split('\n'), [
    'crabtalk: config/crons.toml:14: "schedule" is invalid: it needs six fields (second minute hour day month weekday), or five without the second (for example "0 0 9 * * MON-FRI")',
    'crabtalk: entry 9 (/once) fired once and failed 2h ago: Cannot find the skill "feeds"',
    'crabtalk: no scheduler is running, so nothing fires: start it with crabup cron start',
    '',
  ])
})

test('cron list --json prints all of it, and only entries of the file', async () => {
  const { stdout, stderr } = await run(['--json'])
  const { scheduler, entries, problems, ended } = JSON.parse(stdout)
  assert.deepEqual([scheduler, stderr], [null, ''])
  assert.deepEqual(
    entries.map(({ id, fired, failing, running_since: since }: Record<string, unknown>) => [
      id,
      fired,
      failing,
      since,
    ]),
    [
      [1, 6, 4, null], // its process has died
      [2, 0, 0, null],
    ],
  )
  assert.deepEqual([entries[0].last.outcome, entries[0].last.error.kind], ['failed', 'missing'])
  assert.equal(entries[0].last.due, new Date(FAILED.due).toISOString())
  assert.deepEqual([problems[0].line, problems[0].key], [14, 'cron[2].schedule'])
  assert.deepEqual(
    ended.map(({ id }: { id: number }) => id),
    [9, 7],
  )
})

test('cron list mentions a manual run after the last fire', async () => {
  const earlier = { ...FAILED, due: FAILED.due - 1000, ended: FAILED.ended - 1000 }
  const later = { due: Date.now() - 60_000, ended: Date.now() - 60_000, outcome: 'ok' } as const
  const before = await run([], [{ ...FEEDS, last: earlier }])
  assert.match(before.stdout, /\n1 .* failed 2h ago \(4 in a row\): /)
  const after = await run([], [{ ...FEEDS, last: later }])
  assert.match(after.stdout, /\n1 .* ok 1m ago by hand, 2 skipped, 3 missed\n/)
  const failed = await run([], [{ ...FEEDS, last: { ...FAILED, ended: later.ended } }])
  assert.match(failed.stdout, /\n1 .* failed 1m ago by hand: Cannot find/)
  const { entries } = JSON.parse((await run(['--json'], [{ ...FEEDS, last: later }])).stdout)
  assert.deepEqual([entries[0].by_hand.outcome, entries[0].last.outcome], ['ok', 'failed'])
  assert.deepEqual([entries[0].failing, entries[1].by_hand], [4, null])
  const other = await run([], [{ ...FEEDS, content: 'What had this id before', last: later }])
  assert.match(other.stdout, /\n1 .* failed 2h ago \(4 in a row\): /)
})

async function run(argv: readonly string[], byHand: readonly ManualRun[] = []) {
  await using test = await makeTestHost()
  const { host, folder } = test
  const home = join(folder, '.crabtalk')
  await mkdir(join(home, 'config'), { recursive: true })
  await mkdir(join(home, 'run'))
  await writeFile(join(home, 'config', 'crons.toml'), FILE)
  await writeCronState(join(home, 'run', 'cron-state.json'), STATE)
  const lock = async () => ({ async [Symbol.asyncDispose]() {} })
  const handRuns = { path: join(home, 'run', 'cron-by-hand.json'), lock }
  for (const one of byHand) await recordManualRun(handRuns, one, AbortSignal.timeout(5000))
  const command = CRON_COMMANDS.find(({ path }) => path[1] === 'list')!
  const options = parseOptions({ program: 'crabtalk', command }, argv)
  const { signal } = new AbortController()
  const code = await listCronEntriesCommand({
    program: 'crabtalk',
    commands: CRON_COMMANDS,
    path: ['cron', 'list'],
    options,
    host,
    signal,
  })
  await Promise.all([host.stdout.flush(), host.stderr.flush()])
  return { stdout: test.stdout(), stderr: test.stderr(), code }
}
