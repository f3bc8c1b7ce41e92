import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import {
  type Cell,
  ENDS,
  type End,
  endWithServers,
  HOSTS,
  SERVER_KINDS,
  toOrphanTable,
} from '../support/orphan-table.ts'
import { endLiving, leftAfter, livingWith } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'
import { makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

const table: Cell[] = []

for (const end of ENDS) {
  test(`MCP servers of every kind end with the crabtalk that started them, when it ends by ${end}`, async () => {
    const cells = (await Promise.all(HOSTS.map((host) => endWithServers(host, end)))).flat()
    table.push(...cells)
    const wasRunning = ({ before }: Cell) => end === 'exit' || before > 1
    assert.deepEqual(
      cells.filter((cell) => cell.left > 0 || !wasRunning(cell)),
      [],
    )
  })
}

test('the table of orphans has every combination of end, host and server', (t) => {
  for (const row of toOrphanTable(table)) t.diagnostic(row)
  assert.equal(table.length, ENDS.length * HOSTS.length * SERVER_KINDS)
})

const HELPER = 'trap "" TERM INT HUP; while :; do sleep 1; done'

test('a credential helper that hangs is killed when the daemon ends by any signal', async () => {
  const ends = ENDS.filter((end) => end !== 'exit')
  await Promise.all(
    ends.map(async (end) => {
      const mark = `crab-${randomUUID()}`
      const entry = {
        name: 'remote',
        url: 'http://127.0.0.1:1/mcp',
        auth_helper: ['/bin/sh', '-c', HELPER, mark],
      }
      await using node = await startMcpDaemon({ crab: [entry] })
      try {
        await until('the helper runs', async () => (await livingWith(mark)).length > 0)
        node.daemon.kill(end)
        await node.daemon.ended
        assert.deepEqual(await leftAfter(mark, GRACE_MS), [], end)
      } finally {
        await endLiving(mark)
      }
    }),
  )
})

const BACKGROUND = {
  plain: (sleep: string) => `${sleep} & echo begun`,
  'deaf to signals': (sleep: string) => `(trap "" TERM INT HUP; ${sleep}) & echo begun`,
  'in a session of its own': (sleep: string) => `setsid ${sleep} & echo begun`,
}

for (const end of ENDS) {
  test(`background processes of bash end with crabtalk when it ends by ${end}`, async () => {
    await Promise.all(Object.values(BACKGROUND).map((toCommand) => endWithBackground(toCommand, end)))
  })
}

async function endWithBackground(toCommand: (sleep: string) => string, end: End): Promise<void> {
  const mark = `crab-${randomUUID()}`
  const wait = end === 'exit' ? '' : '; sleep 60'
  const command = `${toCommand(`sh -c 'sleep 60; true' ${mark}`)}${wait}`
  await using talk = await makeTalk([
    { parts: [{ call: 'a', name: 'bash', args: JSON.stringify({ command }) }] },
    { parts: ['Done'] },
  ])
  try {
    const run = talk.startSend(['--yolo', 'go'])
    if (end === 'exit') assert.equal((await run.finished).stdout, 'Done\n', command)
    else {
      await until('it runs in the background', async () => (await countBackground(mark)) > 0)
      run.child.kill(end)
    }
    await run.finished
    assert.deepEqual(await leftAfter(mark, GRACE_MS), [], command)
  } finally {
    await endLiving(mark)
  }
}

/** Counts the background processes only; the command line of bash contains the marker as well. */
async function countBackground(mark: string): Promise<number> {
  return (await livingWith(mark)).filter(({ command }) => command.endsWith(mark)).length
}
