import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { type Cell, ENDS, endWithServers, HOSTS, toOrphanTable } from '../support/orphan-table.ts'
import { endLiving, leftAfter, livingWith } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'
import { makeTalk } from '../support/talk.ts'
import { until } from '../support/until.ts'

test('nothing of an MCP server outlives the crabtalk that ran it, whatever the server does and however that ends', async (t) => {
  const table: Cell[] = []
  await t.test('in process and in the daemon', { concurrency: 2 }, async (t) => {
    const runs = HOSTS.flatMap((host) => ENDS.map((end) => ({ host, end })))
    await Promise.all(
      runs.map(({ host, end }) =>
        t.test(`${host} ended by ${end}`, async () => {
          const cells = await endWithServers(host, end)
          table.push(...cells)
          assert.deepEqual(
            cells.filter(({ before, left }) => left > 0 || (end !== 'exit' && before < 2)),
            [],
          )
        }),
      ),
    )
  })
  for (const row of toOrphanTable(table)) t.diagnostic(row)
})

const BACKGROUND = {
  plain: (sleep: string) => `${sleep} & echo begun`,
  'deaf to signals': (sleep: string) => `(trap "" TERM INT HUP; ${sleep}) & echo begun`,
  'in a session of its own': (sleep: string) => `setsid ${sleep} & echo begun`,
}

test('nothing that bash leaves in the background outlives crabtalk', { concurrency: 2 }, async (t) => {
  const runs = Object.entries(BACKGROUND).flatMap(([kind, toCommand]) =>
    ENDS.map((end) => ({ kind, toCommand, end })),
  )
  await Promise.all(
    runs.map(({ kind, toCommand, end }) =>
      t.test(`${kind}, ended by ${end}`, async () => {
        const mark = `crab-${randomUUID()}`
        const wait = end === 'exit' ? '' : '; sleep 60'
        const command = `${toCommand(`sh -c 'sleep 60; true' ${mark}`)}${wait}`
        await using talk = await makeTalk([
          { parts: [{ call: 'a', name: 'bash', args: JSON.stringify({ command }) }] },
          { parts: ['Done'] },
        ])
        try {
          const run = talk.startSend(['--yolo', 'go'])
          if (end === 'exit') assert.equal((await run.finished).stdout, 'Done\n')
          else {
            await until('it runs in the background', async () => (await backgroundOf(mark)) > 0)
            run.child.kill(end)
          }
          await run.finished
          assert.deepEqual(await leftAfter(mark, GRACE_MS), [])
        } finally {
          await endLiving(mark)
        }
      }),
    ),
  )
})

/** How many of them are the background's: the command line of bash itself has the mark, too. */
async function backgroundOf(mark: string): Promise<number> {
  return (await livingWith(mark)).filter(({ command }) => command.endsWith(mark)).length
}
