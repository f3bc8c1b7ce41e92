import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CrabError } from '../../core/base/errors.ts'
import { makePrivateDir } from '../../core/base/files.ts'
import type {
  ManagerCommand,
  ManagerVerb,
  ServiceManager,
  ServiceSpec,
  ServiceStatus,
  UnitFile,
  UpHost,
} from '../types.ts'
import { taskXml, toUtf16 } from '../units/task-xml.ts'
import { editedUnitPath, unitChange, writeUnit } from '../units/unit-change.ts'
import { toolError } from './tool-error.ts'

/**
 * The loop that a task runs. A task itself restarts too slowly, and supports neither environment variables
 * nor output files.
 */
export interface TaskLoop {
  /**
   * Returns the absolute program and its arguments, from which it must be able to find the home. The program
   * cannot be a script, because only a shell can run one.
   */
  command(spec: ServiceSpec): readonly [string, ...string[]]
  /** Writes the spec that the loop is to run; called before the loop starts. */
  writeSpec(spec: ServiceSpec): Promise<void>
  /**
   * Makes the loop end its service and itself; resolves when their processes are gone, or when there are
   * none.
   */
  end(label: string, signal: AbortSignal): Promise<void>
  /** Removes the files that the loop has written for a service. */
  forget(label: string): Promise<void>
  /** Whether a loop is running for the label. */
  isRunning(label: string): Promise<boolean>
  /** Whether a loop is running for the label, or has already carried out the last request. */
  hasResponded(label: string): Promise<boolean>
  /** Returns the current or last known status; undefined when no loop has ever run for the label. */
  status(label: string): Promise<Omit<ServiceStatus, 'label' | 'isInstalled' | 'isEnabled'> | undefined>
}

/** The options of SchtasksManager. */
export interface SchtasksOptions {
  /** The absolute folder that holds the XML of tasks. */
  folder: string
  loop: TaskLoop
  note?: string | undefined
  /** The interval of checks whether a loop has come up; 100 ms by default. */
  lookMs?: number
}

/**
 * Runs services as scheduled tasks of Windows. schtasks prints in the user's language, so decisions never
 * depend on its messages.
 */
export class SchtasksManager implements ServiceManager {
  readonly kind = 'schtasks'
  readonly note: string | undefined
  readonly #host: UpHost
  readonly #folder: string
  readonly #loop: TaskLoop
  readonly #lookMs: number

  constructor(host: UpHost, { folder, loop, note, lookMs = 100 }: SchtasksOptions) {
    this.#host = host
    this.#folder = folder
    this.#loop = loop
    this.#lookMs = lookMs
    this.note = note
  }

