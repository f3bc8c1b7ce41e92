import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
import { systemdGuardUnit, systemdUnit, unitName } from '../units/systemd-unit.ts'
import { editedUnitPath, writeUnit } from '../units/unit-change.ts'
import { disableLinger, enableLinger, isLingering, LINGER_COMMAND, toLoginctl } from './linger.ts'
import { systemdEnv } from './systemd-env.ts'
import { parseShown, SHOWN_PROPERTIES, type ShownUnit, toStatus } from './systemd-show.ts'
import { joinNotes, type ToolFailure, toolError } from './tool-error.ts'

/** The options of SystemdManager. */
export interface SystemdOptions {
  /** The result of findUnitFolder(). */
  unitFolder: string
  note?: string | undefined
  /** The command that starts this program, for the guard; services are not guarded without it. */
  program?: ManagerCommand
  /** The folder in which logind records lingering users; its real one by default. */
  lingerFolder?: string | undefined
}

/** Runs services as units of the user's own systemd. */
export class SystemdManager implements ServiceManager {
  readonly kind = 'systemd'
  readonly #host: UpHost
  readonly #options: SystemdOptions
  #lingerNote: string | undefined

  constructor(host: UpHost, options: SystemdOptions) {
    this.#host = host
    this.#options = options
  }

  /** After a start, the note also says when the service ends at the last logout. */
  get note(): string | undefined {
    return joinNotes(this.#options.note, this.#lingerNote)
  }

  unit(spec: ServiceSpec): UnitFile {
    return { path: this.#path(spec.label), content: Buffer.from(systemdUnit(spec)) }
  }

  guardUnit(spec: ServiceSpec): UnitFile | undefined {
    const { program } = this.#options
    if (!program) return undefined
    const guard = guardSpec(spec, program)
    return { path: this.#path(guard.label), content: Buffer.from(systemdGuardUnit(guard)) }
  }

  commands(verb: ManagerVerb, { label }: ServiceSpec): readonly ManagerCommand[] {
    const unit = unitName(label)
    const words: Readonly<Record<ManagerVerb, readonly (readonly string[])[]>> = {
      start: [['daemon-reload'], ['enable', unit], ['start', unit]],
      stop: [['stop', unit]],
      restart: [['daemon-reload'], ['restart', unit]],
      enable: [['daemon-reload'], ['enable', unit]],
      disable: [['disable', unit]],
      remove: [['stop', unit], ['disable', unit], ['daemon-reload']],
    }
    const commands = words[verb].map(toCommand)
    const asksToLinger = verb === 'start' && !isLingering(this.#options.lingerFolder)
    return asksToLinger ? [...commands, toLoginctl('enable-linger')] : commands
  }

  async start(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    const unit = await this.#write(spec, signal)
    const { state, isEnabled } = toStatus(spec.label, unit)
    if (!isEnabled) await this.#setEnabled('enable', spec.label, signal)
    if (state !== 'running') await this.#begin('start', spec.label, state, signal)
    const lingers = await enableLinger(this.#host, this.#options.lingerFolder, signal)
    this.#lingerNote = lingers ? undefined : `it ends at your last logout unless you run ${LINGER_COMMAND}`
  }

  async stop({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#stop(label, signal)
  }

  async restart(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    const { state } = toStatus(spec.label, await this.#write(spec, signal))
    await this.#begin('restart', spec.label, state, signal)
  }

  async enable(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    const { isEnabled } = toStatus(spec.label, await this.#write(spec, signal))
    if (!isEnabled) await this.#setEnabled('enable', spec.label, signal)
  }

  async disable({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    const [status] = await this.status([label], signal)
    if (status!.isEnabled) await this.#setEnabled('disable', label, signal)
  }

  async remove(label: string, signal: AbortSignal): Promise<void> {
    await this.#stop(label, signal)
    if (existsSync(this.#path(label))) await this.#control(['disable', unitName(label)], signal)
    for (const path of [this.#path(label), editedUnitPath(this.#path(label))]) await rm(path, { force: true })
    const left = await this.labels(signal)
    const guard = toGuardLabel(label)
    const isNeeded = left.some((other) => toGuardLabel(other) === guard)
    if (!isNeeded && existsSync(this.#path(guard))) {
      await this.#control(['stop', unitName(guard)], signal) // it is about to end by itself
      await rm(this.#path(guard), { force: true })
    }
    await this.#control(['daemon-reload'], signal)
    if (left.length === 0) await disableLinger(this.#host, signal)
  }

  async status(labels: readonly string[], signal: AbortSignal): Promise<ServiceStatus[]> {
    const units = await this.#show(labels, signal)
    return labels.map((label, index) => toStatus(label, withoutFile(units[index] ?? {})))
  }

  async labels(_signal: AbortSignal): Promise<string[]> {
    const names = await readdir(this.#options.unitFolder).catch((reason: unknown) => {
      if (isMissingFile(reason)) return []
      throw reason
    })
    const units = names.filter((name) => isOurLabel(name) && name.endsWith(unitName('')))
    return units.map((name) => name.slice(0, -unitName('').length)).toSorted()
  }

  #path(label: string): string {
    return join(this.#options.unitFolder, unitName(label))
  }

  /**
   * Writes the units and reloads systemd when they changed. A unit that was written but never loaded, because
   * crabup was killed in between, counts as changed.
   */
  async #write(spec: ServiceSpec, signal: AbortSignal): Promise<ShownUnit> {
    await makePrivateDir(dirname(spec.output))
    const guard = this.guardUnit(spec)
    const guardKind = guard ? await writeUnit(guard) : 'same'
    const kind = await writeUnit(this.unit(spec))
    const [unit = {}] = await this.#show([spec.label], signal)
    if (
      guardKind === 'same' &&
      kind === 'same' &&
      unit.NeedDaemonReload !== 'yes' &&
      unit.LoadState === 'loaded'
    )
      return unit
    await this.#control(['daemon-reload'], signal)
    if (guardKind === 'outdated')
      await this.#control(['try-restart', unitName(toGuardLabel(spec.label))], signal)
    return (await this.#show([spec.label], signal))[0] ?? {}
  }

  /**
   * systemctl does not notify the manager when it thinks that this system was not booted with systemd, so
   * this reloads it.
   */
  async #setEnabled(verb: 'enable' | 'disable', label: string, signal: AbortSignal): Promise<void> {
    await this.#control([verb, unitName(label)], signal)
    const [status] = await this.status([label], signal)
    if (status?.isEnabled !== (verb === 'enable')) await this.#control(['daemon-reload'], signal)
  }

  /**
   * Resets the failure of a service that crashed too often, and restarts one that waits for its next attempt,
   * because a start would not end that wait. A program that fails immediately is left for the caller to
   * detect, who waits for readiness anyway.
   */
  async #begin(
    verb: 'start' | 'restart',
    label: string,
    state: ServiceStatus['state'],
    signal: AbortSignal,
  ): Promise<void> {
    if (state === 'failed') await this.#control(['reset-failed', unitName(label)], signal)
    const word = state === 'waiting' ? 'restart' : verb
    await this.#control([word, unitName(label)], signal, (stderr) => stderr.startsWith('Job for '))
  }

  /** Resets failures too, because a failed unit would be shown as failed forever. */
  async #stop(label: string, signal: AbortSignal): Promise<void> {
    const [{ state, isInstalled } = { state: 'stopped', isInstalled: false }] = await this.status(
      [label],
      signal,
    )
    if (state === 'failed') await this.#control(['reset-failed', unitName(label)], signal)
    else if (state !== 'stopped' || isInstalled) await this.#control(['stop', unitName(label)], signal)
    if (state === 'stopped' || state === 'failed') return
    const [after] = await this.status([label], signal) // a service that had to be killed has failed now
    if (after?.state === 'failed') await this.#control(['reset-failed', unitName(label)], signal)
  }

  async #show(labels: readonly string[], signal: AbortSignal): Promise<ShownUnit[]> {
    if (labels.length === 0) return []
    return parseShown(
      await this.#control(['show', `--property=${SHOWN_PROPERTIES}`, ...labels.map(unitName)], signal),
    )
  }

  async #control(
    words: readonly string[],
    signal: AbortSignal,
    isFine: (stderr: string) => boolean = () => false,
  ): Promise<string> {
    const argv = toCommand(words)
    const options = { env: systemdEnv(this.#host), timeoutMs: CONTROL_MS }
    const result = await this.#host.run(argv, options, signal)
    if (result.code === 0 || isFine(result.stderr)) return result.stdout
    throw toolError({ ...result, kind: classifySystemdFailure(result.stderr), manager: 'systemd', argv })
  }
}

/** systemd remembers a unit whose file was removed until it reloads; such a unit does not start at login. */
function withoutFile(unit: ShownUnit): ShownUnit {
  const { FragmentPath: file } = unit
  if (!file || existsSync(file)) return unit
  return { ...unit, LoadState: 'not-found', UnitFileState: '' }
}

function toCommand(words: readonly string[]): ManagerCommand {
  return ['systemctl', '--user', ...words]
}

function classifySystemdFailure(stderr: string): ToolFailure['kind'] {
  if (/Failed to connect to bus|not been booted with systemd|Transport endpoint/i.test(stderr))
    return 'unavailable'
  if (/Access denied|authentication required|not permitted|Permission denied/i.test(stderr))
    return 'credentials'
  return 'failed'
}

/** A stop takes at most `TimeoutStopSec`; then systemd kills the service. */
const CONTROL_MS = 60_000
