import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  entriesToml,
  type StdioEntry,
  type WatchedServer,
  watchedServer,
} from '../support/mcp/mcp-servers.ts'
import { endLiving } from '../support/orphans.ts'
import { makeSandbox } from '../support/run-binary.ts'

const DIFFERENCES: Record<
  string,
  { change: (entry: StdioEntry, folder: string) => object; processes: number }
> = {
  nothing: { change: () => ({}), processes: 1 },
  'the name': { change: () => ({ name: 'another' }), processes: 1 },
  'filters and permissions': {
    change: () => ({ include: ['echo'], permissions: { allow: ['*'] } }),
    processes: 1,
  },
  'one value of the environment': { change: () => ({ env: { TOKEN: 'other' } }), processes: 2 },
  'the working directory': { change: (_, folder) => ({ cwd: folder }), processes: 2 },
  'one argument': { change: ({ args }) => ({ args: [...args, '--name=other'] }), processes: 2 },
  'that it is not shared': { change: () => ({ share: false }), processes: 2 },
}

for (const [difference, { change, processes }] of Object.entries(DIFFERENCES)) {
  test(`two agents whose servers differ in ${difference} have ${processes} in one process of crabtalk`, async () => {
    await using box = await makeSandbox()
    const server: WatchedServer = watchedServer(box.cwd, {}, { env: { TOKEN: 'one' } })
    await mkdir(join(box.home, 'agents'), { recursive: true })
    const entries = { ann: server.entry, bob: { ...server.entry, ...change(server.entry, box.cwd) } }
    for (const [name, entry] of Object.entries(entries)) {
      await writeFile(join(box.home, 'agents', `${name}.toml`), entriesToml(entry))
    }
    try {
      const { stdout, stderr, code } = await box.run(['mcp', 'ping', '--all', '--json'])
      assert.deepEqual([stderr, code], ['', 0])
      const pings = JSON.parse(stdout).filter(({ agent }: { agent: string }) => agent in entries)
      assert.equal(new Set(pings.map(({ pid }: { pid: number }) => pid)).size, processes)
      assert.equal(server.starts().length, processes)
    } finally {
      await endLiving(server.mark)
    }
  })
}
