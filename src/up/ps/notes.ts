import { readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { type FileIssue, formatLocation } from '../../core/config/validation-issue.ts'
import type { Probe } from '../probe.ts'
import type { ServiceStatus } from '../types.ts'
import { CONFIG_EXIT, describeLastExit, isKeptAlive, type ServiceState } from './state.ts'

/** Something about a service that will bite. */
export interface ServiceNote {
  /** A clause without a full stop. */
  message: string
  /** What to do. */
  hint?: string
}

/** What notes are made of. */
export interface ServiceNoteContext {
  name: string
  /** On the disk. */
  version?: string
  oddity?: string
  status: ServiceStatus | undefined
  probe: Probe
  state: ServiceState
  detail: string | undefined
  pid: number | undefined
  /** The file that was left behind was removed. */
  isRemoved: boolean
  /** What is wrong with the configuration, where it may have ended over that. */
  problems: readonly FileIssue[]
}

/** What there is to know of a service besides its state, what matters most first. */
export async function collectNotes(noted: ServiceNoteContext): Promise<ServiceNote[]> {
  return [
    ...stateNote(noted),
    ...lostNote(noted),
    ...configNotes(noted),
    ...starterNote(noted),
    ...unnamedNote(noted),
    ...(await updateNote(noted)),
    ...leftoverNote(noted),
    ...(noted.oddity === undefined ? [] : [{ message: noted.oddity }]),
  ]
}

function stateNote({ name, state, detail }: ServiceNoteContext): ServiceNote[] {
  if (detail === undefined) return []
  const hint = state === 'crashed' || state === 'degraded' ? `crabup ${name} logs` : undefined
  return [{ message: detail, ...(hint !== undefined && { hint }) }]
}

/** Who kept it running was killed. */
function lostNote({ name, status, pid }: ServiceNoteContext): ServiceNote[] {
  if (!status?.isLost) return []
  const what = pid === undefined ? 'is not started again' : 'would not be started again'
  return [{ message: `what kept it running was killed, so it ${what}`, hint: `crabup ${name} start` }]
}

/** Where the configuration is wrong that a service did not start with. */
function configNotes({ status, problems, state }: ServiceNoteContext): ServiceNote[] {
  if (state === 'ready') return []
  const found = problems.map(({ hint, ...problem }) => ({
    message: `${formatLocation(problem)}: ${problem.message}`,
    ...(hint !== undefined && { hint }),
  }))
  if (found.length > 0 || status?.lastExit?.code !== CONFIG_EXIT) return found
  const message = `${describeLastExit(status)} says that its configuration was wrong; what crabtalk reads is right by now`
  return [{ message, hint: 'start it again' }]
}

/** Who started it, where no service manager did. */
function starterNote({ status, probe, state }: ServiceNoteContext): ServiceNote[] {
  if (state !== 'ready' || isKeptAlive(status)) return []
  if (probe.idleExitMs !== undefined) {
    return [{ message: `started on demand; it ends after ${probe.idleExitMs / 1000} s without use` }]
  }
  return [{ message: 'started by hand, not as a service' }]
}

/** A program that only listens is believed, and said to be so. */
function unnamedNote({ name, probe: { isUnnamed, port } }: ServiceNoteContext): ServiceNote[] {
  if (!isUnnamed) return []
  return [{ message: `what listens at port ${port} does not say that it is ${name}` }]
}

async function updateNote({ name, version, probe, pid, state }: ServiceNoteContext): Promise<ServiceNote[]> {
  if (state !== 'ready' && state !== 'degraded' && state !== 'starting') return []
  const hint = `crabup ${name} restart`
  if (version !== undefined && probe.version !== undefined && version !== probe.version) {
    return [{ message: `update pending: it runs ${probe.version}, ${version} is installed`, hint }]
  }
  if (pid === undefined || !(await isReplaced(pid))) return []
  return [{ message: 'update pending: its program was replaced since it started', hint }]
}

/** Linux tells whether the file that a process runs still has its name. */
async function isReplaced(pid: number): Promise<boolean> {
  const file = await readlink(`/proc/${pid}/exe`).catch(() => '') // another system, or gone
  return file.endsWith(' (deleted)')
}

function leftoverNote({ probe: { leftover }, status, isRemoved }: ServiceNoteContext): ServiceNote[] {
  if (!leftover || isKeptAlive(status) || status?.isLost) return [] // the next run replaces it
  const what = `${basename(leftover.file)} was left behind by one that has gone`
  return [{ message: isRemoved ? `${what}; removed` : what }]
}
