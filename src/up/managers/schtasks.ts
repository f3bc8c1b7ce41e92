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

/** The loop that a task runs: a task itself restarts too slowly, and knows no variables and no output. */
export interface TaskLoop {
  /** Its program, absolute, and its arguments; it has to find the home by them. No script: only a shell could run one. */
  command(spec: ServiceSpec): readonly [string, ...string[]]
  /** Writes down what the loop is to run, before it is started. */
  writeSpec(spec: ServiceSpec): Promise<void>
  /** Has the loop end its service and itself; resolves when their processes are gone, also when there are none. */
  end(label: string, signal: AbortSignal): Promise<void>
  /** Removes what it has written of a service. */
  forget(label: string): Promise<void>
  /** Whether one runs for that label. */
  isRunning(label: string): Promise<boolean>
  /** Whether one runs, or has done already what was wanted last. */
  hasHeard(label: string): Promise<boolean>
  /** What it knows, or knew last; undefined where none has ever run for that label. */
  status(label: string): Promise<Omit<ServiceStatus, 'label' | 'isInstalled' | 'isEnabled'> | undefined>
}

export interface SchtasksOptions {
  /** Where the XML of tasks lies; absolute. */
  folder: string
  loop: TaskLoop
  note?: string | undefined
  /** Between looks whether a loop has come up; by default 100 ms. */
  lookMs?: number
}

/** Services as scheduled tasks of Windows. What schtasks prints is in the person's language, so that nothing goes by it. */
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

  /** A task that is disabled cannot be run, so that it is enabled for that moment. */
  async restart(spec: ServiceSpec, signal: AbortSignal): Promise<void> {
    this.unit(spec) // one that cannot be written leaves the old one running
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

  /** The file is written last: should this end in between, the next start makes the task again. */
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

  /** The loop ends its service in peace; what is left of the task, and its window, goes after it. */
  async #end(label: string, signal: AbortSignal): Promise<void> {
    await this.#loop.end(label, signal)
    await this.#schtasks(taskCommand('End', label), signal) // fails where there is no task, or none that runs
  }

  /**
   * Runs the task until its loop is heard of: while Windows takes the last run for one that goes on it ignores another one,
   * and says that all is well. One that never comes up is the caller's to find.
   */
  async #begin(label: string, signal: AbortSignal): Promise<void> {
    for (let left = RUNS; left > 0; left--) {
      await this.#run(taskCommand('Run', label), signal)
      for (let look = 0; look < LOOKS; look++) {
        if (await this.#loop.hasHeard(label)) return
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

  /** The XML of a task, of which only what is ASCII is to be trusted: it comes in the console's code page. */
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

/** So often a task is run that does not come up … */
const RUNS = 3
/** … and so often it is looked at each time. */
const LOOKS = 30

/** Both its settings and its trigger can be switched off, and both are on where nothing is said. */
function isEnabledTask(xml: string | undefined): boolean {
  return xml !== undefined && !/<Enabled>\s*false\s*<\/Enabled>/.test(xml)
}

/** Whose task it is, as Windows writes a name. */
function readUserId(env: UpHost['env']): string {
  const name = env['USERNAME']
  if (!name) {
    throw new CrabError('unavailable', 'Cannot write a scheduled task: USERNAME says nobody', {
      hint: 'run crabup in a session of your own',
    })
  }
  const domain = env['USERDOMAIN']
  return domain ? `${domain}\\${name}` : name
}
