import { existsSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { CrabError, ERROR_KINDS, toCrabError } from '../../core/base/errors.ts'
import { replaceFile } from '../../core/base/files.ts'
import type { Log } from '../../core/base/log.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { VERSION } from '../../core/base/version.ts'
import { watchFolder } from '../../core/base/watch-folder.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { CronFile } from '../../core/cron/cron-file.ts'
import { readCronState, writeCronState } from '../../core/cron/cron-state.ts'
import { Scheduler } from '../../core/cron/scheduler.ts'
import { SqliteLeases } from '../../core/lease/sqlite-leases.ts'
import type { AttachingProcess } from '../../daemon/attaching-process.ts'
import { bothLogs, terminalLog } from '../../daemon/serve/terminal-log.ts'
import { cronFiles, HEARTBEAT_MS, removeReady } from './cron-files.ts'
import { fireEntry, newEntryRecord } from './fire-entry.ts'
import { acquireSchedulerLease, holdsSchedulerLease } from './scheduler-lease.ts'
import { SchedulerLifecycle } from './scheduler-lifecycle.ts'
import { unknownZone, zoneFollower } from './time-zone.ts'

/** The interval in milliseconds at which the file is polled, in addition to being watched (ADR 0138). */
const POLL_MS = 2000
/** The interval in milliseconds of the checks for a changed time zone. */
const ZONE_MS = 30_000
/** The grace period in milliseconds of running turns during a shutdown. */
const GRACE_MS = 10_000
/** The time limit in milliseconds of a whole shutdown. */
const EXIT_MS = 20_000

/**
 * Fires the entries of a home until a signal, and returns the exit code. Fails with `conflict` when another
 * process already does.
 */
export async function runScheduler(host: Host): Promise<number> {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  using file = new LogFile({ path: join(paths.logs, 'cron.log'), pid: host.pid, now: Date.now })
  const log = host.stderr.isTerminal ? bothLogs(file.log, terminalLog(host.stderr, Date.now)) : file.log
  using life = new SchedulerLifecycle(host, log)
  try {
    await runLoop({ host, paths, log, life })
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (kind !== 'conflict') file.log('error', message, { kind, hint }) // otherwise the log belongs to another process
    throw reason
  }
  log('info', 'stopped')
  return toExitCode(life)
}

function toExitCode({ hasCrashed }: SchedulerLifecycle): number {
  return hasCrashed ? ERROR_KINDS.internal.exit : 0
}

interface SchedulerContext {
  host: Host
  paths: HomePaths
  log: Log
  life: SchedulerLifecycle
}

async function runLoop({ host, paths, log, life }: SchedulerContext): Promise<void> {
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  await acquireSchedulerLease(leases, { pid: host.pid, home: paths.home }) // held as long as the leases are open
  const files = cronFiles(paths)
  const crons = new CronFile({ path: paths.crons, lock: (name, signal) => leases.take(name, signal) })
  const caller = toCaller(host, paths, log)
  log('info', `starting crabtalk cron ${VERSION}`, { home: paths.home })
  const wrongZone = unknownZone(host.env['TZ'])
  if (wrongZone !== undefined) log('warn', `TZ names no time zone: ${wrongZone}; schedules go by UTC`)
  const scheduler = new Scheduler({
    file: crons,
    state: await readCronState(files.state),
    async fire(entry, signal) {
      const record = newEntryRecord(entry)
      await fireEntry({ caller, entry, record }, signal)
      return { run: record.run, session: record.session }
    },
    async save(state) {
      if (existsSync(paths.run)) await writeCronState(files.state, state) // a home that was removed stays removed
    },
    log,
    now: Date.now,
    elapsed: () => performance.now(),
  })
  try {
    await scheduler.reconcile()
    await writeReady(files.ready, host.pid)
  } catch (reason) {
    await scheduler.end(0) // otherwise it would continue without the lease
    throw reason
  }
  using zone = followZone({ host, scheduler, log })
  life.reloadWith(() => {
    void zone.check()
    void scheduler.reconcile()
  })
  using _watch = watchFolder({
    folder: dirname(paths.crons),
    isWatched: (name) => name === basename(paths.crons),
    look: () => void scheduler.reconcile(),
    lookMs: POLL_MS,
  })
  using _ready = keepReady(files.ready, {
    pid: host.pid,
    life,
    isOurs: () => holdsSchedulerLease(leases, host, paths),
  })
  await life.ended
  // a turn that ignores its cancellation must not keep the process
  setTimeout(() => host.leave(toExitCode(life)), EXIT_MS).unref()
  if (scheduler.turns > 0) log('info', `waiting for ${scheduler.turns} to end`, { seconds: GRACE_MS / 1000 })
  await scheduler.end(life.hasCrashed ? 0 : GRACE_MS)
  await removeReady(files.ready, host.pid)
}

/** Restarts the scheduler when the time zone of the machine has changed. */
function followZone({ host, scheduler, log }: { host: Host; scheduler: Scheduler; log: Log }) {
  const moved = zoneFollower(host)
  const check = async () => {
    const zone = await moved()
    if (zone === undefined) return
    log('info', `the time zone is ${zone} now`)
    scheduler.restart()
  }
  const timer = setInterval(() => void check(), ZONE_MS)
  return { check, [Symbol.dispose]: () => clearInterval(timer) }
}

/**
 * Returns the process that attaches at each fire: its messages go to the log, and its working directory is
 * the home.
 */
function toCaller(host: Host, { home }: HomePaths, log: Log): AttachingProcess {
  const { pid, uid, homeDir, withoutDaemon } = host
  return {
    pid,
    uid,
    homeDir,
    withoutDaemon,
    env: { ...host.env, CRABTALK_HOME: home },
    cwd: () => home,
    stderr: { write: (text) => log('warn', text.replace(/^crabtalk: /, '').trimEnd()) },
    ripgrep: (folder) => host.ripgrep(folder),
    searchWorker: () => host.searchWorker(),
    build: () => host.build(),
  }
}

async function writeReady(path: string, pid: number): Promise<void> {
  const started = new Date().toISOString()
  const ready = { v: 1, pid, started, ready: true, version: VERSION, beat_ms: HEARTBEAT_MS }
  await replaceFile(path, `${JSON.stringify(ready)}\n`)
}

/**
 * Maintains the ready file: its modification time shows that the scheduler still works, a file that was
 * removed is written again, and the scheduler stops when the home was removed or replaced. Keeps the process
 * alive.
 */
function keepReady(
  path: string,
  { pid, life, isOurs }: { pid: number; life: SchedulerLifecycle; isOurs(): Promise<boolean> },
): Disposable {
  let beatAt = Date.now()
  const check = async () => {
    if (existsSync(path)) {
      const now = Date.now()
      if (Math.abs(now - beatAt) < HEARTBEAT_MS) return
      beatAt = now // wall-clock time, so that it beats immediately after a suspend
      return await utimes(path, new Date(now), new Date(now))
    }
    if (await isOurs()) await writeReady(path, pid)
    else life.stop(new CrabError('gone', `${path} was removed`))
  }
  const timer = setInterval(() => {
    check().catch(() => undefined) // the next poll tries again
  }, POLL_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
