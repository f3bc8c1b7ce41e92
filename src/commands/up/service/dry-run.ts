import { quoteWord } from '../../../core/base/quote-word.ts'
import { servicesFolder, wantedFile } from '../../../up/supervisor/wanted.ts'
import type { ManagerCommand, ManagerVerb } from '../../../up/types.ts'
import type { Options } from '../../command.ts'
import type { OpenService } from './open-service.ts'
import { MANAGER_NAMES, noteOf } from './said.ts'

export function isDryRun(options: Options): boolean {
  return options.has('dry-run')
}

/** Prints what a verb would write and run; nothing is changed. */
export async function printPlan(at: OpenService, verb: ManagerVerb): Promise<number> {
  const { host, manager, service } = at
  const spec = WRITING.has(verb) ? at.spec() : at.known
  const unit = manager.unit(spec) ?? wantedFile(servicesFolder(at.paths), spec)
  const writes = WRITING.has(verb)
  const guard = writes ? manager.guardUnit?.(spec) : undefined
  const lines = [
    `# ${service.name} ${verb}, by ${MANAGER_NAMES[manager.kind]}${noteOf(manager)}`,
    ...(writes ? [`# ${unit.path}`, textOf(unit.content).trimEnd(), ''] : []),
    ...(guard ? [`# ${guard.path}`, textOf(guard.content).trimEnd(), ''] : []),
    ...manager.commands(verb, spec).map((command) => `$ ${quoted(command)}`),
  ]
  host.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

/** A unit of the Task Scheduler is UTF-16. */
function textOf(content: Uint8Array): string {
  const isUtf16 = content[0] === 0xff && content[1] === 0xfe
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(content).replaceAll('\r\n', '\n')
}

/** As a POSIX shell would take it. */
function quoted(command: ManagerCommand): string {
  return command.map(quoteWord).join(' ')
}

const WRITING: ReadonlySet<ManagerVerb> = new Set(['start', 'restart', 'enable'])
