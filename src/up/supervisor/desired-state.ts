import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMissingFile, replaceFile } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { ServiceSpec, UnitFile } from '../types.ts'

/** The last request for a desired service: `restart` ends the running process first. */
export interface StartRequest {
  id: string
  how: 'start' | 'restart'
}

/** A service whose desired state is running, as read from its file. */
export interface DesiredService extends ServiceSpec {
  asked: StartRequest
}

/** Returns the folder of crabup's own supervisor; all paths in it are built here. */
export function servicesFolder({ run }: Pick<HomePaths, 'run'>): string {
  return join(run, 'services')
}

/**
 * Sets the desired state of a service to running by writing its spec file; the existence of the file is the
 * desired state. To keep a request that is still pending, pass it as `asked`. Throws `storage`.
 */
export async function setDesired(folder: string, spec: ServiceSpec, request: StartRequest): Promise<void> {
  await replaceFile(
    desiredPath(folder, spec.name),
    `${JSON.stringify({ ...spec, asked: request }, undefined, 2)}\n`,
  )
}

/** Returns the file that setDesired() would write, without the request. */
export function desiredFile(folder: string, spec: ServiceSpec): UnitFile {
  return {
    path: desiredPath(folder, spec.name),
    content: Buffer.from(`${JSON.stringify(spec, undefined, 2)}\n`),
  }
}

/**
 * Sets the desired state of a service to stopped and keeps its spec. It only renames a file, so it works on a
 * full disk.
 */
export function clearDesired(folder: string, name: string): void {
  try {
    renameSync(...stopSteps(folder, name))
  } catch (reason) {
    if (!isMissingFile(reason)) throw reason
  }
}

/**
 * Sets the desired state of a service that was stopped or has failed back to running, as starting its task
 * requests.
 */
export async function restoreDesired(folder: string, name: string): Promise<void> {
  const known = readKnownSpec(folder, name)
  if (known) await setDesired(folder, known, newStartRequest('start'))
}

/** Removes the files of a service that has ended. */
export function forgetService(folder: string, name: string): void {
  for (const path of serviceFiles(folder, name)) rmSync(path, { force: true })
}

/** Lists all files that a service may have. */
export function serviceFiles(folder: string, name: string): string[] {
  return [desiredPath, stoppedPath, serviceRecordPath].map((path) => path(folder, name))
}

/** Returns the two paths between which clearDesired() renames. */
export function stopSteps(folder: string, name: string): [from: string, to: string] {
  return [desiredPath(folder, name), stoppedPath(folder, name)]
}

/** Reads a service whose desired state is running; undefined otherwise, and when its file is damaged. */
export function readDesired(folder: string, name: string): DesiredService | undefined {
  const value = readJson(desiredPath(folder, name))
  return isDesiredService(value) && value.name === name ? value : undefined
}

/** Reads the spec of a service, whatever its desired state. */
export function readKnownSpec(folder: string, name: string): ServiceSpec | undefined {
  const value = readDesired(folder, name) ?? readJson(stoppedPath(folder, name))
  return isDesiredService(value) && value.name === name ? value : undefined
}

/** Lists the names with files in the folder: `desired` are to run, `known` have any file. */
export function listServiceNames(folder: string): { desired: string[]; known: string[] } {
  const files = listFiles(folder)
  const namesWithEnding = (ending: string) =>
    files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length))
  const desired = namesWithEnding('.json').filter((name) => !name.includes('.'))
  const others = [...namesWithEnding(STOPPED), ...namesWithEnding(RECORD)].filter(
    (name) => !name.includes('.'),
  )
  return { desired, known: [...new Set([...desired, ...others])].toSorted() }
}

/** Whether a change to that file can change a desired state. */
export function isDesiredFile(file: string): boolean {
  return file.endsWith('.json') && !file.endsWith(RECORD) && file !== OWNER
}

/** Creates a request with a new id. */
export function newStartRequest(how: StartRequest['how']): StartRequest {
  return { id: newUlid(), how }
}

/** Returns the path of the supervisor's record of a service. */
export function serviceRecordPath(folder: string, name: string): string {
  return join(folder, `${name}${RECORD}`)
}

/**
 * Returns the path of the file in which a supervisor identifies itself; with `only`, that of the supervisor
 * of one service.
 */
export function ownerPath(folder: string, only?: string): string {
  return join(folder, only === undefined ? OWNER : `${only}.${OWNER}`)
}

/** Returns the path of the file that a supervisor keeps locked while it runs. */
export function lockPath(folder: string, only?: string): string {
  return join(folder, only === undefined ? 'lock' : `${only}.lock`)
}

/** Reads a JSON file; undefined when it is missing or not valid JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // missing and damaged files count the same
  }
}

function desiredPath(folder: string, name: string): string {
  return join(folder, `${name}.json`)
}

function stoppedPath(folder: string, name: string): string {
  return join(folder, `${name}${STOPPED}`)
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return [] // without a folder nothing is desired
  }
}

function isDesiredService(value: unknown): value is DesiredService {
  const { name, label, argv, cwd, env, envFile, output, asked } = (value ?? {}) as Partial<DesiredService>
  const texts = [name, label, cwd, envFile, output, asked?.id]
  return (
    texts.every((text) => typeof text === 'string') &&
    Array.isArray(argv) &&
    argv.length > 0 &&
    argv.every((word) => typeof word === 'string') &&
    typeof env === 'object'
  )
}

const STOPPED = '.stopped.json'
const RECORD = '.state.json'
const OWNER = 'supervisor.owner'
