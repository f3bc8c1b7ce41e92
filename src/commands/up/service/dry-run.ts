import type { ParsedOptions } from '../../../cli/command.ts'
import type { Host } from '../../../cli/host.ts'
import { quoteWord } from '../../../core/base/quote-word.ts'
import { MANAGER_NAMES, managerNote } from '../../../up/services/manager-text.ts'
import { type OpenService, planUnit } from '../../../up/services/open-service.ts'
import type { ManagerCommand, ManagerVerb } from '../../../up/types.ts'

/** Whether the options include `--dry-run`. */
export function isDryRun(options: ParsedOptions): boolean {
  return options.has('dry-run')
}

/** Prints what a verb would write and run, without changing anything. */
export async function printPlan(handle: OpenService<Host>, verb: ManagerVerb): Promise<number> {
  const { host, manager, service } = handle
  const spec = WRITING.has(verb) ? handle.spec() : handle.stopSpec
  const unit = planUnit(handle, spec)
  const writes = WRITING.has(verb)
  const guard = writes ? manager.guardUnit?.(spec) : undefined
  const lines = [
    `# ${service.name} ${verb}, by ${MANAGER_NAMES[manager.kind]}${managerNote(manager)}`,
    ...(writes ? [`# ${unit.path}`, decodeUnit(unit.content).trimEnd(), ''] : []),
    ...(guard ? [`# ${guard.path}`, decodeUnit(guard.content).trimEnd(), ''] : []),
    ...manager.commands(verb, spec).map((command) => `$ ${quoteCommand(command)}`),
  ]
  host.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

/** Decodes a unit; those of the Task Scheduler are UTF-16. */
function decodeUnit(content: Uint8Array): string {
  const isUtf16 = content[0] === 0xff && content[1] === 0xfe
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(content).replaceAll('\r\n', '\n')
}

/** Quotes a command for a POSIX shell. */
function quoteCommand(command: ManagerCommand): string {
  return command.map(quoteWord).join(' ')
}

const WRITING: ReadonlySet<ManagerVerb> = new Set(['start', 'restart', 'enable'])
