import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CrabError } from '../../core/base/errors.ts'
import { createFile, replaceFile, toStorageError } from '../../core/base/files.ts'
import { fetchHealth } from './fetch-health.ts'

/** Where a component says that it is there. */
export interface AnnouncementTarget {
  /** The name of the component. */
  name: string
  /** Must be there; what is in it need not. */
  home: string
  /** Of port files, below the home. */
  run: string
}

/** The key that callers of a component of that place bear: the one that is there, so that all who start agree on it. */
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
 * The port file of a component that serves, and its key: it says where the component is, for as long as that is so.
 *
 * Of several that start at once one gets the name; files of a dead one are no obstacle.
 */
export class Announcement {
  readonly #place: AnnouncementTarget
  readonly #port: number
  readonly #key: string

  private constructor(place: AnnouncementTarget, port: number, key: string) {
    this.#place = place
    this.#port = port
    this.#key = key
  }

  /** Throws `conflict` when one of that name serves already, `storage` when the file cannot be written. */
  static async make(
    place: AnnouncementTarget,
    { port, key }: { port: number; key: string },
    signal: AbortSignal,
  ): Promise<Announcement> {
    const announcement = new Announcement(place, port, key)
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      if (await createFile(portFile(place), `${port}\n`)) return announcement
      await announcement.#replaceDead(signal)
    }
    throw new CrabError('conflict', `Cannot start ${place.name}: its port file changes all the time`, {
      hint: `see who writes ${portFile(place)}`,
    })
  }

  /**
   * Sets right what others did to the files. Throws `conflict` when another one of that name serves by now, `config` when
   * the home is gone, `storage` for what cannot be written.
   */
  async look(signal: AbortSignal): Promise<void> {
    const { name, home } = this.#place
    if (!isThere(home)) {
      throw new CrabError('config', `Cannot go on with ${name}: its home ${home} is gone`)
    }
    if (read(keyFile(this.#place)) !== this.#key) await replaceFile(keyFile(this.#place), `${this.#key}\n`)
    if (this.#isOurs()) return
    if (isThere(portFile(this.#place))) await this.#replaceDead(signal)
    await createFile(portFile(this.#place), `${this.#port}\n`)
  }

  /** Takes the files away, unless they are somebody else's by now. Never fails, and can be repeated. */
  withdraw(): void {
    try {
      if (!this.#isOurs()) return
      rmSync(portFile(this.#place), { force: true })
      rmSync(keyFile(this.#place), { force: true })
    } catch {
      // a file that stays says where nothing listens: the next start takes it for what it is
    }
  }

  #isOurs(): boolean {
    return read(portFile(this.#place)) === String(this.#port)
  }

  /** Takes a port file away behind which nobody of that name answers. */
  async #replaceDead(signal: AbortSignal): Promise<void> {
    const { name } = this.#place
    const path = portFile(this.#place)
    const before = read(path)
    const port = /^\d{1,5}$/.test(before ?? '') ? Number(before) : 0
    if (port > 0 && port < 65_536 && port !== this.#port) {
      const health = await fetchHealth(port, signal)
      signal.throwIfAborted() // then nobody was asked
      if (health?.name === name) {
        throw new CrabError(
          'conflict',
          `Cannot start ${name}: it runs already, pid ${health.pid}, port ${port}`,
          {
            hint: `end that one first: crabup ${name} stop`,
          },
        )
      }
    }
    if (read(path) === before) removeFile(path)
  }
}

/** Throws `config` when there is no such home: a component alone makes none. */
export function requireHome({ name, home }: AnnouncementTarget): void {
  if (isThere(home)) return
  throw new CrabError('config', `Cannot start ${name}: there is no home ${home}`, {
    hint: 'set CRABTALK_HOME to the home of the daemon, or start that first',
  })
}

function portFile({ name, run }: Pick<AnnouncementTarget, 'name' | 'run'>): string {
  return join(run, `${name}.port`)
}

function keyFile({ name, run }: Pick<AnnouncementTarget, 'name' | 'run'>): string {
  return join(run, `${name}.key`)
}

/** Undefined when there is none, or it cannot be read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined // who writes there next says what is wrong with it
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

/** Windows shows no such modes: there it is made anew. */
function isPrivate(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0o777) & 0o077) === 0
}

/** Each may meet another one that starts or ends. */
const MAX_TRIES = 20
