import { setTimeout as sleep } from 'node:timers/promises'
import { toCrabError } from '../../core/base/errors.ts'
import { readEnvFileSync } from '../supervisor/environment.ts'
import { boundOutputs } from './bound-output.ts'
import { Watchdog, type WatchdogPorts } from './watchdog.ts'

/** The options of guardServices(). */
export interface ServiceGuardOptions extends WatchdogPorts {
  /** The log folder. */
  logs: string
  /** The environment file of the services, which may set CRABTALK_WATCHDOG. */
  envFile: string
  /** Called before each round of probes; the guard ends when it resolves to true. */
  isOver?(): Promise<boolean>
}

/**
 * Guards the services of a home until the signal is aborted or `isOver` resolves to true: bounds the output
 * files of running services, and kills a service that hangs so that its service manager restarts it. Never
 * throws.
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
      log('warn', `Cannot guard services: ${toCrabError(reason).message}`)
    }
    const napMs = isFlooded ? FLOODED_MS : Math.min(TICK_MS, periodMs)
    await sleep(napMs, undefined, { signal }).catch(() => undefined) // an abort ends the loop
  }
}

/**
 * Reads the time in milliseconds after which a service counts as hung; undefined when CRABTALK_WATCHDOG is
 * `off` or `0`.
 */
function watchdogLimit(envFile: string): number | undefined {
  const value = readEnvFileSync(envFile)['CRABTALK_WATCHDOG']?.trim()
  if (value === 'off' || value === '0') return undefined
  const seconds = Number(value || Number.NaN)
  return seconds > 0 ? seconds * 1000 : DEFAULT_LIMIT_MS
}

const DEFAULT_LIMIT_MS = 60_000
/** The number of probes within the limit. */
const LOOKS = 4
/** The interval between size checks, and the interval while a file grows fast. */
const TICK_MS = 2000
const FLOODED_MS = 100
