import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { platform } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { collectEach, readNamespace, readProcess, readProcesses } from './proc-files.ts'
import { isRunning, sendSignal } from './signals.ts'

/** The environment variable by which Linux shows what belongs to a service, wherever it went. */
export const SERVICE_TAG = 'CRABTALK_SERVICE'

/** A process that was started with startDetached(), and what it started. */
export interface ServiceProcess {
  /** Of the process, and of its group. */
  pid: number
  /** What readIdentity() said of it. */
  identity: string
  /** The value of SERVICE_TAG in its environment; nothing else has it. */
  mark: string
}

/**
 * What tells a process from all others that had its id before or get it later, also in another container or after the
 * machine was started anew: namespace, boot and start time. Undefined when there is none, or it has ended.
 */
export async function readIdentity(pid: number, proc = '/proc'): Promise<string | undefined> {
  if (platform() === 'linux') return await identityByProc(pid, proc)
  if (!isRunning(pid)) return undefined
  const answer = await (platform() === 'win32' ? askPowershell(pid) : askPs(pid)).catch(() => undefined) // it is gone
  const [state = '', ...start] = answer?.stdout.trim().split(/\s+/) ?? []
  return start.length === 0 || state.startsWith('Z') ? undefined : start.join(' ')
}

/** The process that was started with this mark and leads its session; undefined when none runs, or the system does not show it. */
export async function findTaggedProcess(mark: string, proc = '/proc'): Promise<number | undefined> {
  if (platform() !== 'linux') return undefined
  const leaders = (await readProcesses(proc)).filter(
    ({ pid, session, isRunning }) => isRunning && pid === session,
  )
  const marked = await collectEach(leaders, async (entry) =>
    (await hasTag(entry.pid, mark, proc)) ? entry : undefined,
  )
  return marked.toSorted((a, b) => a.startTime - b.startTime)[0]?.pid // what it started is younger
}

/**
 * Ends a service: TERM to its own process, and when that has ended or the time is up, TERM and two seconds later KILL to
 * all that is left of it. On Linux that is its session and whoever bears its mark, on macOS its group; on Windows all of
 * it is ended at once. Resolves when nothing is left, or what is left cannot be ended.
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

/** What is left of a service; elsewhere than on Linux its group, as a negative id. */
async function listMembers(service: ServiceProcess): Promise<number[]> {
  const { pid, identity, mark } = service
  const now = await readIdentity(pid)
  const isOurs = now === undefined || now === identity // an id is not given anew while its session or group has a member
  if (platform() !== 'linux') return isOurs && isRunning(-pid) ? [-pid] : []
  return await collectEach(await readProcesses('/proc'), async (entry) => {
    if (!entry.isRunning) return undefined
    if (isOurs && entry.session === pid) return entry.pid
    return (await hasTag(entry.pid, mark, '/proc')) ? entry.pid : undefined
  })
}

async function hasTag(pid: number, mark: string, proc: string): Promise<boolean> {
  const environment = await readFile(join(proc, String(pid), 'environ'), 'latin1').catch(() => '') // gone, or not ours
  return environment.split('\0').includes(`${SERVICE_TAG}=${mark}`)
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

/** Which start of the machine this is; empty where the system does not say. */
export async function bootId(proc = '/proc'): Promise<string> {
  const path = join(proc, 'sys/kernel/random/boot_id')
  return await readFile(path, 'latin1').then(
    (text) => text.trim(),
    () => '',
  )
}

/** Its times are the same whoever asks. */
function askPs(pid: number): Promise<{ stdout: string }> {
  const args = ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)]
  return promisify(execFile)('/bin/ps', args, { env: { LC_ALL: 'C', TZ: 'UTC' } })
}

function askPowershell(pid: number): Promise<{ stdout: string }> {
  const script = `'R ' + (Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`
  const args = ['-NoProfile', '-NonInteractive', '-Command', script]
  return promisify(execFile)(POWERSHELL, args, { windowsHide: true })
}

/** Whether the condition came true within that time; it is looked at ever less often. */
async function waitUntil(condition: () => Promise<boolean>, timeMs: number): Promise<boolean> {
  const deadline = performance.now() + timeMs
  for (let napMs = 5; ; napMs = Math.min(napMs * 1.5, 200)) {
    if (await condition()) return true
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return false
    await sleep(Math.min(napMs, leftMs))
  }
}

/** A supervisor has no PATH. */
const POWERSHELL = 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'
const KILL_ONLY: readonly NodeJS.Signals[] = ['SIGKILL']
/** How long what is left of a service may take for its TERM, and to be gone once it was killed. */
const REST_MS = 2000
