import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { CrabError, ERROR_KINDS } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { VERSION } from '../base/version.ts'
import { watchFolder } from '../base/watch-folder.ts'
import type { HomePaths } from '../config/paths.ts'
import { SqliteLeases } from '../lease/sqlite-leases.ts'
import { CronFile } from './cron-file.ts'
import { readCronState, writeCronState } from './cron-state.ts'
import { cronFiles, keepReady, removeReady, writeReady } from './ready-file.ts'
import { Scheduler, type SchedulerOptions } from './scheduler.ts'
import { acquireSchedulerLease, holdsSchedulerLease } from './scheduler-lease.ts'
import { SchedulerLifecycle, type SchedulerProcess } from './scheduler-lifecycle.ts'
import { unknownZone, type ZoneProcess, zoneFollower } from './time-zone.ts'

/** The ports of runScheduler(). */
export interface RunSchedulerOptions {
  paths: HomePaths
  host: SchedulerProcess & ZoneProcess
  log: Log
  /** Runs the turn of an entry to its end; throws if the turn fails. */
  fire: SchedulerOptions['fire']
}

/** The interval in milliseconds at which the file is polled, in addition to being watched (ADR 0138). */
const POLL_MS = 2000
/** The interval in milliseconds of the checks for a changed time zone. */
const ZONE_MS = 30_000
/** The grace period in milliseconds of running turns during a shutdown. */
const GRACE_MS = 10_000
/** The time limit in milliseconds of a whole shutdown. */
const EXIT_MS = 20_000

/**
 * Fires the entries of a home until a signal or a crash, and returns the exit code. Fails with `conflict` when
 * another process already does.
 */
export async function runScheduler(options: RunSchedulerOptions): Promise<number> {
  const { paths, host, log } = options
  using life = new SchedulerLifecycle(host, log)
  await using leases = new SqliteLeases({ database: paths.leases, proc: paths.proc, pid: host.pid })
  // held as long as the leases are open
  await acquireSchedulerLease(leases, { pid: host.pid, home: paths.home })
  const files = cronFiles(paths)
  const scheduler = await openScheduler(options, leases)
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
    isOurs: () => holdsSchedulerLease(leases, host, paths),
    onRemoved: () => life.stop(new CrabError('gone', `${files.ready} was removed`)),
  })
  await life.ended
  await shutDown(scheduler, { host, log, life })
  await removeReady(files.ready, host.pid)
  return toExitCode(life)
}

async function openScheduler(
  { paths, host, log, fire }: RunSchedulerOptions,
  leases: SqliteLeases,
): Promise<Scheduler> {
  const files = cronFiles(paths)
  log('info', `starting crabtalk cron ${VERSION}`, { home: paths.home })
  const wrongZone = unknownZone(host.env['TZ'])
  if (wrongZone !== undefined) log('warn', `TZ is not a known time zone: ${wrongZone}; schedules use UTC`)
  return new Scheduler({
    file: new CronFile({ path: paths.crons, lock: (name, signal) => leases.take(name, signal) }),
    state: await readCronState(files.state),
    fire,
    async save(state) {
      if (existsSync(paths.run)) await writeCronState(files.state, state) // a home that was removed stays removed
    },
    log,
    now: Date.now,
    elapsed: () => performance.now(),
  })
}

async function shutDown(
  scheduler: Scheduler,
  { host, log, life }: { host: SchedulerProcess; log: Log; life: SchedulerLifecycle },
): Promise<void> {
  // a turn that ignores its cancellation must not keep the process
  setTimeout(() => host.leave(toExitCode(life)), EXIT_MS).unref()
  if (scheduler.turns > 0) log('info', `waiting for ${scheduler.turns} to end`, { seconds: GRACE_MS / 1000 })
  await scheduler.end(life.hasCrashed ? 0 : GRACE_MS)
}

function toExitCode({ hasCrashed }: SchedulerLifecycle): number {
  return hasCrashed ? ERROR_KINDS.internal.exit : 0
}

/** Restarts the scheduler when the time zone of the machine has changed. */
function followZone({ host, scheduler, log }: { host: ZoneProcess; scheduler: Scheduler; log: Log }) {
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
