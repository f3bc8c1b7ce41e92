import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { isMissingFile, makePrivateDir } from '../../core/base/files.ts'
import { isOurLabel, toGuardLabel } from '../names.ts'
import type {
  ManagerCommand,
  ManagerVerb,
  ServiceManager,
  ServiceSpec,
  ServiceStatus,
  UnitFile,
  UpHost,
} from '../types.ts'
import { guardSpec } from '../units/guard-spec.ts'
import { type LaunchdDomain, launchdPlist } from '../units/launchd-plist.ts'
import { editedUnitPath, writeUnit } from '../units/unit-change.ts'
import { type PrintedJob, parseDisabled, parseJob, toJobStatus } from './launchd-print.ts'
import { toolError } from './tool-error.ts'

/** The options of LaunchdManager. */
export interface LaunchdOptions {
  /** The result of findLaunchdDomain(). */
  domain: LaunchdDomain
  note?: string | undefined
  /** The command that starts this program, for the guard; services are not guarded without it. */
  program?: ManagerCommand
  /** The delay between retries while launchd is busy; 300 ms by default. */
  retryMs?: number
}

/** Runs services as jobs of the user's own launchd. */
export class LaunchdManager implements ServiceManager {
  readonly kind = 'launchd'
  readonly note: string | undefined
  readonly #host: UpHost
  readonly #domain: LaunchdDomain
  readonly #retryMs: number
  readonly #program: ManagerCommand | undefined

  constructor(host: UpHost, { domain, note, program, retryMs = 300 }: LaunchdOptions) {
    this.#program = program
    this.#host = host
    this.#domain = domain
    this.#retryMs = retryMs
    this.note = note
  }

