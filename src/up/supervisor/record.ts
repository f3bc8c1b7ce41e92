import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toStorageError } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import { readIdentity } from '../../core/process/service-process.ts'
import type { ServiceStatus } from '../types.ts'
import { ownerPath, readJson, serviceRecordPath } from './desired-state.ts'

/** What a supervisor knows of a service; the next one goes on from it. */
export interface ServiceRecord {
  /** The id of what was last asked and done. */
  asked?: string
  state: ServiceStatus['state']
  /** It ended in a way after which it is not started again, unless somebody asks: until the machine starts anew. */
  isSettled?: boolean
  /** The start of the machine this was written in. */
  boot: string
  /** Of the run that goes on, or of the last one. */
  mark?: string
  pid?: number
  identity?: string
  since?: number
  restarts: number
  /** When it was started within the time that counts, milliseconds since 1970. */
  starts: number[]
  lastExit?: { code: number | null; signal: string | null }
}

/** The supervisor that runs. */
export interface SupervisorOwner {
  pid: number
  identity: string
  version: string
}

/** What was written last; undefined when nothing was. */
export function readRecord(folder: string, name: string): ServiceRecord | undefined {
  const value = readJson(serviceRecordPath(folder, name)) as ServiceRecord | undefined
  return typeof value?.state === 'string' && Array.isArray(value.starts) ? value : undefined
}

/**
 * Writes a record whole, without making its folder: a home that was removed stays removed. Where nothing can be written
 * what is no longer true is removed; false says that nobody can read it.
 */
export function writeRecord(folder: string, name: string, record: ServiceRecord): boolean {
  const path = serviceRecordPath(folder, name)
  const isWritten = writeWhole(path, record)
  if (!isWritten && record.state === 'stopped') rmSync(path, { force: true })
  return isWritten
}

/** Says which supervisor runs, or that none does any more; false where nobody can read it. */
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

/** Fails with `storage` where nothing can be written, which is why a supervisor is not heard of: `what` begins the message. */
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

/** The supervisor that runs now; undefined when there is none, or it was killed. */
export async function findSupervisor(folder: string, only?: string): Promise<SupervisorOwner | undefined> {
  const owner = readJson(ownerPath(folder, only)) as SupervisorOwner | undefined
  if (typeof owner?.pid !== 'number') return undefined
  return (await readIdentity(owner.pid)) === owner.identity ? owner : undefined
}

/** Whether the process of a record still runs. */
export async function isAlive({ pid, identity }: Pick<ServiceRecord, 'pid' | 'identity'>): Promise<boolean> {
  return pid !== undefined && identity !== undefined && (await readIdentity(pid)) === identity
}

/** Not synced: after a power failure nothing of it is true any more. */
function writeWhole(path: string, value: unknown): boolean {
  const sibling = `${path}.${newUlid()}.tmp`
  try {
    writeFileSync(sibling, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(sibling, path)
    return true
  } catch {
    rmSync(sibling, { force: true })
    return false // a full disk, or no home any more: what runs goes on
  }
}
