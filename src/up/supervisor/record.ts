import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { readIdentity } from '../../core/process/service-process.ts'
import type { ServiceStatus } from '../types.ts'
import { ownerPath, readJson, serviceRecordPath } from './desired-state.ts'

/** A supervisor's state of a service; its successor continues from it. */
export interface ServiceRecord {
  /** The id of the last request that was carried out. */
  asked?: string
  state: ServiceStatus['state']
  /** Whether it ended in a way that prevents a restart until the next request or reboot. */
  isSettled?: boolean
  /** The boot id of the machine when the record was written. */
  boot: string
  /** The owner tag of the current or last run. */
  mark?: string
  pid?: number
  identity?: string
  since?: number
  restarts: number
  /** The times of the starts within the restart window, milliseconds since 1970. */
  starts: number[]
  lastExit?: { code: number | null; signal: string | null }
}

/** The identity of the running supervisor. */
export interface SupervisorOwner {
  pid: number
  identity: string
  version: string
}

/** Reads the last record; undefined when there is none. */
export function readRecord(folder: string, name: string): ServiceRecord | undefined {
  const value = readJson(serviceRecordPath(folder, name)) as ServiceRecord | undefined
  return typeof value?.state === 'string' && Array.isArray(value.starts) ? value : undefined
}

/**
 * Writes a record atomically. Does not create its folder, so that a removed home stays removed. When writing
 * fails and the service has stopped, removes the outdated record instead. Returns whether the record was
 * written.
 */
export function writeRecord(folder: string, name: string, record: ServiceRecord): boolean {
  const path = serviceRecordPath(folder, name)
  const isWritten = writeWhole(path, record)
  if (!isWritten && record.state === 'stopped') rmSync(path, { force: true })
  return isWritten
}

/**
 * Writes which supervisor is running, or removes that file when none is. Returns false when it cannot be
 * written.
 */
export function writeSupervisorRecord(
  folder: string,
  only: string | undefined,
  owner: SupervisorOwner | undefined,
): boolean {
  const path = ownerPath(folder, only)
  if (owner) return writeWhole(path, owner)
  rmSync(path, { force: true })
  return true
}

/**
 * Throws `storage` when the folder cannot be written, because then a supervisor cannot report anything;
 * `what` begins the message.
 */
export function checkWritable(folder: string, what: string): void {
  const probe = join(folder, `${newUlid()}.probe`)
  try {
    writeFileSync(probe, 'x', { mode: 0o600, flag: 'wx' })
  } catch (reason) {
    throw toStorageError(what, reason)
  } finally {
    rmSync(probe, { force: true })
  }
}

/** Returns the running supervisor; undefined when there is none or it was killed. */
export async function findSupervisor(folder: string, only?: string): Promise<SupervisorOwner | undefined> {
  const owner = readJson(ownerPath(folder, only)) as SupervisorOwner | undefined
  if (typeof owner?.pid !== 'number') return undefined
  return (await readIdentity(owner.pid)) === owner.identity ? owner : undefined
}

/** Whether the process of a record is still running. */
export async function isAlive({ pid, identity }: Pick<ServiceRecord, 'pid' | 'identity'>): Promise<boolean> {
  return pid !== undefined && identity !== undefined && (await readIdentity(pid)) === identity
}

/** Does not sync: after a power failure none of it is true any more. */
function writeWhole(path: string, value: unknown): boolean {
  const sibling = `${path}.${newUlid()}.tmp`
  try {
    writeFileSync(sibling, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(sibling, path)
    return true
  } catch {
    rmSync(sibling, { force: true })
    return false // the disk is full or the home was removed: services continue to run
  }
}
