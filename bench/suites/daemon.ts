import { join } from 'node:path'
import { CALLER } from '../../scripts/sea/scenarios.ts'
import { bundle } from '../bundle.ts'
import { startDaemon } from '../daemon.ts'
import { fetchProgram, NODE } from '../floors.ts'
import { interleave, type Program } from '../harness.ts'
import { END } from '../markdown.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import type { Column, Mark } from '../table.ts'
import { PROCESS } from './start-up.ts'

type Marked = Program & { marks?: Record<string, Mark> }

const FETCH = 'node, one fetch'
const LOOP = "20,000 chunks, the provider package's stream alone"
const FLOOD = 'flood 20000'

const COLUMNS: readonly Column[] = [
  ...PROCESS,
  { key: 'daemonCpuMs', title: 'CPU ms of the daemon', digits: 1 },
  { key: 'allCpuMs', title: 'CPU ms of both', digits: 1 },
]

/** Measures commands in a home with a running daemon, beside the same ones without it. */
export async function daemon(setting: Setting): Promise<SuiteResult> {
  const { rounds, cwd, scratch } = setting
  const loop = join(scratch, 'daemon-loop.mjs')
  await bundle('stream-loop.ts', loop)
  await using running = await startDaemon(setting)
  const programs = daemonPrograms(setting, { loop, pid: running.pid })
  const figures = await interleave(programs, { rounds, cwd })
  return {
    columns: COLUMNS,
    lines: programs.map(({ name, marks }) => ({ name, values: { ...figures.get(name)! }, marks })),
  }
}

function daemonPrograms(
  { binary, env, model: { url } }: Setting,
  { loop, pid }: { loop: string; pid: number },
): Marked[] {
  const alone = { ...env, CRABTALK_NO_DAEMON: '1' }
  const send = (name: string, args: string[], more: Partial<Marked>): Marked => ({
    name: `crabtalk send, ${name}`,
    command: binary,
    args: ['send', '--model', 'loopback-openai', ...args],
    env,
    daemon: pid,
    ...more,
  })
  const hi = /^Hi there\.\n$/
  const short = (most: number) => ({ wallMs: { floor: FETCH, most }, cpuMs: { floor: FETCH, most } })
  const long = { floor: LOOP, most: 1.5 }
  return [
    NODE,
    { ...fetchProgram(FETCH, url, 'say hi'), expects: /there/ },
    send('in process', ['say hi'], {
      env: alone,
      expects: hi,
      marks: { ...short(1.35), rssMb: { most: 90 } },
    }),
    send('daemon', ['say hi'], { expects: hi, marks: { ...short(0.8), rssMb: { most: 60 } } }),
    send('daemon, one MCP call', ['-a', CALLER, 'call mcp__everything__echo'], {
      expects: hi,
      marks: { wallMs: { floor: FETCH, most: 1 }, rssMb: { most: 60 } },
    }),
    { name: LOOP, command: process.execPath, args: [loop, url, FLOOD], expects: new RegExp(END) },
    send('20,000 chunks in process', [FLOOD], {
      env: alone,
      expects: new RegExp(END),
      marks: { wallMs: long, cpuMs: long, allCpuMs: long },
    }),
    send('20,000 chunks, daemon', [FLOOD], {
      expects: new RegExp(END),
      marks: { wallMs: long, cpuMs: { floor: LOOP }, allCpuMs: long },
    }),
  ]
}
