import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { CrowdResult } from '../crowd.ts'
import { type Daemon, startDaemon } from '../daemon.ts'
import { readCpuMs, readRssMb } from '../processes.ts'
import type { Setting, SuiteResult } from '../setting.ts'
import type { Column, Line } from '../table.ts'

const COLUMNS: readonly Column[] = [
  { key: 'broken', title: 'streams lost, cut or out of order' },
  { key: 'begunMs', title: 'until all have begun, ms' },
  { key: 'p50', title: 'chunk from the model server, p50 ms', digits: 1 },
  { key: 'p99', title: 'chunk from the model server, p99 ms', digits: 1 },
  { key: 'chunks', title: 'chunks while all ran' },
  { key: 'cpuMs', title: 'CPU ms of the client' },
  { key: 'daemonCpuMs', title: 'CPU ms of the daemon' },
  { key: 'beforeMb', title: 'RSS of the daemon before, MB' },
  { key: 'peakMb', title: 'RSS of the daemon at most, MB' },
  { key: 'afterMb', title: 'RSS of the daemon 15 s after, MB' },
  { key: 'perTurnMb', title: 'more than before a turn, MB', digits: 2 },
]

const COUNT = 1000
/** The pause between chunks, in milliseconds: five chunks a second. */
const PAUSE_MS = 200
/** The number of chunks, 30 s of them: on a busy machine it takes a while until all streams have started. */
const CHUNKS = 150
const WAVES = 3

/**
 * Measures a thousand concurrent streams of a model server: through one daemon, and read directly by a
 * program.
 */
export async function daemonCrowd(setting: Setting): Promise<SuiteResult> {
  await using daemon = await startDaemon(setting)
  const lines: Line[] = []
  for (let wave = 1; wave <= WAVES; wave++) {
    const bare = await readAll(setting, 'crowd-fetch.ts', [setting.model.url], wave)
    lines.push({ name: `fetch, ${wave}`, values: { ...bare }, marks: { broken: { most: 0 } } })
    const name = `daemon, ${wave}`
    const marks = { broken: { most: 0 }, p99: { floor: `fetch, ${wave}` }, perTurnMb: { most: 1 } }
    lines.push({ name, values: await throughDaemon(setting, daemon, wave), marks })
  }
  return { columns: COLUMNS, lines }
}

async function throughDaemon(
  setting: Setting,
  { pid, socket }: Daemon,
  wave: number,
): Promise<Record<string, number>> {
  const [beforeMb, cpu] = [readRssMb(pid), readCpuMs(pid)]
  let peakMb = beforeMb
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, readRssMb(pid))
  }, LOOK_MS)
  try {
    const result = await readAll(setting, 'crowd-daemon.ts', [socket], wave)
    const daemonCpuMs = readCpuMs(pid) - cpu
    const perTurnMb = (peakMb - beforeMb) / COUNT
    await sleep(REST_MS)
    return { ...result, daemonCpuMs, beforeMb, peakMb, afterMb: readRssMb(pid), perTurnMb }
  } finally {
    clearInterval(timer)
  }
}

const LOOK_MS = 100
/** The rest, in milliseconds, after which memory is measured: V8 keeps unused pages for some seconds. */
const REST_MS = 15_000

async function readAll(
  { cwd }: Setting,
  program: string,
  [from]: readonly [string],
  wave: number,
): Promise<CrowdResult> {
  const file = join(import.meta.dirname, '..', program)
  const args = [from, `${COUNT}`, `${CHUNKS}`, `pace ${CHUNKS} ${PAUSE_MS}`, `wave${wave}-`]
  const run = promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', file, ...args],
    {
      cwd,
    },
  )
  const { stdout, stderr } = await run
  process.stderr.write(stderr)
  return JSON.parse(stdout, (_, value) => value ?? Number.NaN) // `null` where nothing was measured
}
