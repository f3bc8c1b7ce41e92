import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { startDaemon } from '../daemon.ts'
import { bareSdk, type Caller, plainServer, rawHttp, rawStdio, startHttp } from '../mcp-callers.ts'
import { ourLayer, throughDaemon } from '../mcp-ours.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { quantile } from '../statistics.ts'
import type { Column, Mark } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'p50', title: 'one call, p50 ms', digits: 3 },
  { key: 'p99', title: 'p99 ms', digits: 3 },
  { key: 'perSecond', title: '20 at once, calls a second' },
]

const AGENT = 'echoer'
/** The number of calls of each caller before the next one takes its turn. */
const BLOCK = 50
const AT_ONCE = 20

/** Measures the cost of a tool call over stdio and over HTTP, beside a bare server that answers immediately. */
export async function mcpCalls(setting: Setting): Promise<SuiteResult> {
  await using stack = new AsyncDisposableStack()
  const { url } = stack.use(await startHttp())
  const callers = await openCallers(setting, url, stack)
  for (const caller of callers) await block(caller) // warms up
  const times = new Map(callers.map(({ name }): [string, number[]] => [name, []]))
  const rates = new Map(callers.map(({ name }): [string, number[]] => [name, []]))
  for (let round = 0; round < setting.rounds; round++) {
    for (const caller of callers) {
      times.get(caller.name)!.push(...(await block(caller)))
      rates.get(caller.name)!.push(await crowd(caller))
    }
  }
  const lines = callers.map(({ name }) => {
    const own = times.get(name)!
    const values = {
      p50: quantile(own, 0.5),
      p99: quantile(own, 0.99),
      perSecond: quantile(rates.get(name)!, 0.5),
    }
    return { name, values, marks: toMarks(name) }
  })
  return { columns: COLUMNS, lines }
}

async function openCallers(setting: Setting, url: string, stack: AsyncDisposableStack): Promise<Caller[]> {
  const { env, scratch } = setting
  const [command, ...args] = plainServer('ours')
  const stdio = { name: 'stdio', command, args, permissions: { allow: ['*'] } }
  const http = { name: 'http', url, permissions: { allow: ['*'] } }
  const agents = join(env['CRABTALK_HOME']!, 'agents')
  await mkdir(agents, { recursive: true })
  await writeFile(join(agents, `${AGENT}.toml`), stringify({ mcps: [stdio, http] }))
  const daemon = stack.use(await startDaemon(setting))
  const open = [
    rawStdio('stdio: the server alone'),
    bareSdk('stdio: bare SDK client'),
    ourLayer('stdio: crabtalk, in process', stdio, join(scratch, 'ours-stdio')),
    throughDaemon('stdio: crabtalk, daemon', daemon, { agent: AGENT, server: 'stdio' }),
    rawHttp('http: the server alone', url),
    bareSdk('http: bare SDK client', url),
    ourLayer('http: crabtalk, in process', http, join(scratch, 'ours-http')),
    throughDaemon('http: crabtalk, daemon', daemon, { agent: AGENT, server: 'http' }),
  ]
  const callers: Caller[] = []
  for (const caller of open) callers.push(stack.use(await caller))
  return callers
}

async function block({ echo }: Caller): Promise<number[]> {
  const times: number[] = []
  while (times.length < BLOCK) {
    const start = performance.now()
    await echo()
    times.push(performance.now() - start)
  }
  return times
}

/** Returns the calls per second. */
async function crowd({ echo }: Caller): Promise<number> {
  const start = performance.now()
  for (let at = 0; at < BLOCK; at += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, echo))
  return (Math.ceil(BLOCK / AT_ONCE) * AT_ONCE * 1000) / (performance.now() - start)
}

function toMarks(name: string): Record<string, Mark> | undefined {
  const [transport, who] = name.split(': ')
  if (who === 'the server alone') return undefined
  const ratio = { floor: `${transport}: the server alone` }
  return { p50: ratio, p99: ratio, perSecond: ratio }
}
