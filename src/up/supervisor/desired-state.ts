import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isMissingFile, replaceFile } from '../../core/base/files.ts'
import { newUlid } from '../../core/base/ids.ts'
import type { HomePaths } from '../../core/config/paths.ts'
import type { ServiceSpec, UnitFile } from '../types.ts'

/** What somebody last asked of a service that is wanted: `restart` ends the one that runs. */
export interface StartRequest {
  id: string
  how: 'start' | 'restart'
}

/** A service that is to run, as its file says it. */
export interface DesiredService extends ServiceSpec {
  asked: StartRequest
}

/** The folder of our own supervisor; every path in it is made here. */
export function servicesFolder({ run }: Pick<HomePaths, 'run'>): string {
  return join(run, 'services')
}

/**
 * Has a service run from now on: its file says what it is, and its being there that it is wanted. What somebody else has
 * asked for and not got yet is left to stand. Fails with `storage`.
 */
export async function setDesired(folder: string, spec: ServiceSpec, asked: StartRequest): Promise<void> {
  await replaceFile(desiredPath(folder, spec.name), `${JSON.stringify({ ...spec, asked }, undefined, 2)}\n`)
}

/** The file that setDesired() would write, as far as it is known before somebody asks. */
export function desiredFile(folder: string, spec: ServiceSpec): UnitFile {
  return {
    path: desiredPath(folder, spec.name),
    content: Buffer.from(`${JSON.stringify(spec, undefined, 2)}\n`),
  }
}

/** Has a service end, and keeps what it is: nothing is written, so that this works on a full disk. */
export function clearDesired(folder: string, name: string): void {
  try {
    renameSync(...stopSteps(folder, name))
  } catch (reason) {
    if (!isMissingFile(reason)) throw reason
  }
}

/** As who starts the task of a service has it: stopped or failed before, it is to run now. */
export async function restoreDesired(folder: string, name: string): Promise<void> {
  const known = readKnownSpec(folder, name)
  if (known) await setDesired(folder, known, newStartRequest('start'))
}

/** Forgets a service that has ended. */
export function forgetService(folder: string, name: string): void {
  for (const path of serviceFiles(folder, name)) rmSync(path, { force: true })
}

/** All that there may be of a service. */
export function serviceFiles(folder: string, name: string): string[] {
  return [desiredPath, stoppedPath, serviceRecordPath].map((path) => path(folder, name))
}

/** What clearDesired() renames, and to what. */
export function stopSteps(folder: string, name: string): [from: string, to: string] {
  return [desiredPath(folder, name), stoppedPath(folder, name)]
}

/** The service of that name that is wanted; undefined when it is not, or its file was broken by hand. */
export function readDesired(folder: string, name: string): DesiredService | undefined {
  const value = readJson(desiredPath(folder, name))
  return isDesiredService(value) && value.name === name ? value : undefined
}

/** What there is under that name, wanted or not. */
export function readKnownSpec(folder: string, name: string): ServiceSpec | undefined {
  const value = readDesired(folder, name) ?? readJson(stoppedPath(folder, name))
  return isDesiredService(value) && value.name === name ? value : undefined
}

/** The names that have a file here: which are wanted, and which are known or were run. */
export function listServiceNames(folder: string): { wanted: string[]; known: string[] } {
  const files = listFiles(folder)
  const named = (ending: string) =>
    files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length))
  const wanted = named('.json').filter((name) => !name.includes('.'))
  const others = [...named(STOPPED), ...named(RECORD)].filter((name) => !name.includes('.'))
  return { wanted, known: [...new Set([...wanted, ...others])].toSorted() }
}

/** Whether a change of that file can mean that something else is wanted. */
export function isDesiredFile(file: string): boolean {
  return file.endsWith('.json') && !file.endsWith(RECORD) && file !== OWNER
}

/** Asks anew. */
export function newStartRequest(how: StartRequest['how']): StartRequest {
  return { id: newUlid(), how }
}

/** Where the supervisor keeps what it knows of a service. */
export function serviceRecordPath(folder: string, name: string): string {
  return join(folder, `${name}${RECORD}`)
}

/** Where a supervisor says who it is; that of one service has its name. */
export function ownerPath(folder: string, only?: string): string {
  return join(folder, only === undefined ? OWNER : `${only}.${OWNER}`)
}

/** What a supervisor holds locked while it runs. */
export function lockPath(folder: string, only?: string): string {
  return join(folder, only === undefined ? 'lock' : `${only}.lock`)
}

/** What a file holds; undefined when it is not there or is no JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // missing, or broken: either way it says nothing
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
    return [] // there is none, so nothing is wanted
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
