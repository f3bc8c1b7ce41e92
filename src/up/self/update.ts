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

/** The program that is replaced. */
export interface OwnProgram {
  path: string
  version: string
}

/** What has become of it. */
export interface SelfUpdate {
  from: string
  to: string
  /** `same`: it was that very program already, and nothing was changed. */
  outcome: 'updated' | 'same'
  /** Where the one before is now; undefined when nothing was changed. */
  kept: string | undefined
}

/**
 * Puts another version in the place of the program. What was fetched is verified and tried before anything is switched: up
 * to then a failure, or whatever kills us, leaves the program as it was.
 */
export async function updateProgram(
  own: OwnProgram,
  source: UpdateSource,
  at: { host: UpHost; npm: () => Promise<Npm> },
  signal: AbortSignal,
): Promise<SelfUpdate> {
  const bytes = await fetchProgram(source, { ...at, own: own.version }, signal)
  if (!bytes || bytes.equals(await readFile(own.path))) {
    return { from: own.version, to: own.version, outcome: 'same', kept: undefined }
  }
  return await switchToBytes(own, { bytes, wanted: source.version }, at.host, signal)
}

/** Puts the program before the last update back; the one that is replaced now takes its place. Fails with `missing` when none was kept. */
export async function rollBack(own: OwnProgram, host: UpHost, signal: AbortSignal): Promise<SelfUpdate> {
  const old = oldProgram(own.path)
  const bytes = await readFile(old).catch((cause) => {
    if (!isMissingFile(cause)) throw cause
    throw new CrabError('missing', `Cannot roll back: there is no ${old}`, {
      cause,
      hint: 'an update leaves the program before it there; nothing was changed',
    })
  })
  return await switchToBytes(own, { bytes, wanted: undefined }, host, signal)
}

/**
 * The program that an update replaces, when it is asked of the one at `path`: that of `crabtalk.old` is the program beside
 * it, which may be damaged, so that its version is unknown.
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
  { bytes, wanted }: { bytes: Buffer; wanted: string | undefined },
  host: UpHost,
  signal: AbortSignal,
): Promise<SelfUpdate> {
  checkMachine(bytes, host)
  const candidate = await stageProgram(own.path, bytes)
  try {
    const to = await tryProgram(candidate, host, signal)
    if (wanted !== undefined && to !== wanted && /^\d/.test(wanted)) {
      throw new CrabError('invalid', `Cannot update to ${wanted}: what was fetched is ${to}`)
    }
    signal.throwIfAborted()
    await switchProgram(own.path, candidate, host.platform)
    return { from: own.version, to, outcome: 'updated', kept: oldProgram(own.path) }
  } finally {
    await rm(candidate, { force: true }).catch(() => undefined) // the next update looks for it
  }
}

/** What another system's program does when it is started is anybody's guess: a shell may read it line by line. */
function checkMachine(bytes: Buffer, { platform }: Pick<UpHost, 'platform'>): void {
  const machine = detectMachine(bytes)
  const own = `${platform}-${arch()}`
  if (machine === undefined || machine === own) return
  throw new CrabError('invalid', `Cannot switch to the new program: it is for ${machine}, and this is ${own}`)
}