  unit(spec: ServiceSpec): UnitFile {
    const xml = taskXml(spec, { action: this.#loop.command(spec), userId: readUserId(this.#host.env) })
    return { path: this.#path(spec.label), content: toUtf16(xml) }
  }

  commands(verb: ManagerVerb, { label }: ServiceSpec): readonly ManagerCommand[] {
    const create = createCommand(label, this.#path(label))
    const words: Readonly<Record<ManagerVerb, readonly ManagerCommand[]>> = {
      start: [create, taskCommand('Run', label)],
      stop: [taskCommand('End', label)],
      restart: [create, taskCommand('End', label), taskCommand('Run', label)],
      enable: [create, taskCommand('Change', label, '/ENABLE')],
      disable: [taskCommand('Change', label, '/DISABLE')],
      remove: [taskCommand('End', label), taskCommand('Delete', label, '/F')],
    }
    return words[verb]
  }

  async start(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#install(spec, signal)
    await this.#enable(spec.label, signal)
    if (!(await this.#loop.isRunning(spec.label))) await this.#begin(spec.label, signal)
  }

  async stop({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#end(label, signal)
  }

  /** A disabled task cannot be run, so the task is enabled while it starts. */
  async restart(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    this.unit(spec) // throws before the old task ends when the new one cannot be written
    await this.#end(spec.label, signal)
    await this.#install(spec, signal)
    const isEnabled = await this.#isEnabled(spec.label, signal)
    if (!isEnabled) await this.#enable(spec.label, signal)
    await this.#begin(spec.label, signal)
    if (!isEnabled) await this.#run(taskCommand('Change', spec.label, '/DISABLE'), signal)
  }

  async enable(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    await this.#install(spec, signal)
    await this.#enable(spec.label, signal)
  }

  async disable({ label }: ServiceSpec, signal: AbortSignal): Promise<void> {
    if (await this.#isEnabled(label, signal))
      await this.#run(taskCommand('Change', label, '/DISABLE'), signal)
  }

  async remove(label: string, signal: AbortSignal): Promise<void> {
    await this.#end(label, signal)
    if ((await this.#query(label, signal)) !== undefined) {
      await this.#run(taskCommand('Delete', label, '/F'), signal)
    }
    for (const path of [this.#path(label), editedUnitPath(this.#path(label))]) await rm(path, { force: true })
    await this.#loop.forget(label)
  }

  async status(labels: readonly string[], signal: AbortSignal): Promise<ServiceStatus[]> {
    const found: ServiceStatus[] = []
    for (const label of labels) {
      const xml = await this.#query(label, signal)
      const run = (await this.#loop.status(label)) ?? { state: 'stopped' }
      found.push({ ...run, label, isInstalled: xml !== undefined, isEnabled: isEnabledTask(xml) })
    }
    return found
  }

  async labels(signal: AbortSignal): Promise<string[]> {
    const { code, stdout } = await this.#schtasks(['schtasks', '/Query', '/FO', 'CSV', '/NH'], signal)
    if (code !== 0) return []
    const names = stdout.matchAll(/^"\\(ai\.crabtalk\.[^"\\]+)"/gm) // a task with two triggers has two lines
    return [...new Set(Array.from(names, ([, label]) => label!))].toSorted()
  }

  #path(label: string): string {
    return join(this.#folder, `${label}.xml`)
  }

  /** The file is written last: if this process is killed in between, the next start creates the task again. */
  async #install(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    await makePrivateDir(dirname(spec.output))
    await this.#loop.writeSpec(spec)
    const unit = this.unit(spec)
    const { kind } = await unitChange(unit)
    if (kind === 'same' && (await this.#query(spec.label, signal)) !== undefined) return
    const fresh = { ...unit, path: `${unit.path}.new` }
    try {
      await writeUnit(fresh)
      await this.#run(createCommand(spec.label, fresh.path), signal)
    } finally {
      await rm(fresh.path, { force: true })
    }
    await writeUnit(unit)
  }

  /**
   * The loop ends its service gracefully; ending the task afterwards removes what is left of it, and its
   * window.
   */
  async #end(label: string, signal: AbortSignal): Promise<void> {
    await this.#loop.end(label, signal)
    await this.#schtasks(taskCommand('End', label), signal) // fails when the task does not exist or is not running
  }

  /**
   * Runs the task until its loop reports. While Windows still counts the last run as active, it ignores
   * another one and reports success. A loop that never comes up is left for the caller to detect.
   */
  async #begin(label: string, signal: AbortSignal): Promise<void> {
    for (let left = RUNS; left > 0; left--) {
      await this.#run(taskCommand('Run', label), signal)
      for (let look = 0; look < LOOKS; look++) {
        if (await this.#loop.hasResponded(label)) return
        await sleep(this.#lookMs, undefined, { signal })
      }
    }
  }

  async #enable(label: string, signal: AbortSignal): Promise<void> {
    if (!(await this.#isEnabled(label, signal)))
      await this.#run(taskCommand('Change', label, '/ENABLE'), signal)
  }

  async #isEnabled(label: string, signal: AbortSignal): Promise<boolean> {
    return isEnabledTask(await this.#query(label, signal))
  }

  /**
   * Returns the XML of a task. Only its ASCII characters are reliable, because it comes in the console's code
   * page.
   */
  async #query(label: string, signal: AbortSignal): Promise<string | undefined> {
    const { code, stdout } = await this.#schtasks(taskCommand('Query', label, '/XML'), signal)
    return code === 0 ? stdout.replaceAll('\0', '') : undefined
  }

  async #run(argv: ManagerCommand, signal: AbortSignal): Promise<void> {
    const result = await this.#schtasks(argv, signal)
    if (result.code !== 0) throw toolError({ ...result, kind: 'failed', manager: 'Windows', argv })
  }

  async #schtasks(argv: ManagerCommand, signal: AbortSignal) {
    return await this.#host.run(argv, { env: this.#host.env, timeoutMs: 30_000 }, signal)
  }
}

function taskCommand(verb: string, label: string, ...more: readonly string[]): ManagerCommand {
  return ['schtasks', `/${verb}`, '/TN', label, ...more]
}

function createCommand(label: string, path: string): ManagerCommand {
  return taskCommand('Create', label, '/XML', path, '/F')
}

/** The number of attempts to run a task whose loop does not come up. */
const RUNS = 3
/** The number of checks after each attempt. */
const LOOKS = 30

/** Both the settings and the trigger can be disabled; both default to enabled. */
function isEnabledTask(xml: string | undefined): boolean {
  return xml !== undefined && !/<Enabled>\s*false\s*<\/Enabled>/.test(xml)
}

/** Returns the owner of the task in the form `DOMAIN\NAME`. */
function readUserId(env: UpHost['env']): string {
  const name = env['USERNAME']
  if (!name) {
    throw new CrabError('unavailable', 'Cannot write a scheduled task: USERNAME is not set', {
      hint: 'run crabup in your own login session',
    })
  }
  const domain = env['USERDOMAIN']
  return domain ? `${domain}\\${name}` : name
}
