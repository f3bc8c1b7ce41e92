import { join } from 'node:path'
import type { Host } from '../../cli/host.ts'
import { resolvePaths } from '../../cli/paths.ts'
import { toCrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { LogFile } from '../../core/base/log-file.ts'
import { refuseForeignHome } from '../../core/config/foreign-home.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import { runScheduler } from '../../core/cron/run-scheduler.ts'
import type { AttachingProcess } from '../../daemon/attaching-process.ts'
import { bothLogs, terminalLog } from '../../daemon/serve/terminal-log.ts'
import { fireEntry, newEntryRecord } from './fire-entry.ts'

/** Runs the scheduler of a home, with turns in the daemon or in this process; returns the exit code. */
export async function startScheduler(host: Host): Promise<number> {
  const paths = resolvePaths(host)
  await refuseForeignHome(paths)
  using file = new LogFile({ path: join(paths.logs, 'cron.log'), pid: host.pid, now: Date.now })
  const log = host.stderr.isTerminal ? bothLogs(file.log, terminalLog(host.stderr, Date.now)) : file.log
  const caller = toCaller(host, paths, log)
  try {
    const code = await runScheduler({
      paths,
      host,
      log,
      async fire(entry, signal) {
        const record = newEntryRecord(entry)
        await fireEntry({ caller, entry, record }, signal)
        return { run: record.run, session: record.session }
      },
    })
    log('info', 'stopped')
    return code
  } catch (reason) {
    const { kind, message, hint } = toCrabError(reason)
    if (kind !== 'conflict') file.log('error', message, { kind, hint }) // otherwise the log belongs to another process
    throw reason
  }
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
