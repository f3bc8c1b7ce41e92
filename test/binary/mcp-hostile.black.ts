import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { test } from 'node:test'
import { CrabError } from '../../src/core/base/errors.ts'
import { McpActionKind, McpPeerState } from '../../src/core/protocol/crabtalk.generated.ts'
import { type McpDaemon, startMcpDaemon } from '../support/mcp/mcp-daemon.ts'
import { type WatchedServer, watchedServer } from '../support/mcp/mcp-servers.ts'
import type { ServerOptions } from '../support/mcp/options.ts'
import { recordFolder } from '../support/mcp/record-folder.ts'
import { until } from '../support/until.ts'

const MIB = 2 ** 20

/** A server that misbehaves, how a test uses it, and the expected result. */
interface Hostile {
  options: ServerOptions
  entry?: object
  /** Returns the text that a user would see. */
  meet(node: McpDaemon, server: WatchedServer): Promise<string>
}

const HOSTILE: Readonly<Record<string, Hostile>> = {
  flood: { options: {}, meet: meetFlood },
  garbage: { options: { noise: ['text', 'blank', 'json', 'partial'] }, meet: meetOddly },
  twice: { options: { answers: ['twice', 'unknown'] }, meet: meetOddly },
  silent: { options: { at: { 'tools/call': 'hang' } }, entry: { timeout_ms: 500 }, meet: meetSilence },
  big: { options: {}, meet: meetBigAnswer },
  endless: { options: { huge: 70 * MIB }, meet: meetEndlessLine },
  schemas: { options: { tools: ['schemas', 'few'] }, meet: meetSchemas },
  restless: { options: {}, meet: meetChanges },
  loop: { options: { loop: true }, meet: meetLoop },
}

test('servers that flood, repeat themselves, are silent or send too much do not affect other servers', async (t) => {
  await using records = await recordFolder()
  const calm = watchedServer(records.path, {}, { name: 'calm', isPlain: true })
  const servers = Object.entries(HOSTILE).map(([name, { options, entry = {} }]) => {
    const server = watchedServer(records.path, options, { name })
    return { ...server, entry: { ...server.entry, ...entry } }
  })
  const entries = [calm, ...servers].map(({ entry }) => entry)
  await using node = await startMcpDaemon({ crab: entries })
  const { pid } = node.daemon
  for (const [index, [name, { meet }]] of Object.entries(HOSTILE).entries()) {
    await t.test(name, async (t) => {
      const [said] = await Promise.all([meet(node, servers[index]!), callCalm(node)])
      await callCalm(node)
      t.diagnostic(`| ${name} | ${said} | ${await readMemoryMib(pid, 'VmRSS')} MiB |`)
    })
  }
  const { state, starts } = await node.peer('calm')
  assert.deepEqual([state, starts, calm.starts().length], [McpPeerState.CONNECTED, 1, 1])
  assert.equal(node.daemon.pid, pid)
  const peak = await readMemoryMib(pid, 'VmHWM')
  t.diagnostic(`the daemon's memory at most: ${peak} MiB`)
  assert.ok(peak < MAX_MEMORY_MIB, `${peak} MiB`)
})

/** The limit for an answer of 20 MiB and a line of 70 MiB, which are held in memory while they arrive. */
const MAX_MEMORY_MIB = 600

async function callCalm(node: McpDaemon): Promise<void> {
  assert.equal((await node.call('calm', 'echo', { text: 'still here' })).output, 'still here')
}

/** Sends 100 MB on standard error: all of it is read, its end is kept, and memory does not grow. */
async function meetFlood(node: McpDaemon): Promise<string> {
  await node.call('flood', 'echo', { text: 'x' })
  const before = await readMemoryMib(node.daemon.pid, 'VmRSS')
  for (let at = 0; at < 4; at++) await node.call('flood', 'stderr', { bytes: 25_000_000 })
  const last = 'flood 250000 of 250000'
  const logs = async () => (await node.act('flood', McpActionKind.LOGS)).logs
  await until('the last line is there', async () => (await logs()).at(-1)?.startsWith(last) === true)
  assert.equal((await logs()).length, 200)
  const grown = (await readMemoryMib(node.daemon.pid, 'VmRSS')) - before
  assert.ok(grown < 150, `${grown} MiB more`)
  return 'the last 200 lines are kept'
}

