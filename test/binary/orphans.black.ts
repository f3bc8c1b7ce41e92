import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { BEHAVIOURS, entriesToml, watchedServer } from '../support/mcp/mcp-servers.ts'
import { endLiving, leftAfter, livingWith } from '../support/orphans.ts'
import { GRACE_MS } from '../support/processes.ts'
import { makeTalk, type Talk } from '../support/talk.ts'
import { until } from '../support/until.ts'

/** How crabtalk ends: by itself, or by a signal while a tool runs. */
const ENDS = ['exit', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const

const SERVERS = {
  good: BEHAVIOURS.good,
  stubborn: BEHAVIOURS.stubborn,
  'good with a stubborn grandchild': BEHAVIOURS.stubbornGrandchild,
}

for (const [kind, behaviour] of Object.entries(SERVERS)) {
  for (const wrapped of [false, true]) {
    for (const end of ENDS) {
      const how = wrapped ? 'behind sh -c' : 'started directly'
      test(`a ${kind} server ${how} is gone after crabtalk ended by ${end}`, async () => {
        const call = end === 'exit' ? 'mcp__misbehaving__echo' : 'mcp__misbehaving__sleep'
        const args = end === 'exit' ? { text: 'hi' } : { ms: 60_000 }
        await using talk = await makeTalk([
          { parts: [{ call: 'a', name: call, args: JSON.stringify(args) }] },
          { parts: ['Done'] },
        ])
        const server = watchedServer(talk.cwd, behaviour, { wrapped })
        await giveServer(talk, entriesToml(server.entry))
        try {
          const run = talk.startSend(['--allow', 'mcp__misbehaving__*', 'go'])
          await until('the tool is called', () => server.messages('tools/call').length > 0)
          if (end !== 'exit') run.child.kill(end)
          const { stdout } = await run.finished
          if (end === 'exit') assert.equal(stdout, 'Done\n')
          assert.deepEqual(await leftAfter(server.mark, GRACE_MS), [])
        } finally {
          await endLiving(server.mark)
        }
      })
    }
  }
}

const BACKGROUND = {
  plain: (sleep: string) => `${sleep} & echo begun`,
  'deaf to signals': (sleep: string) => `(trap "" TERM INT HUP; ${sleep}) & echo begun`,
  'in a session of its own': (sleep: string) => `setsid ${sleep} & echo begun`,
}

for (const [kind, toCommand] of Object.entries(BACKGROUND)) {
  for (const end of ENDS) {
    test(`what bash leaves in the background, ${kind}, is gone after crabtalk ended by ${end}`, async () => {
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
    })
  }
}

/** The default agent with servers. */
async function giveServer({ home }: Talk, toml: string): Promise<void> {
  await mkdir(join(home, 'agents'), { recursive: true })
  await writeFile(join(home, 'agents', 'crab.toml'), toml)
  await writeFile(join(home, 'agents', 'crab.md'), 'You call tools.\n')
}

/** How many of them are the background's: the command line of bash itself has the mark, too. */
async function backgroundOf(mark: string): Promise<number> {
  return (await livingWith(mark)).filter(({ command }) => command.endsWith(mark)).length
}
