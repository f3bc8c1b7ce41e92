import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stringify } from 'smol-toml'
import { bundle } from '../bundle.ts'
import { startDaemon } from '../daemon.ts'
import { interleave, type Program } from '../harness.ts'
import { mcpServer } from '../mcp.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import { median } from '../statistics.ts'
import type { Mark } from '../table.ts'
import { PROCESS } from './start-up.ts'

const RAW = 'the server alone, one call'
const SDK = 'bare SDK client: connect, list'
const AGENT = 'pinger'

/**
 * Measures connecting to an MCP server and listing its tools: whole processes, and the connecting within
 * them.
 */
export async function mcpConnect(setting: Setting): Promise<SuiteResult> {
  const { rounds, cwd, scratch, binary, env } = setting
  const sdk = join(scratch, 'mcp-sdk.mjs')
  await bundle('mcp-sdk.ts', sdk)
  await addAgent(env['CRABTALK_HOME']!)
  const alone = { ...env, CRABTALK_NO_DAEMON: '1' }
  const ping = ['mcp', 'ping', '-a', AGENT, '--json']
  const ratio = { floor: SDK }
  const programs: (Program & { marks?: Record<string, Mark> })[] = [
    {
      name: RAW,
      command: process.execPath,
      args: [join(import.meta.dirname, '../mcp-server.ts'), ...mcpServer()],
      expects: /Echo: hi/,
    },
    { name: SDK, command: process.execPath, args: [sdk, ...mcpServer()], expects: /connectMs/ },
    {
      name: 'crabtalk mcp ping',
      command: binary,
      args: ping,
      env: alone,
      expects: /"ok": true/,
      marks: { wallMs: ratio, cpuMs: ratio, rssMb: ratio, connectMs: ratio },
    },
  ]
  const figures = await interleave(programs, { rounds, cwd })
  const inner: Record<string, number[]> = { [SDK]: [], 'crabtalk mcp ping': [] }
  for (let round = 0; round < rounds; round++) {
    for (const { name, command, args, env } of programs.slice(1)) {
      const { stdout } = await promisify(execFile)(command, [...args], {
        cwd,
        env: { PATH: process.env['PATH'], ...env },
      })
      inner[name]!.push(connectMsIn(stdout))
    }
  }
  const lines = programs.map(({ name, marks }) => {
    const connectMs = median(inner[name] ?? [])
    return { name, values: { ...figures.get(name)!, connectMs }, marks }
  })
  lines.push(await throughDaemon(setting, ping))
  return { columns: [...PROCESS, { key: 'connectMs', title: 'connected and listed, ms' }], lines }
}

/** Measures the command with a daemon that already holds the server. */
async function throughDaemon(setting: Setting, args: readonly string[]) {
  const { binary, env, rounds, cwd } = setting
  const name = 'crabtalk mcp ping, daemon'
  await using daemon = await startDaemon(setting)
  const program = { name, command: binary, args, env, expects: /"ok": true/, daemon: daemon.pid }
  const figures = await interleave([program], { rounds, cwd })
  const ratio = { floor: SDK }
  return {
    name,
    values: { ...figures.get(name)!, connectMs: Number.NaN },
    marks: { wallMs: ratio, cpuMs: ratio },
  }
}

/** Reads the time from the output of either program. */
function connectMsIn(stdout: string): number {
  const value = JSON.parse(stdout)
  return Number(Array.isArray(value) ? value[0].start_ms : value.connectMs)
}

async function addAgent(home: string): Promise<void> {
  const [command, ...args] = mcpServer()
  const agents = join(home, 'agents')
  await mkdir(agents, { recursive: true })
  await writeFile(join(agents, `${AGENT}.toml`), stringify({ mcps: [{ name: 'everything', command, args }] }))
}
