import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { collectEach, readNamespace, readProcess, readProcesses } from './proc-files.ts'
import { isRunning, sendSignal } from './signals.ts'

/**
 * The environment variable that identifies the processes of a service on Linux, even after they leave its
 * session.
 */
export const SERVICE_TAG = 'CRABTALK_SERVICE'

/** A process that was started with startDetached(), and everything it started. */
export interface ServiceProcess {
  /** The id of the process and of its group. */
  pid: number
  /** The result of readIdentity() for it. */
  identity: string
  /** The unique value of SERVICE_TAG in its environment. */
  serviceTag: string
}

/**
 * Returns a text that distinguishes a process from all others that have the same id at another time, in
 * another container or after a reboot: PID namespace, boot and start time. Undefined when there is no such
 * process or it has exited.
 */
export async function readIdentity(pid: number, proc = '/proc'): Promise<string | undefined> {
  if (platform() === 'linux') return await identityByProc(pid, proc)
  if (!isRunning(pid)) return undefined
  // The query fails when the process has exited meanwhile.
  const answer = await (platform() === 'win32' ? askPowershell(pid) : askPs(pid)).catch(() => undefined)
  const [state = '', ...start] = answer?.stdout.trim().split(/\s+/) ?? []
  return start.length === 0 || state.startsWith('Z') ? undefined : start.join(' ')
}

/**
 * Returns the process that was started with this tag and leads its session; undefined when none runs, or when
 * the system does not show environments.
 */
export async function findTaggedProcess(serviceTag: string, proc = '/proc'): Promise<number | undefined> {
  if (platform() !== 'linux') return undefined
  const leaders = (await readProcesses(proc)).filter(
    ({ pid, session, isRunning }) => isRunning && pid === session,
  )
  const tagged = await collectEach(leaders, async (entry) =>
    (await hasTag(entry.pid, serviceTag, proc)) ? entry : undefined,
  )
  return tagged.toSorted((a, b) => a.startTime - b.startTime)[0]?.pid // processes that it started are younger
}

/**
 * Ends a service. Sends TERM to the main process. If it still runs after the grace period, sends KILL to the
 * whole service; otherwise sends TERM to the remaining processes, and KILL two seconds later. The processes
 * of a service are those of its session and those with its tag on Linux, and its group on macOS; on Windows
 * all of them are ended immediately. Resolves when none is left, or when those left cannot be ended.
 */
export async function endService(service: ServiceProcess, graceMs: number): Promise<void> {
  if (platform() === 'win32') return await endTree(service)
  if (await isItself(service)) {
    sendSignal(service.pid, 'SIGTERM')
    await waitUntil(async () => !(await isItself(service)), graceMs)
    if (await isItself(service)) return await endMembers(service, KILL_ONLY)
  }
  await endMembers(service, ['SIGTERM', 'SIGKILL'])
}

async function endMembers(service: ServiceProcess, signals: readonly NodeJS.Signals[]): Promise<void> {
  for (const name of signals) {
    for (const pid of await listMembers(service)) sendSignal(pid, name)
    if (await waitUntil(async () => (await listMembers(service)).length === 0, REST_MS)) return
  }
}

/** Lists the remaining processes of a service; on systems other than Linux its group, as a negative id. */
async function listMembers(service: ServiceProcess): Promise<number[]> {
  const { pid, identity, serviceTag } = service
  const now = await readIdentity(pid)
  // An id is not reused while its session or group has members.
  const isOurs = now === undefined || now === identity
  if (platform() !== 'linux') return isOurs && isRunning(-pid) ? [-pid] : []
  return await collectEach(await readProcesses('/proc'), async (entry) => {
    if (!entry.isRunning) return undefined
    if (isOurs && entry.session === pid) return entry.pid
    return (await hasTag(entry.pid, serviceTag, '/proc')) ? entry.pid : undefined
  })
}

async function hasTag(pid: number, serviceTag: string, proc: string): Promise<boolean> {
  // The process may be gone or not accessible.
  const environment = await readFile(join(proc, String(pid), 'environ'), 'latin1').catch(() => '')
  return environment.split('\0').includes(`${SERVICE_TAG}=${serviceTag}`)
}

async function isItself({ pid, identity }: ServiceProcess): Promise<boolean> {
  return (await readIdentity(pid)) === identity
}

async function endTree(service: ServiceProcess): Promise<void> {
  if (!(await isItself(service))) return
  const args = ['/T', '/F', '/PID', String(service.pid)]
  await promisify(execFile)('C:\\Windows\\System32\\taskkill.exe', args, { windowsHide: true }).catch(
    () => undefined,
  ) // it ended by itself
  await waitUntil(async () => !isRunning(service.pid), REST_MS)
}

async function identityByProc(pid: number, proc: string): Promise<string | undefined> {
  const [entry, namespace, boot] = await Promise.all([
    readProcess(proc, pid),
    readNamespace(proc, pid),
    bootId(proc),
  ])
  return entry?.isRunning ? `${boot}.${namespace ?? 0}.${entry.startTime}` : undefined
}

/** Returns the id of the current boot; empty where the system does not report one. */
export async function bootId(proc = '/proc'): Promise<string> {
  const path = join(proc, 'sys/kernel/random/boot_id')
  return await readFile(path, 'latin1').then(
    (text) => text.trim(),
    () => '',
  )
}

/** Queries ps in a fixed locale and time zone, so that every caller gets the same times. */
function askPs(pid: number): Promise<{ stdout: string }> {
  const args = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]
  return promisify(execFile)('/bin/ps', args, { env: { LC_ALL: 'C', TZ: 'UTC' } })
}

function askPowershell(pid: number): Promise<{ stdout: string }> {
  const script = `'R ' + (Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`
  const args = ['-NoProfile', '-NonInteractive', '-Command', script]
  return promisify(execFile)(POWERSHELL, args, { windowsHide: true })
}

/** Polls with increasing delays. Returns whether the condition became true within the time limit. */
async function waitUntil(condition: () => Promise<boolean>, timeMs: number): Promise<boolean> {
  const deadline = performance.now() + timeMs
  for (let napMs = 5; ; napMs = Math.min(napMs * 1.5, 200)) {
    if (await condition()) return true
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await sleep(Math.min(napMs, leftMs))
  }
}

/** The absolute path, because a supervisor does not have a PATH. */
const POWERSHELL = 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'
const KILL_ONLY: readonly NodeJS.Signals[] = ['SIGKILL']
/** The time limit for remaining processes to react to TERM, and to disappear after KILL. */
const REST_MS = 2000
