import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type CronState, readCronState } from '../../src/core/cron/cron-state.ts'
import type { Finished, RunOptions, Sandbox } from './run-binary.ts'
import { until } from './until.ts'

/** The scheduler of a sandbox, as a process of the tested program. */
export interface SandboxCron extends AsyncDisposable {
  readonly pid: number
  readonly finished: Promise<Finished>
  kill(signal: NodeJS.Signals): void
}

/** Starts a scheduler and waits until it is ready; disposing ends it, which must succeed. */
export async function startSandboxCron(
  box: Pick<Sandbox, 'home' | 'start'>,
  options: RunOptions & { args?: readonly string[] } = {},
): Promise<SandboxCron> {
  const running = box.start(['cron', 'run', ...(options.args ?? [])], options)
  const pid = running.child.pid!
  const ended: Finished[] = []
  void running.finished.then((finished) => ended.push(finished))
  const ready = join(box.home, 'run', 'cron.json')
  await until('the scheduler is ready', async () => {
    return ended.length > 0 || (existsSync(ready) && JSON.parse(await readFile(ready, 'utf8')).pid === pid)
  })
  assert.deepEqual(ended, [])
  const kill = (signal: NodeJS.Signals) => {
    if (running.child.exitCode === null && running.child.signalCode === null) process.kill(pid, signal)
  }
  return {
    pid,
    finished: running.finished,
    kill,
    async [Symbol.asyncDispose]() {
      kill('SIGTERM')
      const { code, stderr, signal } = await running.finished
      if (signal === null) assert.deepEqual([code, stderr], [0, ''])
    },
  }
}

/** Writes config/crons.toml as a user does. */
export async function writeCrons(home: string, text: string): Promise<void> {
  const path = join(home, 'config', 'crons.toml')
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Reads the state that the scheduler of a home has written about its entries. */
export function readSandboxCronState(home: string): Promise<CronState> {
  return readCronState(join(home, 'run', 'cron-state.json'))
}

/** Reads the lines of logs/cron.log. */
export async function cronLog(home: string): Promise<{ level: string; message: string; entry?: number }[]> {
  const text = await readFile(join(home, 'logs', 'cron.log'), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Builds an entry, by default one that says `do ID` every second. */
export function cronEntry(id: number, more: Readonly<Record<string, string | boolean>> = {}): string {
  const keys = { schedule: '* * * * * *', content: `do ${id}`, sender: `s${id}`, ...more }
  const lines = Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
  return `[[cron]]\nid = ${id}\n${lines.join('')}\n`
}
