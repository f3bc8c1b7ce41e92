import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { createFile, replaceFile, toStorageError } from '../../core/base/files.ts'
import { fetchHealth } from '../../core/base/http/fetch-health.ts'

/** The location of a component's port and key files. */
export interface AnnouncementTarget {
  /** The name of the component. */
  name: string
  /** The home folder, which must exist. */
  home: string
  /** The folder of port files, below the home. */
  run: string
}

/**
 * Returns the key that callers of the component must send. An existing key is reused, so that concurrent
 * starts agree on it.
 */
export async function takeKey({ name, run }: AnnouncementTarget): Promise<string> {
  const path = keyFile({ name, run })
  const fresh = randomBytes(32).toString('base64url')
  if (await createFile(path, `${fresh}\n`)) return fresh
  const found = read(path)
  if (found !== undefined && /^[\w-]{43}$/.test(found) && isPrivate(path)) return found
  await replaceFile(path, `${fresh}\n`)
  return fresh
}

/**
 * The port file and key file of a serving component, which announce its address (ADR 0117).
 *
 * Of several that start concurrently, one wins the name; files of a dead component are replaced.
 */
export class Announcement {
  readonly #target: AnnouncementTarget
  readonly #port: number
  readonly #key: string

  private constructor(target: AnnouncementTarget, port: number, key: string) {
    this.#target = target
    this.#port = port
    this.#key = key
  }

  /**
   * Announces a component. Throws `conflict` when one of that name is serving already, `storage` when the
   * file cannot be written.
   */
  static async make(
    target: AnnouncementTarget,
    { port, key }: { port: number; key: string },
    signal: AbortSignal,
  ): Promise<Announcement> {
    const announcement = new Announcement(target, port, key)
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await createFile(portFile(target), `${port}\n`)) return announcement
      await announcement.#replaceDead(signal)
    }
    throw new CrabError('conflict', `Cannot start ${target.name}: its port file keeps changing`, {
      hint: `find out which process writes ${portFile(target)}`,
    })
  }

  /**
   * Restores the files if others changed them. Throws `conflict` when another component of that name is
   * serving by now, `config` when the home is gone, `storage` when a file cannot be written.
   */
  async restore(signal: AbortSignal): Promise<void> {
    const { name, home } = this.#target
    if (!isThere(home)) {
      throw new CrabError('config', `Cannot keep ${name} running: its home ${home} is gone`)
    }
    if (read(keyFile(this.#target)) !== this.#key) await replaceFile(keyFile(this.#target), `${this.#key}\n`)
    if (this.#isOurs()) return
    if (isThere(portFile(this.#target))) await this.#replaceDead(signal)
    await createFile(portFile(this.#target), `${this.#port}\n`)
  }

  /** Removes the files, unless another component owns them by now. Idempotent; never throws. */
  withdraw(): void {
    try {
      if (!this.#isOurs()) return
      rmSync(portFile(this.#target), { force: true })
      rmSync(keyFile(this.#target), { force: true })
    } catch {
      // a leftover file names a port without a listener: the next start replaces it
    }
  }

  #isOurs(): boolean {
    return read(portFile(this.#target)) === String(this.#port)
  }

  /** Removes a port file behind which no component of that name answers. */
  async #replaceDead(signal: AbortSignal): Promise<void> {
    const { name } = this.#target
    const path = portFile(this.#target)
    const before = read(path)
    const port = /^\d{1,5}$/.test(before ?? '') ? Number(before) : 0
    if (port > 0 && port < 65_536 && port !== this.#port) {
      const health = await fetchHealth(port, AbortSignal.any([signal, AbortSignal.timeout(HEALTH_MS)]))
      signal.throwIfAborted() // then the port was not checked
      if (typeof health === 'object' && health['name'] === name && typeof health['pid'] === 'number') {
        const where = `pid ${health['pid']}, port ${port}`
        throw new CrabError('conflict', `Cannot start ${name}: it is already running, ${where}`, {
          hint: `stop it first: crabup ${name} stop`,
        })
      }
    }
    if (read(path) === before) removeFile(path)
  }
}

/** Throws `config` when the home does not exist: a component does not create one. */
export function requireHome({ name, home }: AnnouncementTarget): void {
  if (isThere(home)) return
  throw new CrabError('config', `Cannot start ${name}: the home ${home} does not exist`, {
    hint: 'set CRABTALK_HOME to the home of the daemon, or start the daemon first',
  })
}

function portFile({ name, run }: Pick<AnnouncementTarget, 'name' | 'run'>): string {
  return join(run, `${name}.port`)
}

function keyFile({ name, run }: Pick<AnnouncementTarget, 'name' | 'run'>): string {
  return join(run, `${name}.key`)
}

/** Reads a file; undefined when it is missing or unreadable. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined // the next write reports what is wrong
  }
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch (reason) {
    throw toStorageError(`Cannot replace ${path}`, reason)
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}

/** Whether only the owner can read a file. Always false on Windows, where the key is renewed each time. */
function isPrivate(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0o777) & 0o077) === 0
}

const HEALTH_MS = 2_000
/** Each try may race with a component that starts or ends. */
const MAX_TRIES = 20
