import { readFile, rm } from 'node:fs/promises'
import { arch } from 'node:os'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile } from '../../core/base/files.ts'
import type { Npm } from '../packages/npm.ts'
import type { UpHost } from '../types.ts'
import { fetchProgram, type UpdateSource } from './candidate.ts'
import { oldProgram, replacedProgram } from './installation.ts'
import { detectMachine } from './machine.ts'
import { stageProgram, switchProgram } from './replace.ts'
import { readProgramVersion, tryProgram } from './trial.ts'

/** The program to replace. */
export interface OwnProgram {
  path: string
  version: string
}

/** The result of an update. */
export interface SelfUpdate {
  from: string
  to: string
  /** `same` when the program already was that version and nothing changed. */
  outcome: 'updated' | 'same'
  /** The path of the previous program; undefined when nothing changed. */
  previous: string | undefined
}

/**
 * Replaces the program with another version. The download is verified and tried before the switch: a failure
 * or a kill before that leaves the program as it was.
 */
export async function updateProgram(
  own: OwnProgram,
  source: UpdateSource,
  at: { host: UpHost; npm: () => Promise<Npm> },
  signal: AbortSignal,
): Promise<SelfUpdate> {
  const bytes = await fetchProgram(source, { ...at, own: own.version }, signal)
  if (!bytes || bytes.equals(await readFile(own.path))) {
    return { from: own.version, to: own.version, outcome: 'same', previous: undefined }
  }
  return await switchToBytes(own, { bytes, version: source.version }, at.host, signal)
}

/**
 * Restores the program from before the last update and keeps the current one in its place. Throws `missing`
 * when no previous program was kept.
 */
export async function rollBack(own: OwnProgram, host: UpHost, signal: AbortSignal): Promise<SelfUpdate> {
  const old = oldProgram(own.path)
  const bytes = await readFile(old).catch((cause) => {
    if (!isMissingFile(cause)) throw cause
    throw new CrabError('missing', `Cannot roll back: ${old} does not exist`, {
      cause,
      hint: 'an update keeps the previous program there; nothing was changed',
    })
  })
  return await switchToBytes(own, { bytes, version: undefined }, host, signal)
}

/**
 * Returns the program that an update started from `path` replaces. For `crabtalk.old` that is the program
 * beside it, whose version is unknown when it is damaged.
 */
export async function ownProgram(
  at: OwnProgram,
  host: Pick<UpHost, 'run' | 'env'>,
  signal: AbortSignal,
): Promise<OwnProgram> {
  const path = replacedProgram(at.path)
  if (path === at.path) return at
  return { path, version: await readProgramVersion(path, host, signal).catch(() => 'unknown') }
}

async function switchToBytes(
  own: OwnProgram,
  { bytes, version }: { bytes: Buffer; version: string | undefined },
  host: UpHost,
  signal: AbortSignal,
): Promise<SelfUpdate> {
  checkMachine(bytes, host)
  const candidate = await stageProgram(own.path, bytes)
  try {
    const to = await tryProgram(candidate, host, signal)
    if (version !== undefined && to !== version && /^\d/.test(version)) {
      throw new CrabError('invalid', `Cannot update to ${version}: the downloaded program is ${to}`)
    }
    signal.throwIfAborted()
    await switchProgram(own.path, candidate, host.platform)
    return { from: own.version, to, outcome: 'updated', previous: oldProgram(own.path) }
  } finally {
    await rm(candidate, { force: true }).catch(() => undefined) // a later update removes it
  }
}

/**
 * Refuses a program for another platform before it is started: a shell might interpret such a file line by
 * line.
 */
function checkMachine(bytes: Buffer, { platform }: Pick<UpHost, 'platform'>): void {
  const machine = detectMachine(bytes)
  const own = `${platform}-${arch()}`
  if (machine === undefined || machine === own) return
  throw new CrabError('invalid', `Cannot switch to the new program: it is for ${machine}, and this is ${own}`)
}
