import { readlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { type FileIssue, formatLocation } from '../../core/config/validation-issue.ts'
import type { Probe } from '../probe/types.ts'
import type { ServiceStatus } from '../types.ts'
import { CONFIG_EXIT, describeLastExit, isKeptAlive, type ServiceState } from './state.ts'

/** A note about a problem of a service, existing or upcoming. */
export interface ServiceNote {
  /** A clause without a full stop. */
  message: string
  /** The suggested fix. */
  hint?: string
}

/** The facts that notes are derived from. */
export interface ServiceNoteContext {
  name: string
  /** The installed version. */
  version?: string
  oddity?: string
  status: ServiceStatus | undefined
  probe: Probe
  state: ServiceState
  detail: string | undefined
  pid: number | undefined
  /** Whether its leftover file was removed. */
  isRemoved: boolean
  /** The errors in the configuration, when the service may have exited because of them. */
  problems: readonly FileIssue[]
}

/** Collects the notes on a service, the most important first. */
export async function collectNotes(context: ServiceNoteContext): Promise<ServiceNote[]> {
  return [
    ...stateNote(context),
    ...lostNote(context),
    ...configNotes(context),
    ...starterNote(context),
    ...unnamedNote(context),
    ...(await updateNote(context)),
    ...leftoverNote(context),
    ...(context.oddity === undefined ? [] : [{ message: context.oddity }]),
  ]
}

function stateNote({ name, state, detail }: ServiceNoteContext): ServiceNote[] {
  if (detail === undefined) return []
  const hint = state === 'crashed' || state === 'degraded' ? `crabup ${name} logs` : undefined
  return [{ message: detail, ...(hint !== undefined && { hint }) }]
}

/** Reports that the supervisor which kept the service running was killed. */
function lostNote({ name, status, pid }: ServiceNoteContext): ServiceNote[] {
  if (!status?.isLost) return []
  const what = pid === undefined ? 'is not restarted' : 'would not be restarted'
  return [
    { message: `the process that kept it running was killed, so it ${what}`, hint: `crabup ${name} start` },
  ]
}

/** Locates the configuration errors that kept a service from starting. */
function configNotes({ status, problems, state }: ServiceNoteContext): ServiceNote[] {
  if (state === 'ready') return []
  const found = problems.map(({ hint, ...problem }) => ({
    message: `${formatLocation(problem)}: ${problem.message}`,
    ...(hint !== undefined && { hint }),
  }))
  if (found.length > 0 || status?.lastExit?.code !== CONFIG_EXIT) return found
  const message = `${describeLastExit(status)} means that its configuration was invalid; it is valid now`
  return [{ message, hint: 'start it again' }]
}

/** Reports how a service was started when no service manager runs it. */
function starterNote({ status, probe, state }: ServiceNoteContext): ServiceNote[] {
  if (state !== 'ready' || isKeptAlive(status)) return []
  if (probe.idleExitMs !== undefined) {
    return [{ message: `started on demand; it exits after ${probe.idleExitMs / 1000} s without use` }]
  }
  return [{ message: 'started by hand, not as a service' }]
}

/** A program that listens without identifying itself is accepted, with a note. */
function unnamedNote({ name, probe: { isUnnamed, port } }: ServiceNoteContext): ServiceNote[] {
  if (!isUnnamed) return []
  return [{ message: `the program at port ${port} does not identify itself as ${name}` }]
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

/** Linux reports when the file of a running program no longer has its name. */
async function isReplaced(pid: number): Promise<boolean> {
  const file = await readlink(`/proc/${pid}/exe`).catch(() => '') // another platform, or the process has ended
  return file.endsWith(' (deleted)')
}

function leftoverNote({ probe: { leftover }, status, isRemoved }: ServiceNoteContext): ServiceNote[] {
  if (!leftover || isKeptAlive(status) || status?.isLost) return [] // the next run replaces it
  const what = `${basename(leftover.file)} was left behind by a process that has ended`
  return [{ message: isRemoved ? `${what}; removed` : what }]
}