/** Checks that invalid and repeated answers are ignored. */
async function meetOddly(node: McpDaemon, { entry }: WatchedServer): Promise<string> {
  for (const text of ['one', 'two', 'three']) {
    assert.equal((await node.call(entry.name, 'echo', { text })).output, text)
  }
  const { state, starts } = await node.peer(entry.name)
  assert.deepEqual([state, starts], [McpPeerState.CONNECTED, 1])
  return 'answers count once, the rest is ignored'
}

async function meetSilence(node: McpDaemon): Promise<string> {
  const reason = await awaitFailure(node.call('silent', 'echo', { text: 'x' }))
  assert.match(reason.message, /Cannot call echo of the MCP server "silent": it did not answer within 0\.5 s/)
  return reason.message
}

/** Checks that an answer larger than our message limit is written to a file completely. */
async function meetBigAnswer(node: McpDaemon): Promise<string> {
  const { output, isError } = await node.call('big', 'big', { bytes: 20 * MIB })
  assert.equal(isError, false)
  const [path = ''] = /\/\S*cache\/output\/[^\s\]]+/.exec(output) ?? []
  assert.equal((await stat(path)).size, 20 * MIB)
  return output.slice(-200).replaceAll(/\s+/g, ' ').replaceAll(path, 'FILE').trim()
}

/** Checks that a line above the limit ends the connection, and that the next call opens another. */
async function meetEndlessLine(node: McpDaemon): Promise<string> {
  const reason = await awaitFailure(node.call('endless', 'noise', { kinds: 'huge' }))
  assert.match(reason.message, /"endless": it sent a message of more than 64 MiB/)
  assert.equal((await node.call('endless', 'echo', { text: 'again' })).output, 'again')
  assert.equal((await node.peer('endless')).starts, 2)
  return reason.message
}

/**
 * Checks schemas that are deep, huge, cyclic or remote, or have an expression that never ends: such a tool is
 * hidden with a reason, or harmless.
 */
async function meetSchemas(node: McpDaemon): Promise<string> {
  const { tools } = await node.act('schemas', McpActionKind.TOOLS)
  assert.equal((await node.call('schemas', 'echo', { text: 'x' })).output, 'x')
  const hidden = new Map(tools.map(({ remoteName, hidden }) => [remoteName, hidden]))
  assert.match(hidden.get('deep') ?? '', /nested more than 64 levels deep/)
  assert.match(hidden.get('remote_ref') ?? '', /refers to .*outside of it/)
  assert.match(hidden.get('huge') ?? '', /too large|over 64 KiB/)
  for (const name of [
    'circular_ref',
    'output_slow_pattern',
    'output_remote_ref',
    'output_deep',
    'broken_pattern',
  ]) {
    assert.equal((await node.call('schemas', name, { a: 'x' })).output.includes(name), true, name)
  }
  return [...hidden].flatMap(([name, why]) => (why === '' ? [] : [`${name}: ${why}`])).join('; ')
}

async function meetChanges(node: McpDaemon, server: WatchedServer): Promise<string> {
  await node.call('restless', 'change', { add: ['brand_new'], times: 1_000 })
  const names = async () =>
    (await node.act('restless', McpActionKind.TOOLS)).tools.map((tool) => tool.remoteName)
  await until('the new tool is known', async () => (await names()).includes('brand_new'))
  const lists = server.messages('tools/list').length
  assert.ok(lists <= 6, `${lists} lists`)
  return `1,000 changes told, ${lists} lists read`
}

async function meetLoop(node: McpDaemon, server: WatchedServer): Promise<string> {
  await until('it was read again', () => server.messages('tools/list').length > 1)
  assert.equal((await node.call('loop', 'echo', { text: 'x' })).output, 'x')
  const lists = server.messages('tools/list').length
  assert.ok(lists < 20, `${lists} lists`)
  return `${lists} lists read so far`
}

async function awaitFailure(work: Promise<unknown>): Promise<CrabError> {
  const reason = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  assert.ok(reason instanceof CrabError, String(reason))
  return reason
}

async function readMemoryMib(pid: number, key: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024)
}
