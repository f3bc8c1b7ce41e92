import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import { readEnvFileSync } from '../supervisor/environment.ts'
import { boundOutputs } from './bound-output.ts'
import { Watchdog, type WatchdogPorts } from './watchdog.ts'

/** The options of guardServices(). */
export interface ServiceGuardOptions extends WatchdogPorts {
  /** The folder of the logs. */
  logs: string
  /** The file of variables of services, which may set CRABTALK_WATCHDOG. */
  envFile: string
  /** Asked at each look; the guard ends when it says so. */
  isOver?(): Promise<boolean>
}

/**
 * Guards the services of a home until the signal is aborted or `isOver` says so: keeps what they print bounded while they
 * run, and kills one that hangs, so that its service manager starts it again. It never fails.
 */
export async function guardServices(options: ServiceGuardOptions, signal: AbortSignal): Promise<void> {
  const { logs, envFile, log, elapsed, isOver } = options
  const watch = new Watchdog(options)
  let lookedAt = Number.NEGATIVE_INFINITY
  while (!signal.aborted) {
    const limitMs = watchdogLimit(envFile)
    const periodMs = Math.min(limitMs ?? DEFAULT_LIMIT_MS, DEFAULT_LIMIT_MS) / LOOKS
    let isFlooded = false
    try {
      isFlooded = boundOutputs(logs)
      if (elapsed() - lookedAt >= periodMs) {
        lookedAt = elapsed()
        if (await isOver?.()) return
        if (limitMs !== undefined) await watch.probe({ limitMs, periodMs }, signal)
      }
    } catch (reason) {
      log('warn', `Cannot look after services: ${toCrabError(reason).message}`)
    }
    const napMs = isFlooded ? FLOODED_MS : Math.min(TICK_MS, periodMs)
    await sleep(napMs, undefined, { signal }).catch(() => undefined) // then it is over
  }
}

/** The time after which a service counts as hung, milliseconds; undefined when CRABTALK_WATCHDOG is `off`. */
export function watchdogLimit(envFile: string): number | undefined {
  const value = readEnvFileSync(envFile)['CRABTALK_WATCHDOG']?.trim()
  if (value === 'off' || value === '0') return undefined
  const seconds = Number(value || Number.NaN)
  return seconds > 0 ? seconds * 1000 : DEFAULT_LIMIT_MS
}

const DEFAULT_LIMIT_MS = 60_000
/** Probes within the limit. */
const LOOKS = 4
/** The interval between size checks, and the interval while a file grows fast. */
const TICK_MS = 2000
const FLOODED_MS = 100
