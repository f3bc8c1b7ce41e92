import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { McpPeerState } from '../../../src/core/protocol/crabtalk.generated.ts'
import { until } from '../until.ts'
import { type HttpServer, startHttpServer } from './http-server.ts'
import { type McpDaemon, startMcpDaemon } from './mcp-daemon.ts'
import { watchedServer } from './mcp-servers.ts'
import { recordFolder } from './record-folder.ts'

/** An observed daemon with three servers over stdio and two over HTTP. */
export interface CallLoad extends AsyncDisposable {
  /** Returns how often the daemon's threads woke up during `ms` quiet milliseconds. */
  idle(ms: number): Promise<number>
  /** Makes `count` calls, ten in parallel; one in ten has an answer of 100 KB. */
  call(count: number): Promise<void>
  /** Returns the resources that the daemon holds now. */
  held(): Promise<Held>
  /** Checks that every server was started once and is connected. */
  check(): Promise<void>
}

/** The resources that a process holds. */
export interface Held {
  rssMib: number
  descriptors: number
}

/** Starts the daemon and waits until everything is connected. */
export async function makeCallLoad(): Promise<CallLoad> {
  await using stack = new AsyncDisposableStack()
  const records = stack.use(await recordFolder())
  const remote: HttpServer[] = []
  for (const _ of [1, 2]) remote.push(stack.use(await startHttpServer(records.path)))
  const entries = [
    ...['one', 'two'].map((name) => watchedServer(records.path, {}, { name, isPlain: true }).entry),
    watchedServer(records.path, {}, { name: 'good' }).entry,
    ...remote.map(({ url }, index) => ({ name: `http${index}`, url })),
  ]
  const node = stack.use(await startMcpDaemon({ crab: entries }))
  const isConnected = ({ state }: { state: McpPeerState }) => state === McpPeerState.CONNECTED
  await until('all are connected', async () => (await node.peers()).filter(isConnected).length === 5)
  const owned = stack.move()
  const { pid } = node.daemon
  return {
    async idle(ms) {
      const before = await wakeUps(pid)
      await sleep(ms)
      return (await wakeUps(pid)) - before
    },
    call: (count) => callAll(node, count),
    held: async () => ({
      rssMib: Math.round(
        Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
      ),
      descriptors: (await readdir(`/proc/${pid}/fd`)).length,
    }),
    async check() {
      const peers = await node.peers()
      assert.ok(peers.every((peer) => isConnected(peer) && peer.starts === 1 && peer.errors === 0))
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

async function callAll(node: McpDaemon, count: number): Promise<void> {
  let left = count
  const names = ['one', 'two', 'good', 'http0', 'http1']
  const work = Array.from({ length: AT_ONCE }, async () => {
    for (let at = left--; at > 0; at = left--) {
      const text = at % 10 === 0 ? 'x'.repeat(100_000) : `call ${at}`
      const { output, isError } = await node.call(names[at % names.length]!, 'echo', { text })
      assert.deepEqual([output.length, isError], [text.length, false])
    }
  })
  await Promise.all(work)
}

async function wakeUps(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`)
  const counts = tasks.map(async (task) => {
    const status = await readFile(`/proc/${pid}/task/${task}/status`, 'utf8')
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1])
  })
  return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0)
}

const AT_ONCE = 10
