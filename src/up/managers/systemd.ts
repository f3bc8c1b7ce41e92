import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissingFile, makePrivateDir } from '../../core/base/files.ts'
import { guardSpec } from '../guard/guard-spec.ts'
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
import { systemdGuardUnit, systemdUnit, unitName } from '../units/systemd-unit.ts'
import { editedUnitPath, writeUnit } from '../units/unit-change.ts'
import { disableLinger, enableLinger, isLingering, LINGER_COMMAND, toLoginctl } from './linger.ts'
import { systemdEnv } from './systemd-env.ts'
import { parseShown, SHOWN_PROPERTIES, type ShownUnit, toStatus } from './systemd-show.ts'
import { joinNotes, type ToolFailure, toolError } from './tool-error.ts'

export interface SystemdOptions {
  /** From findUnitFolder(). */
  unitFolder: string
  note?: string | undefined
  /** The command that starts this program, for the guard; without it services are not guarded. */
  program?: ManagerCommand
  /** Where login services keep who lingers; by default where they do. */
  lingerFolder?: string | undefined
}

/** Services as units of the person's own systemd. */
export class SystemdManager implements ServiceManager {
  readonly kind = 'systemd'
  readonly #host: UpHost
  readonly #options: SystemdOptions
  #lingerNote: string | undefined

  constructor(host: UpHost, options: SystemdOptions) {
    this.#host = host
    this.#options = options
  }

  /** After a start it also says when the service ends at the last logout. */
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
    const shown = await this.#write(spec, signal)
    const { state, isEnabled } = toStatus(spec.label, shown)
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
    const shown = await this.#show(labels, signal)
    return labels.map((label, index) => toStatus(label, withoutFile(shown[index] ?? {})))
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

  /** A unit that was written and never loaded, because somebody was killed in between, counts as changed. */
  async #write(spec: ServiceSpec, signal: AbortSignal): Promise<ShownUnit> {
    await makePrivateDir(dirname(spec.output))
    const guard = this.guardUnit(spec)
    const guardKind = guard ? await writeUnit(guard) : 'same'
    const kind = await writeUnit(this.unit(spec))
    const [shown = {}] = await this.#show([spec.label], signal)
    if (
      guardKind === 'same' &&
      kind === 'same' &&
      shown.NeedDaemonReload !== 'yes' &&
      shown.LoadState === 'loaded'
    )
      return shown
    await this.#control(['daemon-reload'], signal)
    if (guardKind === 'outdated')
      await this.#control(['try-restart', unitName(toGuardLabel(spec.label))], signal)
    return (await this.#show([spec.label], signal))[0] ?? {}
  }

  /** systemctl does not tell the manager where it thinks that systemd has not booted this system. */
  async #setEnabled(verb: 'enable' | 'disable', label: string, signal: AbortSignal): Promise<void> {
    await this.#control([verb, unitName(label)], signal)
    const [status] = await this.status([label], signal)
    if (status?.isEnabled !== (verb === 'enable')) await this.#control(['daemon-reload'], signal)
  }

  /**
   * One that crashed too often is forgiven first, and one that waits for its next try waits no longer, which only a restart
   * ends. A program that fails at once is the caller's to find: it waits anyway.
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

  /** What failed has to be forgotten too, or it would be shown as failed for ever. */
  async #stop(label: string, signal: AbortSignal): Promise<void> {
    const [{ state, isInstalled } = { state: 'stopped', isInstalled: false }] = await this.status(
      [label],
      signal,
    )
    if (state === 'failed') await this.#control(['reset-failed', unitName(label)], signal)
    else if (state !== 'stopped' || isInstalled) await this.#control(['stop', unitName(label)], signal)
    if (state === 'stopped' || state === 'failed') return
    const [after] = await this.status([label], signal) // one that had to be killed has failed now
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

/** A unit whose file was removed is known to systemd until it reloads, and does not start at login. */
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

/** A stop takes `TimeoutStopSec` at most, and is killed then. */
const CONTROL_MS = 60_000
