import { setTimeout as sleep } from 'node:timers/promises'
import { waitAtMost } from '../../core/base/deadline.ts'
import { CrabError } from '../../core/base/errors.ts'
import type { Log } from '../../core/base/log.ts'
import { Announcement, type AnnouncementTarget, requireHome, takeKey } from './announcement.ts'
import { openComponentHttp } from './http-server.ts'
import { ToolServer } from './tool-server.ts'
import type { Component } from './types.ts'

/** The location and dependencies of a serving component. */
export interface ComponentContext extends Omit<AnnouncementTarget, 'name'> {
  pid: number
  log: Log
  now(): number
  /** Called with the port when it is serving. */
  onServing?(port: number): void
  /** Called with a function that removes the files immediately, for a process that ends abruptly. */
  onAnnounced?(withdraw: () => void): void
  /** The maximum body of a request to `/mcp`; 4 MiB by default. */
  maxBodyBytes?: number | undefined
  /** The time that running calls get when it ends; 5 s by default. */
  graceMs?: number | undefined
  /** The interval of checking its files; 30 s by default. */
  lookMs?: number | undefined
}

/**
 * Serves a component until the signal is aborted (ADR 0117): MCP at `/mcp` on 127.0.0.1, announced by files
 * in `run/`, which are removed at the end.
 *
 * Throws `invalid` for a component that cannot be offered, `config` without a home, `storage` when files
 * cannot be written, and `conflict` when another component of that name is serving, also if that happens
 * later.
 */
export async function serveTools(
  component: Component,
  context: ComponentContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, version } = component
  checkName(name)
  const at: AnnouncementTarget = { name, home: context.home, run: context.run }
  requireHome(at)
  const { pid, log, now, maxBodyBytes = 4 * 2 ** 20, graceMs = 5_000, lookMs = 30_000 } = context
  const tools = new ToolServer({ component, log, now, maxBodyBytes })
  const key = await takeKey(at)
  const health = { name, version, pid, started: new Date(now()).toISOString() }
  const http = await openComponentHttp({ health, key, log, answer: (request) => tools.answer(request) })
  try {
    const announcement = await Announcement.make(at, { port: http.port, key }, signal)
    context.onAnnounced?.(() => announcement.withdraw())
    log('info', `${name} ${version} serves`, { port: http.port })
    context.onServing?.(http.port)
    await watchFiles(announcement, { lookMs, log }, signal)
    log('info', `${name} ends`)
  } catch (reason) {
    if (signal.aborted) return
    log('error', (reason as Error).message)
    throw reason
  } finally {
    http.stopAccepting()
    await waitAtMost(tools.settled(), graceMs)
    tools.stop()
    await waitAtMost(http.idle(), FLUSH_MS)
    await tools.close()
    await http.close()
  }
}

/**
 * Checks the files until the signal is aborted: shortly after the start, because another component may have
 * started at the same time, and then regularly.
 */
async function watchFiles(
  announcement: Announcement,
  { lookMs, log }: { lookMs: number; log: Log },
  signal: AbortSignal,
): Promise<void> {
  try {
    for (let waitMs = Math.min(FIRST_CHECK_MS, lookMs); !signal.aborted; waitMs = lookMs) {
      await sleep(waitMs, undefined, { signal }).catch(() => undefined) // aborted
      if (signal.aborted) return
      await announcement.restore(signal).catch((reason: unknown) => {
        if (!(reason instanceof CrabError) || reason.kind !== 'storage') throw reason
        log('warn', reason.message) // the disk may have space at the next check
      })
    }
  } finally {
    announcement.withdraw()
  }
}

function checkName(name: string): void {
  if (/^[a-z0-9](-?[a-z0-9])*$/.test(name) && name.length <= 32) return
  throw new CrabError('invalid', `Cannot start the component "${name}": its name is not valid`, {
    hint: 'use lowercase letters, digits and single hyphens between them, at most 32 characters',
  })
}

const FIRST_CHECK_MS = 1_000
/** The time for responses to be flushed. */
const FLUSH_MS = 1_000
