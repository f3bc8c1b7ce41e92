import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { Announcement, type AnnouncementTarget, requireHome, takeKey } from './announcement.ts'
import { openComponentHttp } from './http-server.ts'
import { ToolServer } from './tool-server.ts'
import type { Component } from './types.ts'

/** Where a component serves, and what it may use. */
export interface ComponentContext extends Omit<AnnouncementTarget, 'name'> {
  pid: number
  log: Log
  now(): number
  /** Called when it serves, with its port. */
  onServing?(port: number): void
  /** Given what takes the files away at once; for a process that ends without being asked. */
  onAnnounced?(withdraw: () => void): void
  /** Of a request to `/mcp`; 4 MiB by default. */
  maxBodyBytes?: number | undefined
  /** How long calls under way may go on when it ends; 5 s by default. */
  graceMs?: number | undefined
  /** How often it looks whether its files still stand; 30 s by default. */
  lookMs?: number | undefined
}

/**
 * Serves a component until the signal says to end (RFC 0043): MCP at `/mcp` on 127.0.0.1, and files in `run/` that say
 * where, which go when it ends.
 *
 * Fails with `invalid` for a component that cannot be offered, `config` without a home, `storage` when files cannot be
 * written, and `conflict` when one of that name serves already, or does later in its place.
 */
export async function serveTools(
  component: Component,
  place: ComponentContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, version } = component
  checkName(name)
  const at: AnnouncementTarget = { name, home: place.home, run: place.run }
  requireHome(at)
  const { pid, log, now, maxBodyBytes = 4 * 2 ** 20, graceMs = 5_000, lookMs = 30_000 } = place
  const tools = new ToolServer({ component, log, now, maxBodyBytes })
  const key = await takeKey(at)
  const health = { name, version, pid, started: new Date(now()).toISOString() }
  const door = await openComponentHttp({ health, key, log, answer: (request) => tools.answer(request) })
  try {
    const announcement = await Announcement.make(at, { port: door.port, key }, signal)
    place.onAnnounced?.(() => announcement.withdraw())
    log('info', `${name} ${version} serves`, { port: door.port })
    place.onServing?.(door.port)
    await keep(announcement, { lookMs, log }, signal)
    log('info', `${name} ends`)
  } catch (reason) {
    if (signal.aborted) return
    log('error', (reason as Error).message)
    throw reason
  } finally {
    door.stopAccepting()
    await waitAtMost(graceMs, tools.settled())
    tools.stop()
    await waitAtMost(FLUSH_MS, door.idle())
    await tools.close()
    await door.close()
  }
}

/** Looks after the files until the signal is aborted: soon after the start, for another one that started then, and now and then. */
async function keep(
  announcement: Announcement,
  { lookMs, log }: { lookMs: number; log: Log },
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let waitMs = Math.min(SOON_MS, lookMs); !signal.aborted; waitMs = lookMs) {
      await sleep(waitMs, undefined, { signal }).catch(() => undefined) // aborted: it is over
      if (signal.aborted) return
      await announcement.look(signal).catch((reason: unknown) => {
        if (!(reason instanceof CrabError) || reason.kind !== 'storage') throw reason
        log('warn', reason.message) // the next look may find a disk that is not full
      })
    }
  } finally {
    announcement.withdraw()
  }
}

/** Waits for something, but not longer than that. */
async function waitAtMost(ms: number, done: Promise<void>): Promise<void> {
  const over = new AbortController()
  await Promise.race([done, sleep(ms, undefined, { signal: over.signal })])
  over.abort()
}

function checkName(name: string): void {
  if (/^[a-z0-9](-?[a-z0-9])*$/.test(name) && name.length <= 32) return
  throw new CrabError('invalid', `Cannot start the component "${name}": that is no name for one`, {
    hint: 'small letters, digits and single hyphens between them, at most 32',
  })
}

const SOON_MS = 1_000
/** For answers that are on their way. */
const FLUSH_MS = 1_000