  unit(spec: ServiceSpec): UnitFile {
    return { path: this.#path(spec.label), content: Buffer.from(launchdPlist(spec, this.#domain)) }
  }

  guardUnit(spec: ServiceSpec): UnitFile | undefined {
    return this.#program && this.unit(guardSpec(spec, this.#program))
  }

  commands(verb: ManagerVerb, { label }: ServiceSpec): readonly ManagerCommand[] {
    const job = this.#job(label)
    const load = [
      ['enable', job],
      ['bootstrap', this.#target(), this.#path(label)],
      ['kickstart', job],
    ]
    const words: Readonly<Record<ManagerVerb, readonly (readonly string[])[]>> = {
      start: load,
      stop: [['bootout', job]],
      restart: [['bootout', job], ...load],
      enable: [['enable', job]],
      disable: [['disable', job]],
      remove: [['bootout', job]],
    }
    return words[verb].map((words) => ['launchctl', ...words])
  }

  async start(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    const kind = await this.#write(spec)
    await this.#run(['enable', this.#job(spec.label)], signal)
    const job = await this.#print(spec.label, signal)
    if (job?.get('state') !== 'running') {
      if (job && kind === 'same') await this.#kick(spec.label, signal)
      else await this.#load(spec.label, signal)
    }
    await this.#guard(spec, signal)
  }

  /** Starts the guard of the home; the guard ends by itself once the home has no desired services. */
  async #guard(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    const unit = this.guardUnit(spec)
    if (!unit) return
    const label = toGuardLabel(spec.label)
    const kind = await writeUnit(unit)
    const job = await this.#print(label, signal)
    if (job?.get('state') === 'running' && kind === 'same') return
    await this.#run(['enable', this.#job(label)], signal)
    if (job && kind === 'same') await this.#kick(label, signal)
    else await this.#load(label, signal)
  }

  async stop({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#unload(label, signal)
  }

  /** launchd does not load a disabled job, so the job is enabled while it is loaded. */
  async restart(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#write(spec)
    const job = this.#job(spec.label)
    const isDisabled = (await this.#disabled(signal)).has(spec.label)
    if (isDisabled) await this.#run(['enable', job], signal)
    await this.#load(spec.label, signal)
    if (isDisabled) await this.#run(['disable', job], signal)
    await this.#guard(spec, signal)
  }

  async enable(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#write(spec)
    await this.#run(['enable', this.#job(spec.label)], signal)
  }

  async disable({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#run(['disable', this.#job(label)], signal)
  }

  async remove(label: string, signal: AbortSignal): Promise<void> {
    await this.#unload(label, signal)
    for (const path of [this.#path(label), editedUnitPath(this.#path(label))]) await rm(path, { force: true })
    const guard = toGuardLabel(label)
    if (!existsSync(this.#path(guard))) return
    if ((await this.labels(signal)).some((other) => toGuardLabel(other) === guard)) return
    await this.#unload(guard, signal)
    await rm(this.#path(guard), { force: true })
  }

  async status(labels: readonly string[], signal: AbortSignal): Promise<ServiceStatus[]> {
    const disabled = labels.length === 0 ? new Set<string>() : await this.#disabled(signal)
    const found: ServiceStatus[] = []
    for (const label of labels) {
      const facts = { hasFile: existsSync(this.#path(label)), isDisabled: disabled.has(label) }
      found.push(toJobStatus(label, await this.#print(label, signal), facts))
    }
    return found
  }

  async labels(_signal: AbortSignal): Promise<string[]> {
    const names = await readdir(this.#folder()).catch((reason: unknown) => {
      if (isMissingFile(reason)) return []
      throw reason
    })
    const files = names.filter((name) => isOurLabel(name) && name.endsWith(EXTENSION))
    return files.map((name) => name.slice(0, -EXTENSION.length)).toSorted()
  }

  #folder(): string {
    return join(this.#host.homeDir, 'Library/LaunchAgents')
  }

  #path(label: string): string {
    return join(this.#folder(), `${label}${EXTENSION}`)
  }

  #target(domain = this.#domain): string {
    return `${domain}/${this.#host.uid}`
  }

  #job(label: string, domain = this.#domain): string {
    return `${this.#target(domain)}/${label}`
  }

  async #write(spec: ServiceSpec): Promise<string> {
    await makePrivateDir(dirname(spec.output))
    return await writeUnit(this.unit(spec))
  }

  /**
   * Finds a job in either domain: one loaded over ssh may be queried from the desktop, and the other way
   * round.
   */
  async #print(label: string, signal: AbortSignal): Promise<PrintedJob | undefined> {
    for (const domain of this.#domains()) {
      const { code, stdout } = await this.#launchctl(['print', this.#job(label, domain)], signal)
      if (code === 0) return parseJob(stdout)
    }
    return undefined
  }

  #domains(): readonly LaunchdDomain[] {
    return this.#domain === 'gui' ? ['gui', 'user'] : ['user', 'gui']
  }

  async #disabled(signal: AbortSignal): Promise<Set<string>> {
    const { code, stdout } = await this.#launchctl(['print-disabled', this.#target()], signal)
    return code === 0 ? parseDisabled(stdout) : new Set()
  }

  /**
   * Retries until the job exists: launchd may report success for a job that it drops, because it is still
   * removing the previous one.
   */
  async #load(label: string, signal: AbortSignal): Promise<void> {
    await this.#unload(label, signal)
    for (let left = LOADS; left > 0; left--) {
      await this.#run(['bootstrap', this.#target(), this.#path(label)], signal, { retried: BUSY })
      const ignored = left > 1 ? [ALREADY, ...MISSING] : [ALREADY]
      if (!MISSING.includes(await this.#run(['kickstart', this.#job(label)], signal, { ignored }))) return
      await sleep(this.#retryMs, undefined, { signal })
    }
  }

  /**
   * Starts a loaded job. It does not pass `-k`, which would send SIGKILL to what a bootstrap has just
   * started; exit code 37 means that the job is already running.
   */
  async #kick(label: string, signal: AbortSignal): Promise<void> {
    await this.#run(['kickstart', this.#job(label)], signal, { ignored: [ALREADY] })
  }

  /**
   * Unloads the job and waits: launchctl returns immediately, and the job disappears when its processes have
   * ended.
   */
  async #unload(label: string, signal: AbortSignal): Promise<void> {
    for (const domain of this.#domains()) {
      const ignored = domain === this.#domain ? GONE : [...GONE, ...NO_DOMAIN]
      await this.#run(['bootout', this.#job(label, domain)], signal, { ignored })
    }
    const deadline = this.#host.now() + UNLOAD_MS
    while (await this.#print(label, signal)) {
      if (this.#host.now() > deadline) {
        throw new CrabError(
          'failed',
          `Cannot stop ${label}: launchd did not end it within ${UNLOAD_MS / 1000} s`,
        )
      }
      await sleep(this.#retryMs, undefined, { signal })
    }
  }

  async #run(
    words: readonly [string, ...string[]],
    signal: AbortSignal,
    { ignored = [], retried = [] }: { ignored?: readonly number[]; retried?: readonly number[] } = {},
  ): Promise<number> {
    for (let left = TRIES; ; left--) {
      const result = await this.#launchctl(words, signal)
      const code = result.code ?? -1
      if (code === 0 || ignored.includes(code)) return code
      if (left <= 1 || !retried.includes(code)) {
        const kind = REFUSED.includes(code)
          ? 'credentials'
          : NO_DOMAIN.includes(code)
            ? 'unavailable'
            : 'failed'
        throw toolError({ ...result, kind, manager: 'launchd', argv: ['launchctl', ...words] })
      }
      await sleep(this.#retryMs, undefined, { signal })
    }
  }

  async #launchctl(words: readonly string[], signal: AbortSignal) {
    return await this.#host.run(['launchctl', ...words], { env: this.#host.env, timeoutMs: 30_000 }, signal)
  }
}

/**
 * Finds the launchd domain that holds the user's jobs: `gui` while the user is logged in at the screen,
 * `user` over ssh. Returns undefined when launchd does not answer.
 */
export async function findLaunchdDomain(
  host: UpHost,
  signal: AbortSignal,
): Promise<LaunchdDomain | undefined> {
  for (const domain of ['gui', 'user'] as const) {
    const argv = ['launchctl', 'print', `${domain}/${host.uid}`] as const
    try {
      const { code } = await host.run(argv, { env: host.env, timeoutMs: 5000 }, signal)
      if (code === 0) return domain
    } catch (reason) {
      if (signal.aborted || !(reason instanceof CrabError)) throw reason
      return undefined
    }
  }
  return undefined
}

const EXTENSION = '.plist'
/** Exit codes of launchctl are errno values or launchd's own; `launchctl error NUMBER` describes them. */
const ALREADY = 37
/**
 * EIO covers most refusals of launchd: a job that is still being removed, one that exists already, one that
 * does not exist.
 */
const REFUSES = 5
/** The domain does not exist, or takes no jobs. */
const NO_DOMAIN = [112, 125]
/** No such process; no such service. */
const MISSING = [3, 113]
/** 36 means that the removal is in progress; the caller then polls until the job is gone. */
const GONE = [...MISSING, 36, REFUSES]
const BUSY = [REFUSES, ALREADY]
const REFUSED = [1, 13, 150]
/** After a bootout, launchd refuses the same label for about 5 s (measured). */
const TRIES = 50
const LOADS = 3
/** `ExitTimeOut` plus a margin. */
const UNLOAD_MS = 30_000
